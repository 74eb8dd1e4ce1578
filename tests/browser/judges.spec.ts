/** Models that are asked otherwise than by options: judges that write, and reward models. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { done, expect, expectAccessible, expectAccessibleInDark, fill, open, press, ready, test } from "./fixtures.ts";
import { FAKE, TINY_MODEL } from "./servers.ts";

type Page = import("@playwright/test").Page;
/** The stand-in engine accepts anything that begins like a model, and takes "reward" in a name for a head. */
const bytes = (end: string): Buffer =>
  TINY_MODEL === null ? Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(400_000, 1)]) : readFileSync(TINY_MODEL.replace(/\.gguf$/, `${end}.gguf`));
const load = async (page: Page, name: string, end = "") => {
  await page.locator(".model").getByTestId("model-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: bytes(end) });
  await expect(page.locator(".model-name").first()).toHaveText(name);
  await ready(page);
};

test("a judge that writes is asked in its form; what it wrote is shown, kept, and can be chosen away", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await load(page, "prometheus-tiny.gguf");
  await page.getByRole("link", { name: "Models", exact: true }).click();
  const profile = page.getByTestId("models-profile");
  await expect(profile.getByRole("combobox")).toHaveValue("prometheus");
  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await fill(page);
  // One skill alone: each takes as long as writing takes.
  await page.getByLabel("One overall score").check();
  await page.locator("[data-mode=skills] input").uncheck();
  await press(page, "Judge");
  // What is being written is seen before the verdict is there.
  const row = page.getByTestId("overall-score").getByTestId("row");
  await expect(row.getByTestId("written")).toBeVisible();
  await done(page, 120_000);
  // A random model writes no verdict; what it wrote stands beside the reason.
  await expect(row).toHaveAttribute("data-state", FAKE ? "scored" : "unscored");
  await expect(row.getByTestId("written")).toBeVisible();
  if (!FAKE) await expect(row).toContainText(/wrote no score|stopped before/);

  await page.getByRole("link", { name: "Models", exact: true }).click();
  await profile.getByRole("combobox").selectOption("options");
  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await press(page, "Judge");
  await done(page);
  await expect(row).toHaveAttribute("data-state", "scored");
  await expect(row.getByTestId("written")).toHaveCount(0);
});

test("a reward model's head is read for one response and for several, and kept", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await load(page, "reward-tiny.gguf", "-reward");
  await fill(page);
  await press(page, "Judge");
  const card = page.getByTestId("judge-rewards");
  await expect(card).toHaveAttribute("data-phase", "done", { timeout: 60_000 });
  await expect(card.getByTestId("reward")).toHaveCount(1);
  await expect(card.getByTestId("reward")).toContainText(/-?\d+\.\d{3}/);

  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.locator("#cmp-prompt").fill("Why is the sky blue?");
  await page.getByLabel("Response A", { exact: true }).fill("Air scatters short waves most.");
  await page.getByLabel("Response B", { exact: true }).fill("It is a mirror of the sea, which is blue because fish are.");
  await press(page, "Read the model’s own score of each");
  const both = page.getByTestId("cmp-rewards");
  await expect(both).toHaveAttribute("data-phase", "done", { timeout: 60_000 });
  await expect(both.getByTestId("reward")).toHaveCount(2);
  await expect(both.getByText("highest", { exact: true })).toHaveCount(1);

  await page.getByRole("link", { name: "History", exact: true }).click();
  await page.getByRole("link", { name: /Why is the sky blue/ }).click();
  await expect(page.getByTestId("history-entry").getByTestId("reward")).toHaveCount(2);
});

/** In the worker: whoever fetches a model of the server's waits for it, until that is called off. */
const NO_MODEL_COMES = `
  const ask = self.fetch;
  self.fetch = (what, how) => (/\\.gguf$/.test(String(what))
    ? new Promise((_, reject) => how?.signal?.addEventListener("abort", () => reject(how.signal.reason)))
    : ask(what, how));`;

