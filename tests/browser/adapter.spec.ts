/** Choosing the adapter on top of the model: the default, another one, none, one of one's own, and what can go wrong. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Gate, done, expect, fill, open, press, ready, test } from "./fixtures.ts";
import { FAKE, TINY_MODEL } from "./servers.ts";

type Page = import("@playwright/test").Page;

test.use({ model: "adapted" });

/** The name of each file that was fetched, in order. */
const fetched = (gate: Gate) => gate.downloads.map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
const beside = (end: string): Buffer => (FAKE ? Buffer.alloc(5000, end) : readFileSync(TINY_MODEL!.replace(/\.gguf$/, `-${end}.gguf`)));
const adapt = (page: Page, name: string, buffer: Buffer) =>
  page.locator(".model").getByTestId("adapter-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
const choice = (page: Page, name: string) => page.getByTestId("adapter").getByRole("radio", { name, exact: true });
/** The file names differ between the engine and its stand-in. */
const TONE = FAKE ? "tone.gguf" : "tiny-adapter.gguf";
const MOOD = FAKE ? "mood.gguf" : "tiny-adapter-2.gguf";

interface Judged {
  model: { adapter: { name: string; sha256: string; strength: number } | null };
  verdicts: unknown[];
}

async function judged(page: Page): Promise<Judged> {
  await press(page, "Judge");
  await done(page);
  const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Download record (JSON)")]);
  return JSON.parse(readFileSync(await download.path(), "utf8")) as Judged;
}

test("the default adapter comes with the model; another or none is chosen, recorded and remembered", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  // The small file first, and nothing twice.
  expect(fetched(gate)).toEqual([TONE, FAKE ? "tiny.gguf" : expect.stringMatching(/\.gguf$/)]);
  await expect(choice(page, "Tone (default)")).toBeChecked();
  await expect(page.getByTestId("adapter")).toContainText("Hears the tone");
  await fill(page);
  const tone = await judged(page);
  expect(tone.model.adapter).toMatchObject({ name: "tone", strength: 1 });
  if (!FAKE) expect(tone.model.adapter?.sha256).toBe(createHash("sha256").update(beside("adapter")).digest("hex"));

  await choice(page, "Mood").check();
  await expect(page.getByTestId("live")).toContainText("is applied.");
  expect(fetched(gate)).toHaveLength(3);
  const mood = await judged(page);
  expect(mood.model.adapter?.name).toBe("mood");
  if (!FAKE) expect(mood.verdicts).not.toEqual(tone.verdicts);

  await page.reload();
  await ready(page);
  await expect(choice(page, "Mood")).toBeChecked();
  await choice(page, "None").check();
  await expect(page.getByTestId("live")).toHaveText("No adapter is applied.");
  await fill(page);
  const base = await judged(page);
  expect(base.model.adapter).toBeNull();
  if (!FAKE) expect(base.verdicts).not.toEqual(mood.verdicts);
  await page.reload();
  await ready(page);
  await expect(choice(page, "None")).toBeChecked();
  // Everything was stored: three files, each fetched once.
  expect(fetched(gate)).toHaveLength(3);
});

test("an adapter of one's own stands beside the offered ones, and is not remembered", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  const panel = page.getByTestId("adapter");
  await adapt(page, "tone", beside("adapter-2"));
  // Though it is called like an offered one.
  await expect(panel.locator(".adapter-name")).toContainText("(rank 4)");
  await expect(panel.getByRole("radio", { checked: true })).toHaveCount(0);
  // It stays with its model, wherever that runs.
  await page.getByLabel("CPU", { exact: true }).check({ force: true });
  await ready(page);
  await expect(panel.locator(".adapter-name")).toContainText("(rank 4)");
  await press(page, "Remove the adapter");
  await expect(choice(page, "None")).toBeChecked();
  await adapt(page, "mine.gguf", beside("adapter-2"));
  await expect(panel.locator(".adapter-name")).toContainText("(rank 4)");
  await page.reload();
  await ready(page);
  await expect(choice(page, "None")).toBeChecked();
});

test("a default adapter that is not what the registry names is not used, and one can go on without", async ({ page, gate }) => {
  gate.corrupt = /adapter\.gguf$|tone\.gguf$/;
  await open(page, gate);
  const error = page.getByTestId("error");
  await expect(error).toHaveAttribute("data-code", "hash_mismatch");
  await expect(error).toContainText("The adapter could not be applied");
  // The model was not fetched only to be told so.
  expect(new Set(fetched(gate))).toEqual(new Set([TONE]));
  await press(page, "Go on without an adapter");
  await ready(page);
  await expect(error).toHaveCount(0);
  await expect(choice(page, "None")).toBeChecked();
  await fill(page);
  expect((await judged(page)).model.adapter).toBeNull();

  // That was for this visit: the next one begins with the default again.
  gate.corrupt = null;
  await page.reload();
  await ready(page);
  await expect(choice(page, "Tone (default)")).toBeChecked();
});

test("another adapter that is damaged leaves the one before", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  gate.corrupt = /adapter-2\.gguf$|mood\.gguf$/;
  await choice(page, "Mood").click();
  const error = page.getByTestId("error");
  await expect(error).toHaveAttribute("data-code", "hash_mismatch");
  await expect(choice(page, "Tone (default)")).toBeChecked();
  gate.corrupt = null;
  await choice(page, "Mood").check();
  await expect(error).toHaveCount(0);
  await expect(choice(page, "Mood")).toBeChecked();
  expect(fetched(gate).filter((name) => name === MOOD).length).toBeGreaterThan(1);
});

test("a stored adapter whose bytes were changed is fetched again", async ({ page, gate, guard }) => {
  // A picture as a page makes the browser ask for a favicon.ico, which there is none of.
  guard.allow.push(/404/);
  await open(page, gate);
  await ready(page);
  await page.goto(`${gate.origin}/favicon.svg`);
  const changed = await page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("retort-models");
    const files: [string, number][] = [];
    for await (const name of (folder as unknown as { keys(): AsyncIterable<string> }).keys()) {
      if (name.endsWith(".gguf")) files.push([name, (await (await folder.getFileHandle(name)).getFile()).size]);
    }
    // The adapter is the smaller one. It keeps its size, so that only its hash can tell.
    const [name, size] = files.sort((a, b) => a[1] - b[1])[0]!;
    const writable = await (await folder.getFileHandle(name)).createWritable({ keepExistingData: true });
    await writable.write({ type: "write", position: size - 1, data: new Uint8Array([0x55]) });
    await writable.close();
    return files.length;
  });
  expect(changed).toBe(2);
  await open(page, gate);
  await ready(page);
  expect(fetched(gate).filter((name) => name === TONE)).toHaveLength(2);
  await expect(choice(page, "Tone (default)")).toBeChecked();
});
