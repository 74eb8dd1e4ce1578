/** Getting a model: cache, interruptions, missing storage, files of one's own, and what can go wrong. */
import { readFileSync } from "node:fs";
import { type Gate, WATCH_HEAP, done, expect, fill, heapOf, open, press, ready, test } from "./fixtures.ts";
import { FAKE, TINY_MODEL } from "./servers.ts";

/** A valid small model; the stand-in engine accepts anything that begins like one. */
const tiny = (): Buffer => (TINY_MODEL === null ? Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(400_000, 1)]) : readFileSync(TINY_MODEL));
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

type Page = import("@playwright/test").Page;
const upload = (name: string, buffer: Buffer) => ({ name, mimeType: "application/octet-stream", buffer });
const choose = (page: Page, name: string, buffer: Buffer) => page.locator(".model").getByTestId("model-file").setInputFiles(upload(name, buffer));
const adapt = (page: Page, name: string, buffer: Buffer) => page.locator(".model").getByTestId("adapter-file").setInputFiles(upload(name, buffer));
/** One of the files that tiny-gguf writes beside the tiny model. */
const beside = (end: string): Buffer => readFileSync(TINY_MODEL!.replace(/\.gguf$/, `-${end}.gguf`));

test("a reload uses the stored model", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  expect(gate.downloads).toHaveLength(1);
  await page.reload();
  await ready(page);
  expect(gate.downloads).toHaveLength(1);
  await page.getByText("Details and storage").click();
  await expect(page.getByText("Read from this browser’s storage; nothing was downloaded.")).toBeVisible();
});

test("a broken line is taken up where it broke (P33)", async ({ page, gate, guard }) => {
  guard.allow.push(/net::ERR_/);
  gate.breakAfter = 0.3;
  await open(page, gate);
  await ready(page);
  expect(gate.downloads.map(({ range }) => range)).toEqual([null, `bytes=${gate.brokeAt}-`]);
});

test("a download interrupted by closing the page goes on at the next visit (P33)", async ({ page, gate, guard }) => {
  guard.allow.push(/net::ERR_/);
  gate.breakAfter = 0.3;
  gate.refuse = true;
  await open(page, gate);
  // Leave while the line is dead and the page tries again in vain.
  await expect.poll(() => gate.downloads.length).toBeGreaterThan(1);
  await page.goto("about:blank");
  gate.refuse = false;
  gate.seen.length = 0;
  await open(page, gate);
  await ready(page);
  expect(gate.downloads).toHaveLength(1);
  expect(gate.downloads[0]!.range).toBe(`bytes=${gate.brokeAt}-`);
});

test("a stored file that was swapped is not used (P33)", async ({ page, gate, guard }) => {
  // A picture as a page makes the browser ask for a favicon.ico, which there is none of.
  guard.allow.push(/404/);
  await open(page, gate);
  await ready(page);
  await page.goto(`${gate.origin}/favicon.svg`);
  await page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("retort-models");
    for await (const name of (folder as unknown as { keys(): AsyncIterable<string> }).keys()) {
      if (!name.endsWith(".gguf")) continue;
      const writable = await (await folder.getFileHandle(name)).createWritable();
      await writable.write("not a model");
      await writable.close();
    }
  });
  await open(page, gate);
  await ready(page);
  expect(gate.downloads).toHaveLength(2);
});

test("without storage the model is kept in memory, and the page says so (P34)", async ({ page, gate }) => {
  gate.workerPrelude = 'StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException("denied", "SecurityError"));';
  await open(page, gate);
  await ready(page);
  await expect(page.getByTestId("ready")).toContainText("kept in memory only");
  await fill(page);
  await page.getByRole("button", { name: "Judge" }).click();
  await done(page);
});

test("when storage is full the download goes on in memory, and the page says so (P34)", async ({ page, gate }) => {
  gate.workerPrelude = `
    const write = FileSystemSyncAccessHandle.prototype.write;
    FileSystemSyncAccessHandle.prototype.write = function (bytes, options) {
      if ((options?.at ?? 0) + bytes.byteLength > 50000) throw new DOMException("full", "QuotaExceededError");
      return write.call(this, bytes, options);
    };`;
  await open(page, gate);
  await ready(page);
  await expect(page.getByTestId("ready")).toContainText("storage is full");
  expect(gate.downloads).toHaveLength(1);
});

