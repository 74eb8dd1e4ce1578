/** Getting a model: cache, interruptions, missing storage, files of one's own, and what can go wrong. */
import { readFileSync } from "node:fs";
import { done, expect, fill, open, press, ready, test } from "./fixtures.ts";
import { TINY_MODEL } from "./servers.ts";

/** A valid small model; the stand-in engine accepts anything that begins like one. */
const tiny = (): Buffer => (TINY_MODEL === null ? Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(400_000, 1)]) : readFileSync(TINY_MODEL));
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

const choose = (page: import("@playwright/test").Page, name: string, buffer: Buffer) =>
  page.locator(".model input[type=file]").setInputFiles({ name, mimeType: "application/octet-stream", buffer });

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
