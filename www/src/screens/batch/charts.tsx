import { useSignal } from "@preact/signals";
import type { Chart } from "chart.js";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../../engine";
import { formatCount, formatReward } from "../../format";
import { labelsOf, scalesOf, type Scale } from "../../own-rubrics";
import { wrapLabel } from "../../radar";
import { batchText as words } from "../../text/batch";
import type { Vocabulary } from "../../types";
import type { Batch } from "./batch";
import { edgeText, spreadOf, type Spread } from "./distribution";
import { measuresOf } from "./measures";
import { barsOf, type Bar, type Member } from "./stats";
import { meanOf, type Line } from "./rows";

const SEED = 1;
/** While rows come in, means are worked out no more often than this. */
const EVERY_MS = 5000;

const library = import("chart.js");
library.catch(() => undefined);

type By = keyof typeof words.charts.by;

interface Drawn {
  by: By;
  bars: Bar[];
  min: number;
  max: number;
  /** Whether its scale is told, since others stand beside it. */
  scaled: boolean;
}

/** The values behind one chart; a row without a score gives none. */
interface Figures {
  members: Member[];
  labels: string[];
}

/** One chart per scale: rubrics of two scales have no common axis (P17). */
function bySkill(batch: Batch, lines: Line[]): (Figures & Scale)[] {
  const { rubrics, settings } = batch.head.value!;
  const groupOf = (line: Line) => batch.cell(line.index, settings.mapping.prompt) ?? line.index;
  const labels = labelsOf(rubrics);
  return scalesOf(rubrics).map((scale) => ({
    ...scale,
    labels: scale.places.map((place) => labels[place]!),
    members: scale.places.flatMap((place) => lines.flatMap((line): Member[] => {
      const score = line.cells[place]?.score ?? null;
      return score === null ? [] : [{ label: labels[place]!, value: score, group: groupOf(line) }];
    })),
  }));
}

/** Of the rows' means. */
function membersOf(by: Exclude<By, "skill">, batch: Batch, lines: Line[], vocabulary: Vocabulary | null): Figures {
  const head = batch.head.value!;
  const { mapping } = head.settings;
  const groupOf = (line: Line) => batch.cell(line.index, mapping.prompt) ?? line.index;
  const nameOf = (line: Line): string | null => {
    if (by === "model") return batch.cell(line.index, mapping.model);
    const id = line[by];
    return (by === "domain" ? vocabulary?.domains : vocabulary?.difficulties)?.find((one) => one.id === id)?.name ?? id;
  };
  const members = lines.flatMap((line): Member[] => {
    const label = nameOf(line);
    return label === null || line.mean === null ? [] : [{ label, value: line.mean, group: groupOf(line) }];
  });
  const known = by === "domain" ? vocabulary?.domains : by === "difficulty" ? vocabulary?.difficulties : undefined;
  const found = [...new Set(members.map(({ label }) => label))];
  return { members, labels: known ? known.map(({ name }) => name) : found.slice(0, 40) };
}

const breath = () => new Promise<void>((resolve) => setTimeout(resolve));

/** What `work` makes of the rows. While they come in it is made anew now and then; `work` gives up, with null, when it has been outrun. */
function useWorked<T>(batch: Batch, work: (lines: Line[], outrun: () => boolean) => Promise<T | null>, key = ""): T | null {
  const worked = useSignal<{ key: string; what: T } | null>(null);
  const last = useRef(0);
  const head = batch.head.value!;
  const lines = batch.lines.value;
  const busy = batch.busy;
  useEffect(() => {
    let left = false;
    const wait = setTimeout(async () => {
      const what = await work(lines, () => left);
      if (left || what === null) return;
      last.current = performance.now();
      worked.value = { key, what };
    }, busy ? Math.max(0, last.current + EVERY_MS - performance.now()) : 50);
    return () => {
      left = true;
      clearTimeout(wait);
    };
  }, [key, busy ? Math.floor(head.done / Math.max(1, Math.ceil(head.rows / 40))) : lines]);
  return worked.value?.key === key ? worked.value.what : null;
}

export function Charts({ engine, batch }: { engine: EngineClient; batch: Batch }) {
  return batch.head.value!.head ? <Spreads batch={batch} /> : <MeanCharts engine={engine} batch={batch} />;
}