for (const [what, name, bytes, code] of [
  ["an empty file", "empty.gguf", () => Buffer.alloc(0), /^(empty_file|truncated_file|not_gguf)$/],
  ["a truncated file", "cut.gguf", () => tiny().subarray(0, 600), /^truncated_file$/],
  ["a picture", "picture.gguf", () => PNG, /^not_gguf$/],
] as const) {
  test(`${what} given as a model ends in a clear error, and the page goes on`, async ({ page, gate }) => {
    await open(page, gate);
    await ready(page);
    await choose(page, name, bytes());
    const error = page.getByTestId("error");
    await expect(error).toBeVisible();
    await expect(error).toHaveAttribute("data-code", code);
    await expect(error).toContainText(name);
    await error.getByRole("button", { name: "Use the built-in model" }).click();
    await ready(page);
    await expect(error).toHaveCount(0);
    await fill(page);
    await page.getByRole("button", { name: "Judge" }).click();
    await done(page);
  });
}

test("a file of one's own is read in place (P36)", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await choose(page, "mine.gguf", tiny());
  await expect(page.locator(".model-name")).toHaveText("mine.gguf");
  await ready(page);
  await page.getByText("Details and storage").click();
  await expect(page.getByText("Your own file, read in place.")).toBeVisible();
  await fill(page);
  await page.getByRole("button", { name: "Judge" }).click();
  await done(page);
});

test("the parts of a split model are one model, in whatever order they are chosen", async ({ page, gate }) => {
  test.skip(FAKE, "The stand-in engine reads no models.");
  await open(page, gate);
  await ready(page);
  const parts = ["00003", "00001", "00002"].map((part) => upload(`mine-${part}-of-00003.gguf`, beside(`${part}-of-00003`)));
  await page.locator(".model").getByTestId("model-file").setInputFiles(parts);
  await expect(page.locator(".model-name")).toHaveText("mine-00001-of-00003.gguf");
  await ready(page);
  await fill(page);
  await press(page, "Judge");
  await done(page);

  await page.locator(".model").getByTestId("model-file").setInputFiles(parts.slice(1));
  const error = page.getByTestId("error");
  await expect(error).toHaveAttribute("data-code", "split_model");
  await expect(error).toContainText("this part is missing: mine-00003-of-00003.gguf");
});

test("an adapter is applied, shown, recorded and removed", async ({ page, gate }) => {
  test.skip(FAKE, "The stand-in engine reads no adapters.");
  await open(page, gate);
  await ready(page);
  await fill(page);
  const panel = page.getByTestId("adapter");
  const score = async () => {
    await press(page, "Judge");
    await done(page);
    return page.locator("[data-testid=row]").allInnerTexts();
  };
  const base = await score();
  await adapt(page, "tone.gguf", beside("adapter"));
  await expect(panel).toContainText("Tiny random adapter (rank 4)");
  await expect(page.getByTestId("live")).toHaveText("The adapter Tiny random adapter is applied.");
  expect(await score()).not.toEqual(base);

  // One for another base: it says so, and the one that was applied still is.
  await adapt(page, "foreign.gguf", beside("foreign"));
  const error = page.getByTestId("error");
  await expect(error).toHaveAttribute("data-code", "wrong_adapter");
  await expect(error).toContainText("foreign.gguf");
  await expect(panel).toContainText("Tiny random adapter (rank 4)");
  await press(page, "Dismiss");

  await press(page, "Remove the adapter");
  await expect(panel).not.toContainText("Tiny random adapter");
  expect(await score()).toEqual(base);

  // A model in place of an adapter, and an adapter in place of a model.
  await adapt(page, "model.gguf", tiny());
  await expect(error).toContainText("load it as a model instead");
  await choose(page, "tone.gguf", beside("adapter"));
  await expect(error).toHaveAttribute("data-code", "unsupported");
  await expect(error).toContainText("an adapter in place of a model");
});

