/**
 * How a judgement feels: when its first score is there, as a share of the whole, and how long the page itself is busy at once.
 * `node pace.mjs http://127.0.0.1:PORT/ [rounds]`, with `cargo xtask serve` running; figures for BENCHMARKS.md, no test.
 */
import { chromium } from "@playwright/test";

const [address = "http://127.0.0.1:4373/", rounds = "3"] = process.argv.slice(2);
const SENTENCE = "Sunlight is a mix of all colours, and the tiny molecules of the air turn blue light aside far more often than red light";
const words = (count) => Array.from({ length: Math.ceil(count / 23) }, (_, i) => `${i + 1}. ${SENTENCE}.`).join(" ").split(" ").slice(0, count).join(" ");
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
page.setDefaultTimeout(600_000);
await page.addInitScript(() => {
  window.busy = [];
  new PerformanceObserver((list) => window.busy.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration })))).observe({ type: "longtask" });
});
await page.goto(address);
await page.getByTestId("ready").waitFor();
console.log("| Judge is pressed | words of the response | whole, s | first score, share of it | tasks over 50 ms in all rounds | the longest, ms |\n|---|---:|---:|---:|---:|---:|");
for (const [ahead, count] of [false, true].flatMap((ahead) => [30, 150, 600].map((count) => [ahead, count]))) {
  const all = [];
  for (let round = 0; round < Number(rounds); round++) {
    // Another prompt each time, so that nothing is remembered of the texts.
    await page.locator("#prompt").fill(`Round ${round} of ${count} words ${ahead ? "read before" : "at once"}: why is the sky blue?`);
    await page.locator("#response").fill(words(count));
    // Long enough for what the prompt asks to be known; or until the model has read the texts.
    if (ahead) await page.locator('.bench[data-ahead="read"]').waitFor();
    else await page.waitForTimeout(700);
    const found = await page.evaluate(() => new Promise((resolve) => {
      window.busy.length = 0;
      const start = performance.now();
      let first = null;
      const watch = new MutationObserver(() => {
        if (first === null && document.querySelector("[data-testid=row][data-state=scored], [data-testid=row][data-state=unscored]")) first = performance.now() - start;
        if (document.querySelector("[data-testid=standing]")?.dataset.phase !== "done" || first === null) return;
        watch.disconnect();
        const whole = performance.now() - start;
        setTimeout(() => resolve({ first, whole, busy: window.busy.map(({ duration }) => duration) }), 500);
      });
      // What is shown of the run before must not be taken for this one's.
      for (const row of document.querySelectorAll("[data-testid=row]")) row.dataset.state = "old";
      document.querySelector(".judge-bar button.primary").click();
      requestAnimationFrame(() => requestAnimationFrame(() => watch.observe(document.body, { subtree: true, childList: true, attributes: true })));
    }));
    all.push(found);
  }
  const busy = all.flatMap((one) => one.busy);
  console.log(`| ${ahead ? "when the texts are read" : "0.7 s after the last change"} | ${count} | ${(median(all.map(({ whole }) => whole)) / 1000).toFixed(1)} | ${median(all.map(({ first, whole }) => first / whole)).toFixed(2)} | ${busy.length} | ${Math.round(Math.max(0, ...busy))} |`);
}
await browser.close();
