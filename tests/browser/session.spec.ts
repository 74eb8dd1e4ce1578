/** A whole session of work, and what the browser itself says it has sent. */
import { readFileSync } from "node:fs";
import { chromium, type Page } from "@playwright/test";
import { done, expect, fill, press, ready, test } from "./fixtures.ts";

interface NetLog {
  constants: { logEventTypes: Record<string, number> };
  events: { type: number; params?: { url?: string; initiator?: string } }[];
}

interface Sent {
  url: string;
  origin: string;
  /** The origin of the page, worker or service worker that asked; null where the browser did so of itself. */
  by: string | null;
}

/** Whatever the browser was asked to fetch, whoever asked. */
function sentOf(path: string): Sent[] {
  const log = readFileSync(path, "utf8").trimEnd();
  // A browser that is closed in a hurry leaves the list open.
  const { constants, events } = JSON.parse(log.endsWith("}") ? log : `${log.replace(/,$/, "")}]}`) as NetLog;
  const type = constants.logEventTypes["URL_REQUEST_START_JOB"];
  if (type === undefined) throw new Error("this browser's log has no event URL_REQUEST_START_JOB");
  return events.flatMap(({ type: kind, params }) => {
    if (kind !== type || !params?.url || !/^(https?|wss?):/.test(params.url)) return [];
    return [{ url: params.url, origin: new URL(params.url).origin, by: params.initiator === "not an origin" ? null : (params.initiator ?? null) }];
  });
}

const CANARY = "http://127.0.0.1:9/canary.png";

const screen = async (page: Page, name: string) => {
  await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name, exact: true }).click();
  await expect(page.locator(`[data-screen]:not([hidden])`)).toBeVisible();
};

test("a whole session of work sends nothing but to the page's own server", async ({ gate }, info) => {
  test.setTimeout(180_000);
  const path = info.outputPath("net-log.json");
  const { executablePath, args = [] } = info.project.use.launchOptions!;
  const browser = await chromium.launch({ executablePath: executablePath!, args: [...args, `--log-net-log=${path}`, "--net-log-capture-mode=Default"] });
  const page = await browser.newPage({ acceptDownloads: true });
  await page.goto(`${gate.origin}/`);
  await ready(page);
  await fill(page, "Name three primary colours. Mention https://texts.example/in-the-prompt too.", "Red, green and blue. ![x](https://texts.example/picture.png) <img src=https://texts.example/a.png>");
  await press(page, "Judge");
  await done(page);
  await page.getByTestId("row").first().getByRole("button", { name: /^Details of/ }).click();

  await screen(page, "Compare");
  await page.locator("#cmp-prompt").fill("Why is the sky blue?");
  await page.getByLabel("Response A", { exact: true }).fill("Air scatters short waves most.");
  await page.getByLabel("Response B", { exact: true }).fill("See https://texts.example/sky.");
  await press(page, "Show them together");
  await expect(page.getByTestId("cmp-outcome")).toHaveAttribute("data-together", "done", { timeout: 60_000 });

  await screen(page, "Batch");
  const rows = "instruction,response,human\nSay yes.,Yes. https://texts.example/row,5\nSay no.,No.,4\n";
  await page.getByTestId("batch-file").setInputFiles({ name: "two.csv", mimeType: "text/csv", buffer: Buffer.from(rows) });
  await press(page, "Judge 2 rows");
  await expect(page.getByTestId("batch-run")).toHaveAttribute("data-finished", "true", { timeout: 90_000 });

  for (const name of ["Your labels", "Learn", "Rubrics", "Models"]) await screen(page, name);
  await screen(page, "History");
  await page.getByRole("link", { name: /primary colours/ }).click();
  await expect(page.getByTestId("history-entry")).toBeVisible();
  const said = await page.getByTestId("requests").innerText();
  expect(said).toMatch(/[1-9]\d* to its own server, 0 to any other/);

  // The log must be able to say otherwise: one more page asks for what is not the page's own.
  const stranger = await browser.newPage();
  await stranger.goto(`data:text/html,<img src='${CANARY}'>`);
  await browser.close();
  const sent = sentOf(path);
  const own = sent.filter(({ origin }) => origin === gate.origin);
  expect(own.some(({ url }) => url.endsWith(".gguf"))).toBe(true);
  expect(own.some(({ url }) => url.endsWith("/sw.js"))).toBe(true);
  const foreign = sent.filter(({ origin }) => origin !== gate.origin);
  expect(foreign.filter(({ by }) => by !== null)).toEqual([{ url: CANARY, origin: new URL(CANARY).origin, by: "null" }]);
  // What the browser asks its own maker, by its own settings, is no page's doing; it goes nowhere else, and no text is in it.
  const ofMaker = foreign.filter(({ by }) => by === null);
  for (const { url, origin } of ofMaker) {
    expect(origin).toMatch(/^https?:\/\/[a-z-]+\.(google|googleapis)\.com$/);
    expect(decodeURIComponent(url)).not.toMatch(/texts\.example|primary|colours/);
  }
  await info.attach("sent", { body: sent.map(({ by, url }) => `${by ?? "the browser itself"} -> ${url}`).join("\n"), contentType: "text/plain" });
});
