import { useEffect, useRef } from "preact/hooks";
import type { Chart } from "chart.js";
import { wrapLabel, type Radar } from "../radar";

type RadarFigures = Extract<Radar, { kind: "chart" }>;

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
    data: { labels: [], datasets: [{ data: [], fill: true, spanGaps: false, borderWidth: 2, pointRadius: 3.5 }] },
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
  }, [radar.values.join(), radar.labels.join(), radar.min, radar.max]);

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
  const [set] = chart.data.datasets;
  set!.data = radar.values;
  set!.borderColor = colour("--accent");
  set!.backgroundColor = colour("--accent-wash");
  set!.pointBackgroundColor = colour("--accent");
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
