/** The Models screen, and the page apart on which models are downloaded. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { type Gate, done, expect, fill, open, press, ready, test, seriousOf } from "./fixtures.ts";
import { TINY_MODEL } from "./servers.ts";

// Long chains of visits: a busy machine needs several times what a free one does.
test.describe.configure({ timeout: 120_000 });

/** A valid small model; the stand-in engine accepts anything that begins like one. */
const tiny = (): Buffer => (TINY_MODEL === null ? Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(400_000, 1)]) : readFileSync(TINY_MODEL));
/** Another file of the same kind: what follows the tensors' data is read by nobody. */
const other = (): Buffer => Buffer.concat([tiny(), Buffer.alloc(64)]);
const sha = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

const screenOf = async (page: Page, gate: Gate) => {
  await page.goto(`${gate.origin}/#/models`);
  await expect(page.getByTestId("models-ready")).toBeVisible();
};
const entries = (page: Page) => page.getByTestId("models-entry");

test("what is stored is listed, loaded, and deleted one by one (P53)", async ({ page, gate }) => {
  // A device with so little memory that any model is much for it.
  await page.addInitScript("Object.defineProperty(Navigator.prototype, 'deviceMemory', { get: () => 0.0001 });");
  await screenOf(page, gate);
  await expect(entries(page)).toHaveCount(1);
  await expect(entries(page)).toContainText("loaded");
  await expect(entries(page)).toContainText("more than half of what this device reports");
  await expect(entries(page)).toContainText("Needs about");
  await expect(page.getByTestId("models-profile")).toContainText("By option probabilities");
  await expect(page.getByTestId("models-profile").locator(".note")).toHaveCount(0);
  expect(await seriousOf(page)).toEqual([]);

  // A file of one's own is read in place, so that the stored one is no longer in use, and can be loaded again.
  await page.getByTestId("models-model-file").setInputFiles({ name: "mine.gguf", mimeType: "", buffer: tiny() });
  await expect(page.getByRole("heading", { name: "Load mine.gguf?" })).toBeVisible();
  await expect(page.locator(".model-name")).not.toHaveText("mine.gguf");
  await press(page, "Load it anyway");
  await expect(page.locator(".model-name")).toHaveText("mine.gguf");
  await expect(page.getByTestId("models-ready")).toBeVisible();
  await expect(entries(page)).toHaveCount(1);
  await entries(page).getByRole("button", { name: /^Load / }).click();
  await expect(entries(page)).toContainText("loaded");
  await expect(page.locator(".model-name")).not.toHaveText("mine.gguf");
  expect(gate.downloads).toHaveLength(1);
  // It judges, on the other screen too.
  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await fill(page);
  await press(page, "Judge");
  await done(page);

  await page.getByRole("link", { name: "Models", exact: true }).click();
  await entries(page).getByRole("button", { name: /^Delete / }).click();
  await expect(entries(page)).toHaveCount(0);
  await expect(page.getByTestId("models-stored")).toContainText(/Deleted [\d.]+ (B|kB|MB)/);
  await expect(page.getByTestId("models-stored").getByRole("heading")).toBeFocused();
  // It was the loaded one, so none is loaded now.
  await expect(page.getByTestId("models-ready")).toHaveCount(0);
  const left = await page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("retort-models");
    const names = [];
    for await (const name of (folder as unknown as { keys(): AsyncIterable<string> }).keys()) names.push(name);
    return names;
  });
  expect(left).toEqual([]);
});

test("a stored file that was swapped for one of the same size is not used (P33)", async ({ page, gate, guard }) => {
  guard.allow.push(/404/);
  await screenOf(page, gate);
  await expect(entries(page)).toHaveCount(1);
  // Out of every tab, since a file that is read from cannot be written to.
  await page.goto(`${gate.origin}/favicon.svg`);
  const swap = () => page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("retort-models");
    for await (const name of (folder as unknown as { keys(): AsyncIterable<string> }).keys()) {
      if (!name.endsWith(".gguf")) continue;
      const handle = await folder.getFileHandle(name);
      const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer());
      bytes[bytes.length - 1]! ^= 1;
      const writable = await handle.createWritable();
      await writable.write(bytes);
      await writable.close();
    }
  });
  await swap();
  // The server still offers the right one, so it is fetched anew.
  await screenOf(page, gate);
  expect(gate.downloads).toHaveLength(2);

  // Under the page, while another model is loaded: choosing the stored one ends in a clear error.
  await page.getByTestId("models-model-file").setInputFiles({ name: "mine.gguf", mimeType: "", buffer: tiny() });
  await expect(page.locator(".model-name")).toHaveText("mine.gguf");
  await expect(page.getByTestId("models-ready")).toBeVisible();
  await swap();
  await entries(page).getByRole("button", { name: /^Load / }).click();
  await expect(page.getByTestId("error")).toHaveAttribute("data-code", "stored_changed");
  expect(gate.downloads).toHaveLength(2);
  await page.getByTestId("error").getByRole("button", { name: "Use the built-in model" }).click();
  await expect(page.getByTestId("models-ready")).toBeVisible();
  expect(gate.downloads).toHaveLength(3);
});