function MeanCharts({ engine, batch }: { engine: EngineClient; batch: Batch }) {
  const head = batch.head.value!;
  const charts = useWorked(batch, async (lines, outrun) => {
    const next: Drawn[] = [];
    const wanted: (Figures & Omit<Drawn, "bars">)[] = bySkill(batch, lines).map((one, _, all) => ({ ...one, by: "skill" as const, scaled: all.length > 1 }));
    const mean = meanOf(head.rubrics);
    for (const by of ["domain", "difficulty", "model"] as const) {
      if (mean === null || (by === "model" && head.settings.mapping.model === undefined)) continue;
      wanted.push({ by, ...membersOf(by, batch, lines, engine.state.value.vocabulary), min: mean.min, max: mean.max, scaled: false });
    }
    for (const { members, labels, by, min, max, scaled } of wanted) {
      const bars: Bar[] = [];
      for (const label of labels) {
        bars.push(...barsOf(members, [label], SEED));
        await breath();
        if (outrun()) return null;
      }
      next.push({ by, bars, min, max, scaled });
    }
    return next;
  });
  const shown = charts?.filter(({ bars }) => bars.length > 0) ?? [];
  return (
    <section class="card batch" aria-labelledby="batch-charts-heading" data-testid="batch-charts">
      <h2 id="batch-charts-heading">{words.charts.heading}</h2>
      {charts === null ? <p class="hint">{words.charts.working}</p> : shown.length === 0 ? <p class="hint">{words.charts.none}</p> : (
        <>
          {head.settings.scope === "needed" && <p class="note">{words.charts.mixed}</p>}
          {shown.map((drawn) => <Means key={`${drawn.by} ${drawn.min} ${drawn.max}`} {...drawn} />)}
          <p class="hint">{words.charts.note(String(SEED))}</p>
        </>
      )}
    </section>
  );
}

/** How the numbers of the model's own head are spread: of one output at a time, since two outputs have no common axis. */
function Spreads({ batch }: { batch: Batch }) {
  const labels = labelsOf(measuresOf(batch.head.value!));
  const at = useSignal(0);
  const place = at.value;
  const spread = useWorked(batch, async (lines) => ({ of: spreadOf(lines.flatMap(({ cells }) => cells[place]?.score ?? [])) }), String(place));
  const label = labels[place]!;
  return (
    <section class="card batch" aria-labelledby="batch-charts-heading" data-testid="batch-charts">
      <h2 id="batch-charts-heading">{words.spread.heading}</h2>
      {labels.length > 1 && (
        <div class="batch-filters">
          <label>{words.spread.output}
            <select value={String(place)} onChange={(event) => (at.value = Number(event.currentTarget.value))}>
              {labels.map((name, i) => <option key={i} value={String(i)}>{name}</option>)}
            </select>
          </label>
        </div>
      )}
      {spread === null ? <p class="hint">{words.charts.working}</p> : spread.of === null ? <p class="hint">{words.charts.none}</p> : (
        <>
          <p data-testid="batch-spread-figures">{words.spread.of(formatCount(spread.of.n), figuresOf(spread.of))}</p>
          <SpreadOf label={label} spread={spread.of} />
          <p class="hint">{words.spread.note}</p>
        </>
      )}
    </section>
  );
}

const figuresOf = (spread: Spread) =>
  (["lowest", "median", "mean", "highest"] as const).map((name) => words.spread.figure(words.spread[name], formatReward(spread[name]) ?? "")).join(", ");

