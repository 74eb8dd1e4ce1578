import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Chart } from "chart.js";
import { formatPercent } from "../../format";
import { announcement } from "../../live";
import { calibrate as words } from "../../text/calibrate";
import type { Agreement, Estimate, Readout } from "../../types";
import type { Desk } from "./desk";
import { labelled, moreNeeded, ownOf } from "./labels";

const FIGURES = ["spearman", "kendall", "pearson", "mean_error", "alpha"] as const;

const number = (value: number) => value.toFixed(2).replace("-", "−");
const said = (estimate: Estimate) => (estimate === null ? words.result.undefined : words.result.between(number(estimate.value), number(estimate.low), number(estimate.high)));

/** What a fit came to, before and after, and whether to believe it. */
export function Outcome({ desk, readout }: { desk: Desk; readout: Readout }) {
  const name = useRef<HTMLInputElement>(null);
  const note = useSignal<{ text: string; bad: boolean } | null>(null);
  const { before, after, gain, helps } = readout;
  const more = moreNeeded(readout);
  const verdict = helps ? (before === null ? words.result.noOwn : words.result.helps) : words.result.helpsNot;
  useEffect(() => {
    announcement.value = verdict;
  }, [readout]);
  const keep = async () => {
    const wanted = name.current!.value.trim();
    if (wanted === "") {
      note.value = { text: words.result.noName, bad: true };
      name.current!.focus();
      return;
    }
    const one = await desk.saveAs(wanted);
    if (one) note.value = { text: words.result.saved(one.name), bad: false };
  };
  const row = (agreement: Agreement | null, figure: (typeof FIGURES)[number]) => (agreement === null ? "–" : said(agreement[figure]));
  return (
    <section class="calibrate-outcome" aria-labelledby="calibrate-outcome-heading" data-testid="calibrate-outcome">
      <h4 id="calibrate-outcome-heading">{words.result.heading}</h4>
      <p class={helps ? "calibrate-verdict helps" : "calibrate-verdict"} data-helps={helps}>{verdict}</p>
      {gain !== null && <p>{words.result.gain(number(gain.value), number(gain.low), number(gain.high))}</p>}
      {more !== null && <p>{words.result.more(more)}</p>}
      {readout.warnings.map((warning) => <p class="note" key={warning}>{warning}</p>)}
      <div class="calibrate-scroll" tabIndex={0} role="region" aria-labelledby="calibrate-outcome-heading">
        <table class="calibrate-table">
          <caption class="unseen">{words.result.caption}</caption>
          <thead>
            <tr>
              <th scope="col">{words.result.figure}</th>
              <th scope="col">{words.result.before}</th>
              <th scope="col">{words.result.after}</th>
            </tr>
          </thead>
          <tbody>
            {FIGURES.map((figure) => (
              <tr key={figure}>
                <th scope="row">{words.result.figures[figure]}</th>
                <td>{row(before, figure)}</td>
                <td>{row(after, figure)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">{words.result.counted(readout.n, readout.groups)} {words.result.blend(formatPercent(readout.blend))}</p>
      <figure class="calibrate-chart" aria-hidden="true">
        <Scatter desk={desk} />
        <figcaption class="hint">{words.result.chart}</figcaption>
      </figure>
      <div class="calibrate-save">
        <label for="calibrate-name">{words.result.name}</label>
        <input id="calibrate-name" ref={name} type="text" maxLength={80} autocomplete="off" aria-describedby="calibrate-save-note" />
        <button type="button" class="plain" onClick={() => void keep()}>{words.result.save}</button>
      </div>
      <p id="calibrate-save-note" class={note.value?.bad ? "field-error" : "hint"} role="status">{note.value?.text ?? ""}</p>
    </section>
  );
}

type Points = Chart<"scatter", { x: number; y: number }[]>;

/** The model's own scores over the labels. What the readout gives on the labels it was fitted to would flatter it, so it is not drawn. */
function Scatter({ desk }: { desk: Desk }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { min, max } = desk.work.value;
  const stamp = desk.stamp();
  const points = labelled(desk.work.value).flatMap(({ label, reading }) => {
    const own = reading !== null && reading.stamp === stamp ? ownOf(reading, { min, max }) : null;
    return own === null ? [] : [{ x: label, y: own }];
  });
  const dark = useSignal(false);
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const change = () => (dark.value = scheme.matches);
    change();
    scheme.addEventListener("change", change);
    return () => scheme.removeEventListener("change", change);
  }, []);
  useEffect(() => {
    let chart: Points | null = null;
    let left = false;
    void import("chart.js").then(({ Chart, ScatterController, LinearScale, PointElement }) => {
      if (left || !canvas.current) return;
      Chart.register(ScatterController, LinearScale, PointElement);
      const style = getComputedStyle(document.documentElement);
      const colour = (name: string) => style.getPropertyValue(name).trim();
      const axis = (title: string) => ({ min: min - 0.25, max: max + 0.25, title: { display: true, text: title, color: colour("--ink") }, grid: { color: colour("--line") }, ticks: { color: colour("--quiet"), stepSize: 1, includeBounds: false } });
      chart = new Chart(canvas.current, {
        type: "scatter",
        data: { datasets: [{ data: points, pointRadius: 4, pointBackgroundColor: colour("--accent"), pointBorderColor: colour("--accent") }] },
        options: { animation: false, responsive: true, maintainAspectRatio: false, events: [], scales: { x: axis(words.list.label), y: axis(words.list.own) } },
      }) as Points;
    });
    return () => {
      left = true;
      chart?.destroy();
    };
  }, [JSON.stringify(points), min, max, dark.value]);
  return <div class="calibrate-canvas"><canvas ref={canvas} /></div>;
}
