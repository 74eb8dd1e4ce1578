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

/** Without Chart.js's animations: nothing waits for a frame (P43). */
async function makeChart(canvas: HTMLCanvasElement): Promise<Chart<"radar", (number | null)[], string[]>> {
  const { Chart, RadarController, RadialLinearScale, PointElement, LineElement, Filler } = await library;
  Chart.register(RadarController, RadialLinearScale, PointElement, LineElement, Filler);
  return new Chart<"radar", (number | null)[], string[]>(canvas, {
    type: "radar",
    data: { labels: [], datasets: [] },
    options: { animation: false, responsive: true, maintainAspectRatio: false, events: [] },
  });
}

export function RadarChart({ radar }: { radar: RadarFigures }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const chart = useRef<Promise<Chart<"radar", (number | null)[], string[]>> | null>(null);
  const latest = useRef(radar);
  latest.current = radar;

  useEffect(() => {
    const made = makeChart(canvas.current!);
    chart.current = made;
    const redraw = () => void made.then((drawn) => draw(drawn, latest.current));
    redraw();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", redraw);
    return () => {
      dark.removeEventListener("change", redraw);
      void made.then((drawn) => drawn.destroy());
    };
  }, []);

  useEffect(() => {
    void chart.current?.then((drawn) => draw(drawn, radar));
  }, [radar.values.join(), radar.lines?.map(({ name, values }) => `${name} ${values.join()}`).join(";"), radar.labels.join(), radar.min, radar.max]);

  return <div class="canvas-box"><canvas ref={canvas} /></div>;
}

function draw(chart: Chart<"radar", (number | null)[], string[]>, radar: RadarFigures): void {
  // Destroyed while the library was still being fetched.
  if (!chart.ctx) return;
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
