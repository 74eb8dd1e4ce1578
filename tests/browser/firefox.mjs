/**
 * The page in Firefox, which Playwright's tests cannot drive: loads the model, judges, compares with what the command says of the same
 * texts, walks through every screen, judges a file, and works on after its server is gone. `cargo xtask test` runs it where there is a
 * Firefox; by hand:
 *
 *     FIREFOX=/usr/bin/firefox-esr RETORT_XTASK=target/debug/xtask RETORT_CLI=target/release/retort node tests/browser/firefox.mjs
 *
 * Ends with status 1 where anything was not as it should be. It drives Firefox by WebDriver BiDi.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import puppeteer from "puppeteer-core";

const { FIREFOX = "/usr/bin/firefox-esr", RETORT_XTASK = "target/debug/xtask", RETORT_CLI } = process.env;
const PORT = 4391;
const ADDRESS = `http://127.0.0.1:${PORT}/`;
const PROMPT = "Why is the sky blue? Answer in at most two sentences.";
const RESPONSE = "Because air scatters short waves of light more strongly than long ones. So blue light reaches us from everywhere.";
const folder = mkdtempSync(join(tmpdir(), "retort-firefox-"));

const server = spawn(resolve(RETORT_XTASK), ["serve", "--no-build", "--open", "no", "--port", String(PORT)], { stdio: ["ignore", "pipe", "inherit"] });
await new Promise((told, failed) => {
  server.stdout.on("data", (text) => String(text).includes("Retort is at") && told());
  server.on("exit", (code) => failed(new Error(`the server ended with ${code}`)));
});
// A home of its own: nothing of the person's Firefox is read or changed.
const browser = await puppeteer.launch({
  browser: "firefox", executablePath: FIREFOX, headless: true, userDataDir: join(folder, "profile"), env: { ...process.env, HOME: folder },
});
const complaints = [];
const origins = new Set();
let failed = false;

/** Waits until this is true in the page. */
const until = (page, what, condition, ...given) =>
  page.waitForFunction(condition, { timeout: 120_000, polling: 100 }, ...given).catch((problem) => { throw new Error(`${what}: ${problem.message}`); });
const ready = (page) => until(page, "the model is ready", () => document.querySelector("[data-testid=ready]") !== null);
const fill = (page, selector, text) => page.$eval(selector, (area, value) => {
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(area, value);
  area.dispatchEvent(new Event("input", { bubbles: true }));
}, text);

async function judge(page, prompt, response) {
  await fill(page, "#prompt", prompt);
  await fill(page, "#response", response);
  await page.focus("#response");
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
  await until(page, "a judgement is done", () => document.querySelector("[data-testid=standing]")?.dataset.phase === "done" && document.querySelectorAll("[data-testid=row]").length >= 12);
  return page.$$eval("[data-testid=row]", (rows) => rows.map((row) => ({ skill: row.dataset.skill ?? row.id, state: row.dataset.state, text: row.innerText })));
}

try {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 1000 });
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (problem) => complaints.push(problem.message));
  page.on("request", (request) => /^(https?|wss?):/.test(request.url()) && origins.add(new URL(request.url()).origin));
  await page.goto(ADDRESS);
  await ready(page);
  console.log(`${await browser.version()}: the model is loaded`);

  const rows = await judge(page, PROMPT, RESPONSE);
  console.log(`judged: ${rows.filter(({ state }) => state === "scored").length} of ${rows.length} rows scored`);
  assert.ok(rows.some(({ state }) => state === "scored"));
  if (RETORT_CLI) {
    const texts = ["--prompt", PROMPT, "--response", RESPONSE];
    const record = JSON.parse(execFileSync(RETORT_CLI, ["judge", ...texts, "--backend", "cpu", "--json"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
    const wanted = record.verdicts.map(({ verdict }) => (verdict.kind === "scored" ? verdict.expected.toFixed(2) : null));
    const shown = rows.map(({ state, text }) => (state === "scored" ? /(\d\.\d\d)\s*of 5/.exec(text)?.[1] : null));
    assert.deepEqual(shown, wanted, "the page and the command score alike");
    console.log(`the command scores alike: ${wanted.join(" ")}`);
  }

  for (const screen of ["Compare", "Batch", "Your labels", "Learn", "Rubrics", "History", "Models"]) {
    await page.evaluate((name) => [...document.querySelectorAll("nav a")].find((link) => link.textContent.trim() === name).click(), screen);
    await until(page, screen, () => (document.querySelector("[data-screen]:not([hidden])")?.querySelector("h2")?.getClientRects().length ?? 0) > 0);
    if (screen === "Batch") {
      const file = join(folder, "two.csv");
      writeFileSync(file, "prompt,response,human\nSay yes.,Yes.,5\nSay no.,No.,4\n");
      await (await page.$("[data-testid=batch-file]")).uploadFile(file);
      await until(page, "the file is read", () => [...document.querySelectorAll("button")].some((button) => button.textContent.trim() === "Judge 2 rows"));
      await page.evaluate(() => [...document.querySelectorAll("button")].find((button) => button.textContent.trim() === "Judge 2 rows").click());
      await until(page, "the batch is done", () => document.querySelector("[data-testid=batch-run]")?.dataset.finished === "true");
    }
    if (screen === "History") await until(page, "the judgement is in the history", () => document.querySelectorAll("[data-testid=history-row]").length >= 3);
    console.log(`${screen}: shown`);
  }
  await until(page, "the page is kept for later", async () => (await navigator.serviceWorker.getRegistration())?.active != null);
  server.removeAllListeners("exit");
  server.kill();
  await new Promise((gone) => server.on("exit", gone));
  await page.goto(ADDRESS);
  await ready(page);
  const offline = await judge(page, "Name a colour.", "Blue.");
  assert.ok(offline.some(({ state }) => state === "scored"));
  console.log("without its server: loaded and judged");
  assert.deepEqual([...origins], [new URL(ADDRESS).origin], "nothing went to another origin");
  assert.deepEqual(complaints, [], "the console has no complaint");
} catch (problem) {
  failed = true;
  console.error(problem, complaints);
} finally {
  await browser.close();
  server.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(failed ? 1 : 0);
