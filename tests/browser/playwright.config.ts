import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "@playwright/test";
import { ADAPTERS, FAKE, PORTS, REAL_MODEL, TINY_MODEL, writeRegistry } from "./servers.ts";

const chromium = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
if (!existsSync(chromium)) {
  throw new Error(`No Chromium at ${chromium}. Install it (Debian: apt-get install chromium) or name it in the variable CHROMIUM.`);
}
if (!FAKE && TINY_MODEL === null) {
  throw new Error("RETORT_TINY_MODEL must name the tiny GGUF file; `cargo xtask test` makes one and sets it.");
}

/** Keeps the browser from talking to its maker, so that the only requests are the page's. */
const QUIET = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const root = fileURLToPath(new URL("../..", import.meta.url));
/** The test command names its own program, so that cargo need not be asked again. */
const xtask = process.env["RETORT_XTASK"] ? `"${process.env["RETORT_XTASK"]}"` : "cargo xtask";
const serve = (port: number, model: string, adapters: typeof ADAPTERS = []) => ({
  command: `${xtask} serve --no-build --open no --port ${port} ${writeRegistry(port, model, adapters)}`,
  cwd: root,
  url: `http://127.0.0.1:${port}/`,
  timeout: 300_000,
  reuseExistingServer: false,
});

const fake = (port: number, more: string) => ({ command: `node fake-server.mjs --port ${port} ${more}`, url: `http://127.0.0.1:${port}/`, reuseExistingServer: false });

export default defineConfig({
  testDir: ".",
  outputDir: "test-results",
  forbidOnly: true,
  fullyParallel: false,
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: { viewport: { width: 1280, height: 900 }, trace: "retain-on-failure", acceptDownloads: true },
  projects: [
    // Judging itself is tested on both; what the other specs hold does not depend on where the model runs, and on an emulated GPU
    // every page takes a while to be ready.
    { name: "webgpu", testMatch: ["page.spec.ts", "real.spec.ts"], timeout: 120_000, use: { launchOptions: { executablePath: chromium, args: [...QUIET, "--enable-unsafe-webgpu"] } } },
    { name: "cpu", use: { launchOptions: { executablePath: chromium, args: [...QUIET, "--disable-gpu"] } } },
  ],
  webServer: FAKE
    ? [fake(PORTS.tiny, ""), fake(PORTS.adapted, "--adapters")]
    : [serve(PORTS.tiny, TINY_MODEL!), serve(PORTS.adapted, TINY_MODEL!, ADAPTERS), ...(REAL_MODEL === null ? [] : [serve(PORTS.real, REAL_MODEL)])],
});
