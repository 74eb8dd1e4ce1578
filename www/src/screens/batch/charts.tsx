import { useSignal } from "@preact/signals";
import type { Chart } from "chart.js";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../../engine";
import { formatCount } from "../../format";
import { labelsOf, scalesOf, type Scale } from "../../own-rubrics";
import { wrapLabel } from "../../radar";
import { batchText as words } from "../../text/batch";
import type { Vocabulary } from "../../types";
import type { Batch } from "./batch";
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

export function Charts({ engine, batch }: { engine: EngineClient; batch: Batch }) {
  const charts = useSignal<Drawn[] | null>(null);
  const worked = useRef(0);
  const head = batch.head.value!;
  const lines = batch.lines.value;
  const busy = batch.busy;
  useEffect(() => {
    let left = false;
    const wait = setTimeout(async () => {
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
          if (left) return;
        }
        next.push({ by, bars, min, max, scaled });
      }
      worked.current = performance.now();
      charts.value = next;
    }, busy ? Math.max(0, worked.current + EVERY_MS - performance.now()) : 50);
    return () => {
      left = true;
      clearTimeout(wait);
    };
  }, [busy ? Math.floor(head.done / Math.max(1, Math.ceil(head.rows / 40))) : lines]);
  const shown = charts.value?.filter(({ bars }) => bars.length > 0) ?? [];
  return (
    <section class="card batch" aria-labelledby="batch-charts-heading" data-testid="batch-charts">
      <h2 id="batch-charts-heading">{words.charts.heading}</h2>
      {charts.value === null ? <p class="hint">{words.charts.working}</p> : shown.length === 0 ? <p class="hint">{words.charts.none}</p> : (
        <>
          {head.settings.scope === "needed" && <p class="note">{words.charts.mixed}</p>}
          {shown.map((drawn) => <Means key={`${drawn.by} ${drawn.min} ${drawn.max}`} {...drawn} />)}
          <p class="hint">{words.charts.note(String(SEED))}</p>
        </>
      )}
    </section>
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
      <BarChart title={title} bars={bars} range={{ min, max }} />
    </figure>
  );
}

type BarsChart = Chart<"bar", number[], string[]>;

function BarChart({ title, bars, range }: { title: string; bars: Bar[]; range: { min: number; max: number } }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const made = useRef<Promise<BarsChart> | null>(null);
  const latest = useRef({ bars, range });
  latest.current = { bars, range };
  useEffect(() => {
    const chart = library.then(({ Chart, BarController, BarElement, CategoryScale, LinearScale }) => {
      Chart.register(BarController, BarElement, CategoryScale, LinearScale);
      return new Chart<"bar", number[], string[]>(canvas.current!, {
        type: "bar",
        data: { labels: [], datasets: [{ data: [], maxBarThickness: 22 }] },
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

function draw(chart: BarsChart, { bars, range }: { bars: Bar[]; range: { min: number; max: number } }): void {
  // Destroyed while the library was still being fetched.
  if (!chart.ctx) return;
  const family = getComputedStyle(document.body).fontFamily;
  chart.data.labels = bars.map(({ label }) => wrapLabel(label, 20));
  const [set] = chart.data.datasets;
  set!.data = bars.map(({ estimate }) => estimate?.value ?? NaN);
  set!.backgroundColor = colourOf("--bar");
  chart.options.scales = {
    x: { min: range.min, max: range.max, grid: { color: colourOf("--line") }, ticks: { color: colourOf("--quiet"), font: { family, size: 11 } } },
    y: { grid: { display: false }, ticks: { color: colourOf("--ink"), font: { family, size: 12 }, autoSkip: false } },
  };
  chart.update("none");
}

/** The interval of each mean, as a line with ends. */
function whiskers(chart: BarsChart, bars: Bar[]): void {
  const { ctx, scales } = chart;
  const x = scales["x"];
  if (!x) return;
  ctx.save();
  ctx.strokeStyle = colourOf("--ink");
  ctx.lineWidth = 1.5;
  for (const [i, element] of chart.getDatasetMeta(0).data.entries()) {
    const estimate = bars[i]?.estimate;
    if (!estimate) continue;
    const [low, high] = [x.getPixelForValue(estimate.low), x.getPixelForValue(estimate.high)];
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
