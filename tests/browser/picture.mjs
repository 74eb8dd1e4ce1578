/**
 * The picture in the README: the page after a judgement by the real model, on the CPU.
 * `node picture.mjs http://127.0.0.1:PORT/ FILE.png [width] [light|dark]`, with `cargo xtask serve` running.
 */
import { chromium } from "@playwright/test";

const [address, file, width = "1280", colorScheme = "light"] = process.argv.slice(2);
if (!address || !file) {
  console.error("usage: node picture.mjs http://127.0.0.1:PORT/ FILE.png [width] [light|dark]");
  process.exit(2);
}

const PROMPT = "Why does bread go stale faster in the refrigerator than on the counter? Answer in at most three sentences.";
const RESPONSE = `Staling is mostly not drying: the starch in the crumb slowly turns back into crystals, which makes it firm. That happens fastest just above freezing, so a refrigerator is the worst place for a loaf. Freezing stops it, and warming a stale slice undoes part of it for a while.`;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: Number(width), height: 900 }, colorScheme });
await page.goto(address);
await page.getByTestId("ready").waitFor({ timeout: 300_000 });
await page.getByLabel("Prompt", { exact: true }).fill(PROMPT);
await page.getByLabel("Response", { exact: true }).fill(RESPONSE);
await page.getByRole("button", { name: "Judge" }).click();
await page.locator("[data-testid=standing][data-phase=done]").waitFor({ timeout: 600_000 });
await page.waitForTimeout(500);
await page.screenshot({ path: file, fullPage: true });
await browser.close();