test("a judgement that waited for a model is refused in words when a reward model comes", async ({ page, gate }) => {
  gate.workerPrelude = NO_MODEL_COMES;
  await open(page, gate);
  await expect(page.getByRole("checkbox", { name: "Readability", exact: true })).toBeVisible();
  await fill(page);
  await press(page, "Judge");
  await expect(page.getByText("Waiting for the model. Judging starts by itself.")).toBeVisible();
  await load(page, "reward-tiny.gguf", "-reward");
  const error = page.getByTestId("error");
  await expect(error).toHaveAttribute("data-code", "only_head");
  await expect(error).toContainText("The judgement failed");
  await expect(error).toContainText("The loaded model has a head of its own and gives one number to a whole response: it cannot judge by rubrics or checklists.");
  await expect(error).toContainText("Load another model to judge by rubrics.");
  await expect(page.getByText("Waiting for the model.")).toHaveCount(0);
  // Asked again, it is asked as it can be.
  await press(page, "Judge");
  await expect(page.getByTestId("judge-rewards")).toHaveAttribute("data-phase", "done", { timeout: 60_000 });
});

const run = (page: Page) => page.getByTestId("batch-run");

/** Rows for the batch screen; of a prompt's words the stand-in alone takes the pace. */
async function giveBatch(page: Page, name: string, rows: Record<string, unknown>[]): Promise<void> {
  await page.getByRole("link", { name: "Batch", exact: true }).click();
  await page.getByTestId("batch-file").setInputFiles({ name, mimeType: "", buffer: Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join("")) });
  await expect(page.getByTestId("batch-setup")).toBeVisible();
}

const saved = async (page: Page, button: string): Promise<string[]> => {
  const [download] = await Promise.all([page.waitForEvent("download"), press(page, button)]);
  return (await readFile(await download.path(), "utf8")).trim().split("\n");
};

