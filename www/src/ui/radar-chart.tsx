import { useEffect, useRef } from "preact/hooks";
import type { Chart } from "chart.js";
import { wrapLabel, type Radar } from "../radar";

/** One chart's axes; one line, or several of a name each on the same axes. */
export type RadarFigures = Omit<Extract<Radar, { kind: "chart" }>, "kind"> & { lines?: { name: string; values: (number | null)[] }[] };

/** How the lines are told apart: by dashes and by the shape of their points, beside their colour. */
export const LINES = [
  { colour: "--accent", dash: [], point: "circle" },
  { colour: "--warm", dash: [7, 4], point: "rect" },
  { colour: "--bad", dash: [2, 3], point: "triangle" },
  { colour: "--ink", dash: [10, 3, 2, 3], point: "crossRot" },
] as const;

/** Fetched with the page and not with the first result: whoever watches the network sees nothing when they judge. */
const library = import("chart.js");
// Drawing reports it; until then nobody waits for it.
library.catch(() => undefined);

type Drawing = Chart<"radar", (number | null)[], string[]>;

/** Without Chart.js's animations: nothing waits for a frame (P43). */
async function makeChart(canvas: HTMLCanvasElement, responsive = true): Promise<Drawing> {
  const { Chart, RadarController, RadialLinearScale, PointElement, LineElement, Filler } = await library;
  Chart.register(RadarController, RadialLinearScale, PointElement, LineElement, Filler);
  return new Chart<"radar", (number | null)[], string[]>(canvas, {
    type: "radar",
    data: { labels: [], datasets: [] },
    options: { animation: false, responsive, maintainAspectRatio: false, events: [] },
  });
}

/** A task of its own: what else is drawn of a verdict does not wait for the chart. */
const ownTask = () => new Promise<void>((resolve) => setTimeout(resolve));
const idle = () => new Promise<void>((resolve) => ("requestIdleCallback" in globalThis ? requestIdleCallback(() => resolve(), { timeout: 2000 }) : setTimeout(resolve, 200)));

/**
 * The first drawing takes many times as long as any later one, because the browser compiles what it runs and measures the font. So
 * it is done once for nobody, after the page has come and before anything is judged, in parts.
 */
async function warmUp(): Promise<void> {
  await library;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [500, 420];
  await idle();
  const chart = await makeChart(canvas, false);
  const labels = Array.from({ length: 12 }, (_, i) => `Skill number ${i + 1}`);
  for (const count of [3, 3, 12, 12]) {
    await idle();
    draw(chart, { min: 1, max: 5, labels: labels.slice(0, count), values: labels.slice(0, count).map((_, i) => 1 + (i % 5)) });
  }
  chart.destroy();
}
// Where it fails, the first drawing says so.
warmUp().catch(() => undefined);

export function RadarChart({ radar }: { radar: RadarFigures }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const redraw = useRef(() => {});
  const latest = useRef(radar);
  latest.current = radar;

  useEffect(() => {
    let chart: Drawing | null = null;
    let left = false;
    let due = false;
    // What comes before it was drawn is drawn with it.
    redraw.current = () => {
      if (chart === null || due) return;
      due = true;
      void ownTask().then(() => {
        due = false;
        if (!left) draw(chart!, latest.current);
      });
    };
    void ownTask()
      .then(() => (left ? null : makeChart(canvas.current!)))
      .then((made) => {
        chart = made;
        if (left) chart?.destroy();
        else redraw.current();
      });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const again = () => redraw.current();
    dark.addEventListener("change", again);
    return () => {
      left = true;
      dark.removeEventListener("change", again);
      chart?.destroy();
    };
  }, []);

  useEffect(() => redraw.current(), [radar.values.join(), radar.lines?.map(({ name, values }) => `${name} ${values.join()}`).join(";"), radar.labels.join(), radar.min, radar.max]);

  return <div class="canvas-box"><canvas ref={canvas} /></div>;
}

function draw(chart: Drawing, radar: RadarFigures): void {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const narrow = chart.width < 380;
  const family = getComputedStyle(document.body).fontFamily;
  chart.data.labels = radar.labels.map((label) => wrapLabel(label));
  const lines = radar.lines ?? [{ name: "", values: radar.values }];
  chart.data.datasets = lines.map(({ name, values }, i) => {
    const line = LINES[i % LINES.length]!;
    return {
      label: name, data: values, spanGaps: false, borderWidth: 2, fill: lines.length === 1, backgroundColor: colour("--accent-wash"),
      borderColor: colour(line.colour), borderDash: [...line.dash],
      pointStyle: line.point, pointRadius: lines.length === 1 ? 3.5 : 5, pointBackgroundColor: colour(line.colour), pointBorderColor: colour(line.colour), pointBorderWidth: 2,
    };
  });
  chart.options.scales = {
    r: {
      min: radar.min,
      max: radar.max,
      grid: { color: colour("--line") },
      angleLines: { color: colour("--line") },
      pointLabels: { color: colour("--ink"), font: { family, size: narrow ? 10 : 12 } },
      ticks: { stepSize: (radar.max - radar.min) / 4, color: colour("--quiet"), backdropColor: "transparent", font: { family, size: 10 } },
    },
  };
  chart.update("none");
}
