/**
 * Engines in a browser: Retort's wasm package and wllama, in workers of one page of one headless Chromium (the
 * variable CHROMIUM), on the CPU. `node browser.mjs MODEL.gguf`, see lines.mjs.
 *
 * Neither engine is given threads, so the page needs no cross-origin isolation.
 */
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { answerLines, modelPath } from "./lines.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const folders = {
  "/pkg/": join(here, "../../pkg"),
  "/wllama/": join(here, "node_modules/@wllama/wllama/esm"),
  "/": join(here, "page"),
};
const model = modelPath();
const types = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };

/** The file behind an address, if it lies in one of the folders. */
function fileOf(address) {
  if (address === "/model.gguf") return model;
  const [prefix, folder] = Object.entries(folders).find(([prefix]) => address.startsWith(prefix));
  const file = normalize(join(folder, address.slice(prefix.length) || "index.html"));
  return file.startsWith(folder) && existsSync(file) && statSync(file).isFile() ? file : null;
}

const server = createServer((request, response) => {
  const file = fileOf(new URL(request.url, "http://localhost").pathname);
  if (file === null) {
    response.writeHead(404).end();
    return;
  }
  const type = types[extname(file)] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": type, "content-length": statSync(file).size, "cache-control": "no-store" });
  createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu"],
});
const page = await browser.newPage();
page.on("pageerror", (error) => console.error(`in the page: ${error.message}`));
await page.goto(`http://127.0.0.1:${server.address().port}/`);
await page.waitForFunction(() => window.engines !== undefined);

const ask = (engine, call, argument) =>
  page.evaluate(([engine, call, argument]) => window.engines[engine][call](argument), [engine, call, argument]);
const versionOf = (name) => JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8")).version;

await answerLines({
  describe: async ({ engine }) => ({
    browser: `Chromium ${browser.version()}`,
    ...(await ask(engine, "describe")),
    ...(engine === "wllama" ? { version: versionOf("@wllama/wllama") } : {}),
  }),
  /** Retort, with nothing in its cache: `{seconds, tokens}`. */
  judge: (what) => ask("retort", "judge", what),
  /** Retort: a checklist made without a model, once: `{seconds, items}`. */
  checklist: (what) => ask("retort", "checklist", what),
  /** wllama: one token after each prompt, in order, with nothing in its cache at first: `{seconds, computed, cached}`. */
  complete: (what) => ask("wllama", "complete", what),
});
await browser.close();
server.close();