test("a file is judged by a reward model's head: numbers in place of scores, and no number is never 0", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await load(page, "reward-tiny.gguf", "-reward");
  // Longer than either engine's context, and nothing at all: rows 3 and 5.
  const responses = ["Air.", "It scatters blue light.", "word ".repeat(30_000), "Because of the air, which scatters short waves most.", "", "A mirror."];
  await giveBatch(page, "six.jsonl", responses.map((response, i) => ({ instruction: "Why is the sky blue?", response, human: i })));
  const setup = page.getByTestId("batch-setup");
  await expect(setup.getByTestId("batch-head")).toContainText("gives one number to a whole response");
  // What a head has no use for is not there to be set.
  await expect(setup.getByRole("radio")).toHaveCount(0);
  await expect(setup.getByRole("checkbox")).toHaveCount(1);
  await expect(setup.getByTestId("own-rubrics")).toHaveCount(0);
  await expect(setup.getByTestId("batch-role-reference")).toHaveCount(0);
  await expectAccessible(page);
  await press(page, "Judge 6 rows");
  await expect(run(page)).toHaveAttribute("data-finished", "true", { timeout: 60_000 });
  await expect(run(page)).toContainText("2 could not be judged");

  const grid = page.getByTestId("batch-grid");
  await expect(grid.getByRole("columnheader")).toHaveText(["Line ↑", "Prompt", "State", "Reward", "Person"]);
  const numbers = async () => (await grid.locator("[role=row][data-place] > :nth-child(4)").allTextContents()).map((text) => (text === "–" ? null : text));
  await expect.poll(async () => (await numbers()).length).toBe(6);
  expect((await numbers()).map((number) => number !== null && /^-?\d+\.\d{3}$/.test(number))).toEqual([true, true, false, true, false, true]);
  await grid.getByRole("button", { name: "Sort by Reward" }).click();
  await grid.getByRole("button", { name: "Sort by Reward" }).click();
  await expect(grid.getByRole("columnheader", { name: "Reward" })).toHaveAttribute("aria-sort", "descending");
  await expect(page.locator('[data-place="5"] > :nth-child(3)')).toHaveText("Not judged");
  const places = await Promise.all([0, 1, 2, 3, 4, 5].map((place) => page.locator(`[data-place="${place}"] > :nth-child(4)`).textContent()));
  const sorted = places.slice(0, 4).map(Number);
  expect(sorted).toEqual([...sorted].sort((a, b) => b - a));
  // The stand-in gives (characters - 40) / 10: 52, 23, 9 and 4 of them.
  if (FAKE) expect(sorted).toEqual([1.2, -1.7, -3.1, -3.6]);

  await page.getByRole("combobox", { name: "Show", exact: true }).selectOption("failed");
  await expect(page.getByTestId("batch-row")).toHaveCount(2);
  await page.locator('[data-batch-row="2"]').click();
  await expect(page.getByTestId("batch-detail").locator("code")).toHaveText("too_long");
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Show", exact: true }).selectOption("judged");
  await page.locator('[data-batch-row="3"]').click();
  await expect(page.getByTestId("batch-detail").getByTestId("reward")).toContainText(/-?\d+\.\d{3}/);

  const spread = page.getByTestId("batch-spread");
  await expect(page.getByTestId("batch-spread-figures")).toContainText("4 rows have a number");
  const counts = await spread.locator("tbody td").allTextContents();
  expect(counts.map(Number).reduce((sum, count) => sum + count, 0)).toBe(4);
  await expect(spread.locator("canvas")).toHaveAttribute("aria-label", /The table beside it holds the same figures/);

  await press(page, "Work out the agreement");
  const agreement = page.getByTestId("batch-agreement");
  await expect(agreement.getByTestId("agreement-row")).toHaveCount(1);
  await expect(agreement.getByTestId("agreement-row")).toContainText("Reward with “human”");
  // Four rows have both. What needs a scale is not there: no difference, no alpha, no percent.
  await expect(agreement.getByTestId("agreement-row").getByRole("cell").first()).toHaveText("4");
  await expect(agreement.getByRole("columnheader")).toHaveText(["Compared", "Pairs", "Left out", "Spearman’s ρ", "Pearson’s r", "Kendall’s τ"]);
  for (const part of [spread, grid, agreement.getByRole("table")]) await expect(part).not.toContainText("%");
  await expectAccessible(page);
  await expectAccessibleInDark(page);

  const lines = (await saved(page, "Table as JSON lines")).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map((line) => line["retort_state"])).toEqual(["judged", "judged", "failed", "judged", "failed", "judged"]);
  expect(lines.map((line) => (line["retort_reward"] ?? null) !== null)).toEqual([true, true, false, true, false, true]);
  expect(lines.map((line) => "retort_mean" in line)).not.toContain(true);
  expect(lines[4]).toMatchObject({ retort_not_scored: "The row has no response." });
  const [names] = await saved(page, "Table as CSV");
  expect(names!.split(",").slice(-3)).toEqual(["retort_reward", "retort_state", "retort_not_scored"]);
  const records = (await saved(page, "Records as JSON lines")).map((line) => JSON.parse(line) as { format: string; line: number });
  expect(records.map(({ format, line }) => [format, line])).toEqual([1, 2, 4, 6].map((line) => ["retort.reward/1", line]));

  await page.getByRole("link", { name: "History", exact: true }).click();
  await expect(page.getByRole("link", { name: /Why is the sky blue/ })).toHaveCount(4);
  await page.getByRole("link", { name: /Why is the sky blue/ }).first().click();
  await expect(page.getByTestId("history-entry").getByTestId("reward")).toHaveCount(1);
});