const fetched = (gate: Gate) => gate.seen.map(({ path }) => /\/(retort\w*_bg)-.*\.wasm$/.exec(path)?.[1]).filter(Boolean);
for (const [where, prelude, file] of [
  ["knows relaxed SIMD", null, "retort_relaxed_bg"],
  ["does not know it", "WebAssembly.validate = () => false;", "retort_bg"],
  ["gets it wrong", "WebAssembly.Instance = class { exports = { f: () => -130048 } };", "retort_bg"],
] as const) {
  test(`a browser that ${where} fetches ${file} and no other wasm file`, async ({ page, gate }) => {
    test.skip(FAKE, "The stand-in engine has no wasm file.");
    if (prelude !== null) gate.workerPrelude = prelude;
    // The service worker, which keeps the file for when there is no network, has to come to the same choice.
    gate.preludeFor = /\/(?:worker-[^/]*|sw)\.js$/;
    await open(page, gate);
    await ready(page);
    await expect(page.getByTestId("requests")).toContainText("works without a network");
    expect([...new Set(fetched(gate))]).toEqual([file]);
  });
}

test("twenty models loaded one after the other take no more memory than two (P42)", async ({ page, gate }) => {
  test.skip(FAKE, "The stand-in engine has no memory of its own.");
  test.setTimeout(180_000);
  gate.workerPrelude = WATCH_HEAP;
  await open(page, gate);
  await ready(page);
  const after: number[] = [];
  for (let cycle = 0; cycle < 20; cycle += 1) {
    await choose(page, `cycle-${cycle}.gguf`, tiny());
    await expect(page.locator(".model-name")).toHaveText(`cycle-${cycle}.gguf`);
    await ready(page);
    after.push(await heapOf(page));
  }
  expect(after.slice(2)).toEqual(after.slice(2).map(() => after[1]));
});

test("the CPU can be chosen", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await page.getByLabel("CPU", { exact: true }).check({ force: true });
  await expect(page.getByTestId("backend")).toHaveAttribute("data-backend", "cpu");
  expect(gate.downloads).toHaveLength(1);
});

test("a worker that dies leaves a way out (P35)", async ({ page, gate }) => {
  gate.workerPrelude = 'addEventListener("message", (event) => { if (event.data.type === "judge") throw new Error("planted"); });';
  await open(page, gate);
  await ready(page);
  await fill(page);
  await page.getByRole("button", { name: "Judge" }).click();
  await expect(page.getByTestId("error")).toHaveAttribute("data-code", "worker_died");
  gate.workerPrelude = "";
  await press(page, "Restart the engine");
  await ready(page);
  await expect(page.getByLabel("Prompt", { exact: true })).not.toHaveValue("");
});

test("two tabs download once and both work (P41)", async ({ page, context, gate }) => {
  const second = await context.newPage();
  await Promise.all([open(page, gate), open(second, gate)]);
  await Promise.all([ready(page), ready(second)]);
  expect(gate.downloads).toHaveLength(1);
});

test("a tab that opens while another commits its download leaves that file alone (P41)", async ({ page, context, gate }) => {
  // The marker stands empty for a while, as it does for a moment in every commit.
  gate.workerPrelude = `
    const open = FileSystemFileHandle.prototype.createSyncAccessHandle;
    FileSystemFileHandle.prototype.createSyncAccessHandle = async function (...args) {
      if (this.name.endsWith(".json")) await new Promise((resolve) => setTimeout(resolve, 3000));
      return open.apply(this, args);
    };`;
  await open(page, gate);
  await expect
    .poll(() =>
      page.evaluate(async () => {
        const root = await navigator.storage.getDirectory();
        const folder = await root.getDirectoryHandle("retort-models").catch(() => null);
        if (!folder) return false;
        for await (const name of (folder as unknown as { keys(): AsyncIterable<string> }).keys()) if (name.endsWith(".json")) return true;
        return false;
      }),
    )
    .toBe(true);
  const second = await context.newPage();
  await open(second, gate);
  await Promise.all([ready(page), ready(second)]);
  expect(gate.downloads).toHaveLength(1);
});

test("deleting stored models frees the storage (P53)", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await page.getByText("Details and storage").click();
  await press(page, "Unload and delete stored models");
  await expect(page.getByText(/^Deleted [\d.]+ (B|kB|MB) from/).first()).toBeVisible();
  const left = await page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("retort-models");
    const names = [];
    for await (const name of (folder as unknown as { keys(): AsyncIterable<string> }).keys()) names.push(name);
    return names;
  });
  expect(left).toEqual([]);
  await press(page, "Load the model");
  await ready(page);
  expect(gate.downloads).toHaveLength(2);
});