/** A stand-in for Hugging Face: the answers of its model API, and files by ranges. */
class Hub {
  readonly files = new Map<string, { bytes: Buffer; sha256?: string | null }>();
  #server: Server;
  constructor() {
    this.#server = createServer((request, response) => {
      const path = new URL(request.url ?? "/", "http://hub").pathname;
      if (path === "/hub/api/models/some/judge/revision/main") {
        const siblings = [...this.files].map(([rfilename, { bytes, sha256 }]) => ({
          rfilename, size: bytes.length, ...(sha256 !== null && { lfs: { sha256: sha256 ?? sha(bytes), size: bytes.length, pointerSize: 130 } }),
        }));
        response.writeHead(200, { "content-type": "application/json" });
        return void response.end(JSON.stringify({ sha: "0123456789".repeat(4), gated: false, cardData: { license: "apache-2.0" }, siblings: [...siblings, { rfilename: "README.md", size: 5 }] }));
      }
      const file = this.files.get(decodeURIComponent(/^\/hub\/some\/judge\/resolve\/(?:0123456789){4}\/(.+)$/.exec(path)?.[1] ?? ""));
      if (!file) return void response.writeHead(401).end();
      const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
      const { bytes } = file;
      response.writeHead(start > 0 ? 206 : 200, {
        "content-type": "application/octet-stream", "content-length": bytes.length - start,
        ...(start > 0 && { "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
      });
      response.end(bytes.subarray(start));
    });
  }
  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const shop = test.extend<{ hub: Hub }>({
  hub: async ({ gate }, use) => {
    const hub = new Hub();
    gate.hubPort = await hub.open();
    gate.preludeFor = /\/download-worker-[^/]*\.js$/;
    hub.files.set("Judge-Q4_K_M.gguf", { bytes: other() });
    await use(hub);
    await hub.close();
  },
});

const shopping = (page: Page, gate: Gate) => page.goto(`${gate.origin}/models.html?hub=hub`);
const look = async (page: Page, address: string) => {
  await page.getByLabel("Hugging Face address").fill(address);
  await page.getByRole("button", { name: "Look", exact: true }).click();
};
const running = (page: Page, phase: string) => expect(page.getByTestId("running")).toHaveAttribute("data-phase", phase);

shop("a model is downloaded on its own page, over a line that breaks, and judges on the other (P33)", async ({ page, gate, hub, guard }) => {
  guard.allow.push(/net::ERR_/);
  hub.files.set("Judge-BF16-00001-of-00002.gguf", { bytes: tiny() });
  hub.files.set("tiny-unhashed.gguf", { bytes: tiny(), sha256: null });
  await shopping(page, gate);
  await expect(page.locator("textarea")).toHaveCount(0);
  await look(page, "no address");
  await expect(page.getByTestId("own").getByRole("alert")).toContainText("owner/repo");
  await look(page, "some/judge/absent.gguf");
  await expect(page.getByTestId("file")).toHaveCount(3);
  await expect(page.getByTestId("file").filter({ hasText: "00001-of" })).toContainText("one part of several");
  await expect(page.getByTestId("file").filter({ hasText: "unhashed" })).toContainText("cannot be checked");
  await look(page, "https://huggingface.co/some/judge/blob/main/Judge-Q4_K_M.gguf");
  await expect(page.getByTestId("file")).toHaveCount(1);
  // The size is there before anything is fetched.
  await expect(page.getByTestId("file")).toContainText(sha(other()).slice(0, 12));
  expect(gate.downloads).toEqual([]);
  expect(await seriousOf(page)).toEqual([]);

  gate.breakAfter = 0.4;
  await page.getByRole("button", { name: "Download Judge-Q4_K_M.gguf" }).click();
  await running(page, "done");
  expect(gate.downloads.map(({ range }) => range)).toEqual([null, `bytes=${gate.brokeAt}-`]);
  await expect(page.getByTestId("done")).toContainText("its size and SHA-256 are right");
  await expect(page.getByTestId("stored")).toContainText("Judge-Q4_K_M.gguf");
  await expect(page.getByTestId("file")).toContainText("stored");

  await page.getByRole("link", { name: "Use it on the Models screen" }).click();
  const entry = entries(page).filter({ hasText: "Judge-Q4_K_M.gguf" });
  await expect(entry).toContainText("Licence: apache-2.0");
  await expect(page.getByTestId("models-ready")).toBeVisible();
  await entry.getByRole("button", { name: /^Load / }).click();
  await expect(entry).toContainText("loaded");
  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await fill(page);
  await press(page, "Judge");
  await done(page);
});

shop("a download is paused, resumed at the next visit, and cancelled", async ({ page, gate, hub, guard }) => {
  guard.allow.push(/net::ERR_/);
  hub.files.set("Judge-Q4_K_M.gguf", { bytes: other() });
  gate.breakAfter = 0.5;
  gate.refuse = true;
  await shopping(page, gate);
  await look(page, "some/judge");
  await page.getByRole("button", { name: "Download Judge-Q4_K_M.gguf" }).click();
  // The line is dead and the page tries again in vain.
  await expect.poll(() => gate.downloads.length).toBeGreaterThan(1);
  await page.getByRole("button", { name: "Pause" }).click();
  await running(page, "paused");
  await page.reload();
  gate.refuse = false;
  gate.seen.length = 0;
  await expect(page.getByTestId("stored")).toContainText("Unfinished download");
  await look(page, "some/judge");
  await page.getByRole("button", { name: "Resume Judge-Q4_K_M.gguf" }).click();
  await running(page, "done");
  expect(gate.downloads.map(({ range }) => range)).toEqual([`bytes=${gate.brokeAt}-`]);

  await page.getByTestId("stored").getByRole("button", { name: /^Delete / }).click();
  await expect(page.getByTestId("stored")).toHaveCount(0);
  gate.breakAfter = 0.5;
  gate.refuse = true;
  await page.getByRole("button", { name: "Download Judge-Q4_K_M.gguf" }).click();
  await expect.poll(() => gate.downloads.length).toBeGreaterThan(2);
  await page.getByRole("button", { name: "Cancel and delete" }).click();
  await expect(page.getByTestId("running")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Download Judge-Q4_K_M.gguf" })).toBeEnabled();
  await expect(page.getByTestId("stored")).toHaveCount(0);
});

shop("a file that is not what was promised, and storage that is full or denied, are said and store nothing (P33, P34)", async ({ page, context, gate, hub }) => {
  hub.files.set("Judge-Q4_K_M.gguf", { bytes: other(), sha256: "0".repeat(64) });
  await shopping(page, gate);
  await look(page, "some/judge");
  await page.getByRole("button", { name: "Download Judge-Q4_K_M.gguf" }).click();
  await running(page, "failed");
  await expect(page.getByTestId("failure")).toHaveAttribute("data-code", "hash_mismatch");
  const finished = () => page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("retort-models", { create: true });
    const names = [];
    for await (const name of (folder as unknown as { keys(): AsyncIterable<string> }).keys()) names.push(name);
    return names.filter((name) => !name.endsWith(".part"));
  });
  expect(await finished()).toEqual([]);

  hub.files.set("Judge-Q4_K_M.gguf", { bytes: other() });
  gate.workerPrelude = `
    const write = FileSystemSyncAccessHandle.prototype.write;
    FileSystemSyncAccessHandle.prototype.write = function (bytes, options) {
      if ((options?.at ?? 0) + bytes.byteLength > 50000) throw new DOMException("full", "QuotaExceededError");
      return write.call(this, bytes, options);
    };`;
  await shopping(page, gate);
  await page.reload();
  await look(page, "some/judge");
  await page.getByRole("button", { name: /^(Download|Resume) Judge-Q4_K_M.gguf/ }).click();
  await expect(page.getByTestId("failure")).toHaveAttribute("data-code", "storage_full");
  expect(await finished()).toEqual([]);

  const denied = "StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('denied', 'SecurityError'));";
  gate.workerPrelude = denied;
  const second = await context.newPage();
  await second.addInitScript(denied);
  await shopping(second, gate);
  await expect(second.getByTestId("no-storage")).toContainText("private window");
  await look(second, "some/judge");
  await second.getByRole("button", { name: "Download Judge-Q4_K_M.gguf" }).click();
  await expect(second.getByTestId("failure")).toHaveAttribute("data-code", "no_storage");
});