function SpreadOf({ label, spread }: { label: string; spread: Spread }) {
  const title = words.spread.title(label);
  const ranges = spread.bins.map((bin) => ({ count: bin.count, name: bin.low === bin.high ? edgeText(bin.low, bin) : words.spread.range(edgeText(bin.low, bin), edgeText(bin.high, bin)) }));
  return (
    <figure class="batch-means" data-testid="batch-spread">
      <div class="batch-scroll" role="region" aria-label={title} tabIndex={0}>
        <table class="batch-figures">
          <caption dir="auto">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{words.spread.between}</th>
              <th scope="col" class="num">{words.charts.n}</th>
            </tr>
          </thead>
          <tbody>
            {ranges.map(({ name, count }, i) => (
              <tr key={i}>
                <th scope="row">{name}</th>
                <td class="num">{formatCount(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <BarChart title={title} bars={ranges.map(({ name, count }) => ({ label: name, value: count, interval: null }))} range={{ min: 0 }} whole />
    </figure>
  );
}

function Means({ by, bars, min, max, scaled }: Drawn) {
  const title = scaled ? words.charts.scaled(words.charts.by[by], String(min), String(max)) : words.charts.by[by];
  return (
    <figure class="batch-means" data-testid={`batch-means-${by}`}>
      <div class="batch-scroll" role="region" aria-label={title} tabIndex={0}>
        <table class="batch-figures">
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">{words.charts.group[by]}</th>
              <th scope="col" class="num">{words.charts.mean}</th>
              <th scope="col" class="num">{words.charts.interval}</th>
              <th scope="col" class="num">{words.charts.n}</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, n, estimate }) => (
              <tr key={label}>
                <th scope="row" dir="auto">{label}</th>
                <td class="num">{estimate?.value.toFixed(2)}</td>
                <td class="num">{estimate && `${estimate.low.toFixed(2)}–${estimate.high.toFixed(2)}`}</td>
                <td class="num">{formatCount(n)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <BarChart title={title} bars={bars.map(({ label, estimate }) => ({ label, value: estimate?.value ?? NaN, interval: estimate }))} range={{ min, max }} />
    </figure>
  );
}

/** One bar, with a line over it where there is an interval. */
interface BarOf {
  label: string;
  value: number;
  interval: { low: number; high: number } | null;
}

interface Look {
  bars: BarOf[];
  /** As far as the bars go where there is no `max`. */
  range: { min: number; max?: number };
  /** Values are counts: the axis has no ticks between two of them. */
  whole?: boolean;
}

type BarsChart = Chart<"bar", number[], string[]>;

function BarChart({ title, bars, range, whole = false }: Look & { title: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const made = useRef<Promise<BarsChart> | null>(null);
  const latest = useRef<Look>({ bars, range, whole });
  latest.current = { bars, range, whole };
  useEffect(() => {
    const chart = library.then(({ Chart, BarController, BarElement, CategoryScale, LinearScale }) => {
      Chart.register(BarController, BarElement, CategoryScale, LinearScale);
      return new Chart<"bar", number[], string[]>(canvas.current!, {
        type: "bar",
        // With colours from the start: those that come with the first figures alone are not taken up.
        data: { labels: [], datasets: [{ data: [], maxBarThickness: 22, borderWidth: 1, ...colours() }] },
        options: { animation: false, responsive: true, maintainAspectRatio: false, events: [], indexAxis: "y" },
        plugins: [{ id: "intervals", afterDatasetsDraw: (drawn) => whiskers(drawn as unknown as BarsChart, latest.current.bars) }],
      });
    });
    made.current = chart;
    const redraw = () => void chart.then((drawn) => draw(drawn, latest.current), () => undefined);
    redraw();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", redraw);
    return () => {
      dark.removeEventListener("change", redraw);
      void chart.then((drawn) => drawn.destroy(), () => undefined);
    };
  }, []);
  useEffect(() => {
    void made.current?.then((drawn) => draw(drawn, latest.current), () => undefined);
  }, [JSON.stringify(bars)]);
  return (
    <div class="batch-chart" style={{ height: `${60 + 34 * bars.length}px` }}>
      <canvas ref={canvas} role="img" aria-label={words.charts.chart(title)} />
    </div>
  );
}

const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The edge stands out from the card where the filling does not. */
const colours = () => ({ backgroundColor: colourOf("--bar"), borderColor: colourOf("--accent") });

function draw(chart: BarsChart, { bars, range, whole = false }: Look): void {
  // Destroyed while the library was still being fetched.
  if (!chart.ctx) return;
  const family = getComputedStyle(document.body).fontFamily;
  chart.data.labels = bars.map(({ label }) => wrapLabel(label, 20));
  const [set] = chart.data.datasets;
  set!.data = bars.map(({ value }) => value);
  Object.assign(set!, colours());
  chart.options.scales = {
    x: { ...range, grid: { color: colourOf("--line") }, ticks: { color: colourOf("--quiet"), font: { family, size: 11 }, ...(whole && { precision: 0 }) } },
    y: { grid: { display: false }, ticks: { color: colourOf("--ink"), font: { family, size: 12 }, autoSkip: false } },
  };
  chart.update("none");
}

/** The interval of each mean, as a line with ends. */
function whiskers(chart: BarsChart, bars: BarOf[]): void {
  const { ctx, scales } = chart;
  const x = scales["x"];
  if (!x) return;
  ctx.save();
  ctx.strokeStyle = colourOf("--ink");
  ctx.lineWidth = 1.5;
  for (const [i, element] of chart.getDatasetMeta(0).data.entries()) {
    const interval = bars[i]?.interval;
    if (!interval) continue;
    const [low, high] = [x.getPixelForValue(interval.low), x.getPixelForValue(interval.high)];
    ctx.beginPath();
    ctx.moveTo(low, element.y);
    ctx.lineTo(high, element.y);
    for (const end of [low, high]) {
      ctx.moveTo(end, element.y - 5);
      ctx.lineTo(end, element.y + 5);
    }
    ctx.stroke();
  }
  ctx.restore();
}