test("a batch of a reward model outlives a reload, goes on with that model alone, and judges nothing twice", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await load(page, "reward-tiny.gguf", "-reward");
  await giveBatch(page, "many.jsonl", Array.from({ length: 200 }, (_, i) => ({ instruction: `Explain part ${i} of the sky. pace=15`, response: `Answer ${"word ".repeat(300 + (i % 7))}number ${i}` })));
  await press(page, "Judge 200 rows");
  const count = async () => Number((await page.getByTestId("batch-done").textContent())!.split(" ")[0]);
  await expect.poll(count, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  await press(page, "Pause");
  await expect(run(page)).toHaveAttribute("data-stop", "paused");
  const paused = await count();
  await press(page, "Go on");
  await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(paused);
  await page.reload();
  await expect(run(page)).toHaveAttribute("data-phase", "idle");
  const before = await count();
  expect(before).toBeLessThan(200);
  const judged = await page.evaluate(storedRewards);
  expect(judged).toHaveLength(before);
  // The page has loaded its own model again, which has no head.
  await expect(page.getByTestId("strip")).toHaveAttribute("data-phase", "ready", { timeout: 120_000 });
  await press(page, "Go on");
  await expect(run(page)).toHaveAttribute("data-stop", "differs");
  await expect(page.getByTestId("batch-standing")).toContainText("began with another model and another way of asking");
  expect(await count()).toBe(before);
  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await load(page, "reward-tiny.gguf", "-reward");
  await page.getByRole("link", { name: "Batch", exact: true }).click();
  await press(page, "Go on");
  await expect(run(page)).toHaveAttribute("data-finished", "true", { timeout: 60_000 });
  const after = await page.evaluate(storedRewards);
  expect(after).toHaveLength(200);
  expect(after.slice(0, before)).toEqual(judged);
});

/** Runs in the page: of each kept row its place, how long it took, and what the head gave. */
function storedRewards(): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("retort");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const reading = opening.result.transaction("batch_results").objectStore("batch_results").getAll();
      reading.onsuccess = () => {
        opening.result.close();
        resolve((reading.result as { index: number; ms: number; outcome: { record: { rewards: unknown[] } } }[]).map(({ index, ms, outcome }) => [index, ms, outcome.record.rewards]));
      };
    };
  });
}

test("of a head with several outputs each has its column, its spread and its own column of a person's", async ({ page, gate }) => {
  test.skip(!FAKE, "the tiny reward model has one output");
  await open(page, gate);
  await ready(page);
  await load(page, "classifier-tiny.gguf");
  await giveBatch(page, "four.jsonl", [1, 2, 3, 4].map((i) => ({ instruction: "Why is the sky blue?", response: "word ".repeat(i), human: i, human_safe: 5 - i })));
  // Which of the three a person's one score would speak of, nobody knows.
  await expect(page.getByTestId("batch-role-human")).toHaveCount(0);
  await press(page, "Judge 4 rows");
  await expect(run(page)).toHaveAttribute("data-finished", "true", { timeout: 60_000 });
  await expect(page.getByTestId("batch-grid").getByRole("columnheader")).toHaveText(["Line ↑", "Prompt", "State", "helpful", "safe", "brief", "Person"]);
  await page.getByRole("combobox", { name: "Output", exact: true }).selectOption("brief");
  // (characters - 40) / 10 + 2 of 5 to 20 characters: -1.5 to 0.
  await expect(page.getByTestId("batch-spread-figures")).toContainText("4 rows have a number: lowest -1.500, median -0.750, mean -0.750, highest 0.000.");
  await press(page, "Work out the agreement");
  await expect(page.getByTestId("agreement-row")).toHaveCount(1);
  await expect(page.getByTestId("agreement-row")).toContainText("safe with “human_safe”");
  await expectAccessible(page);
  const [names] = await saved(page, "Table as CSV");
  expect(names!.split(",").slice(-5)).toEqual(["retort_reward_helpful", "retort_reward_safe", "retort_reward_brief", "retort_state", "retort_not_scored"]);
});
