import { useEffect, useRef } from "preact/hooks";
import type { Chart, ChartConfiguration, ChartDataset } from "chart.js";

/** Fetched with the screen and not with the first result: whoever watches the network sees nothing when they ask. */
const library = import("chart.js");
library.catch(() => undefined);

export type ChartSpec =
  | { kind: "bars"; across: boolean; labels: string[]; series: { name: string; values: (number | null)[] }[]; min: number; max: number; axis: string }
  | { kind: "lines"; series: { name: string; points: { x: number; y: number }[]; ideal?: boolean }[]; axes: [string, string] };

/** Series are told apart by filled or hollow, and dashed or not, besides their colour. The table beside it is what is read out. */
export function LearnChart({ spec, note }: { spec: ChartSpec; note: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const key = JSON.stringify(spec);
  useEffect(() => {
    let left = false;
    let chart: Chart | null = null;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const draw = () => {
      void library.then(({ Chart, BarController, BarElement, CategoryScale, LinearScale, ScatterController, PointElement, LineElement }) => {
        if (left) return;
        Chart.register(BarController, BarElement, CategoryScale, LinearScale, ScatterController, PointElement, LineElement);
        chart?.destroy();
        chart = new Chart(canvas.current!, configOf(spec));
      });
    };
    draw();
    dark.addEventListener("change", draw);
    return () => {
      left = true;
      dark.removeEventListener("change", draw);
      chart?.destroy();
    };
  }, [key]);
  const { series } = spec;
  const rows = spec.kind === "bars" && spec.across ? spec.labels.length * (0.9 + 0.9 * spec.series.length) : 15;
  return (
    <figure class="learn-chart" aria-hidden="true">
      {series.length > 1 && (
        <ul class="learn-legend">
          {series.map(({ name, ...one }, i) => <li key={name}><span class={"ideal" in one && one.ideal ? "learn-swatch ideal" : `learn-swatch s${i % 2}`} />{name}</li>)}
        </ul>
      )}
      <div class="learn-canvas" style={{ height: `${Math.max(9, rows + 3)}rem` }}><canvas ref={canvas} /></div>
      <figcaption>{note}</figcaption>
    </figure>
  );
}

/** Without animations: nothing waits for a frame (P43). */
function configOf(spec: ChartSpec): ChartConfiguration {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const family = getComputedStyle(document.body).fontFamily;
  const colours = [colour("--accent"), colour("--warm")];
  const ticks = { color: colour("--ink"), font: { family, size: 12 } };
  const grid = { color: colour("--line") };
  const title = (text: string) => ({ display: text !== "", text, color: colour("--quiet"), font: { family, size: 12 } });
  const options = { animation: false as const, responsive: true, maintainAspectRatio: false, events: [] };
  if (spec.kind === "bars") {
    const datasets: ChartDataset<"bar", (number | null)[]>[] = spec.series.map(({ name, values }, i) => ({
      label: name, data: values, borderColor: colours[i % 2]!, backgroundColor: i % 2 === 0 ? colours[0]! : "transparent", borderWidth: 2, maxBarThickness: 28,
    }));
    const values = { min: spec.min, max: spec.max, grid, ticks, title: title(spec.axis) };
    const names = { grid: { display: false }, ticks: { ...ticks, autoSkip: false } };
    return {
      type: "bar", data: { labels: spec.labels, datasets },
      options: { ...options, indexAxis: spec.across ? "y" : "x", scales: spec.across ? { x: values, y: names } : { x: names, y: values } },
    };
  }
  const datasets: ChartDataset<"scatter", { x: number; y: number }[]>[] = spec.series.map(({ name, points, ideal }, i) => ({
    label: name, data: points, showLine: true, clip: false, borderWidth: 2, pointRadius: ideal ? 0 : 5, pointStyle: i % 2 === 0 ? "circle" : "rect",
    borderColor: ideal ? colour("--quiet") : colours[i % 2]!, backgroundColor: i % 2 === 0 ? colours[0]! : colour("--card"), borderDash: ideal ? [5, 5] : [],
  }));
  const axis = (text: string) => ({ min: 0, max: 100, grid, ticks: { ...ticks, stepSize: 25 }, title: title(text) });
  return { type: "scatter", data: { datasets }, options: { ...options, scales: { x: axis(spec.axes[0]), y: axis(spec.axes[1]) } } };
}