test("only the download page may reach Hugging Face, and it nothing else", async ({ page, context, gate, guard }) => {
  guard.allow.push(/Content Security Policy/, /net::ERR_/);
  guard.tried.push("https://huggingface.co", "https://cas-bridge.xethub.hf.co", "https://example.com", "http://huggingface.co");
  await context.route(/^https?:\/\/(?!127\.)/, (route) => route.fulfill({ status: 200, headers: { "access-control-allow-origin": "*" }, body: "here" }));
  const reach = (address: string) => page.evaluate((url) => fetch(url).then((answer) => answer.text(), () => "refused"), address);
  await page.goto(`${gate.origin}/models.html`);
  await expect(page.getByTestId("preset").first()).toBeVisible();
  expect(await reach("https://huggingface.co/api/models/a/b")).toBe("here");
  expect(await reach("https://cas-bridge.xethub.hf.co/file")).toBe("here");
  expect(await reach("https://example.com/")).toBe("refused");
  expect(await reach("http://huggingface.co/")).toBe("refused");
  // A mirror on another origin is not taken from the address.
  await page.goto(`${gate.origin}/models.html?hub=https://example.com`);
  await expect(page.getByTestId("preset").first()).toBeVisible();

  await open(page, gate);
  await ready(page);
  expect(await reach("https://huggingface.co/api/models/a/b")).toBe("refused");
});
