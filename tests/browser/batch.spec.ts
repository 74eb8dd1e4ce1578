import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { expect, expectAccessible, expectAccessibleInDark, keepRubric, open, POINTS, press, test, type Gate } from "./fixtures.ts";
import { FAKE } from "./servers.ts";

async function openBatch(page: Page, gate: Gate): Promise<void> {
  await open(page, gate);
  await page.getByRole("link", { name: "Batch", exact: true }).click();
  await expect(page.getByTestId("strip")).toHaveAttribute("data-phase", "ready", { timeout: 120_000 });
}

const give = (page: Page, name: string, content: string) => page.getByTestId("batch-file").setInputFiles({ name, mimeType: "", buffer: Buffer.from(content) });

/** Rows whose prompts the stand-in takes its time for; the real engine needs none of that. */
function csvOf(rows: number, pace = 40): string {
  return `id,instruction,response,human,readability\n${Array.from({ length: rows }, (_, i) => `row-${i},Explain part ${i} of the sky. pace=${pace},Answer ${"word ".repeat(i % 7)}number ${i},${1 + (i % 5)},${1 + (i % 4)}\n`).join("")}`;
}

async function oneSkill(page: Page): Promise<void> {
  await page.getByRole("radio", { name: "Chosen" }).click({ force: true });
  const ticks = page.getByTestId("batch-setup").locator(".batch-skills input");
  await expect(ticks).toHaveCount(12);
  for (const name of await page.getByTestId("batch-setup").locator(".batch-skills label").allTextContents()) {
    if (name !== "Readability") await page.getByTestId("batch-setup").getByRole("checkbox", { name, exact: true }).uncheck();
  }
}

/** Runs in the page: takes down what is announced from now on. */
function hearLive(): void {
  const heard: string[] = ((window as unknown as { heard: string[] }).heard = []);
  const live = document.querySelector("[data-testid=live]")!;
  new MutationObserver(() => heard.push(live.textContent ?? "")).observe(live, { childList: true, characterData: true, subtree: true });
}

const run = (page: Page) => page.getByTestId("batch-run");

const doneOf = async (page: Page) => Number((await page.getByTestId("batch-done").textContent())!.split(" ")[0]);

test("a file with faults is judged, its bad rows are told, results agree with a person and are exported", async ({ page, gate }) => {
  await openBatch(page, gate);
  const rows = Array.from({ length: 6 }, (_, i) => JSON.stringify({ instruction: `Explain part ${i} of the sky.`, response: i === 3 ? "" : `Answer ${i}`, human: i % 5, "Human_Read ability": String(1 + (i % 3)) }));
  await give(page, "six.jsonl", [rows[0], "{broken", ...rows.slice(1)].join("\n"));
  await expect(page.getByTestId("batch-faults")).toContainText("Line 2");
  await expect(page.getByTestId("batch-role-prompt")).toHaveValue("instruction");
  await expect(page.getByTestId("batch-role-response")).toHaveValue("response");
  await oneSkill(page);
  await expectAccessible(page);
  await expectAccessibleInDark(page);
  await press(page, "Judge 6 rows");
  await expect(run(page)).toHaveAttribute("data-finished", "true", { timeout: 60_000 });
  await expect(run(page)).toContainText("1 could not be judged");
  // The row without a response: told, and in no mean. Its line is 5, since line 2 is the broken one.
  await page.getByRole("combobox", { name: "Show", exact: true }).selectOption("failed");
  await expect(page.getByTestId("batch-row")).toHaveCount(1);
  await page.getByTestId("batch-row").click();
  await expect(page.getByTestId("batch-detail")).toContainText("The row has no response.");
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Show", exact: true }).selectOption("all");
  // By keyboard alone: to the third row, and its record.
  await page.getByTestId("batch-row").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator('[data-place="2"]')).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("batch-detail")).toContainText("Explain part 2 of the sky.");
  await expect(page.getByTestId("batch-detail").getByTestId("record-row")).toHaveCount(1);
  await page.keyboard.press("Escape");
  // An Escape that follows an Enter before the next frame closes what the Enter has opened.
  await page.locator('[data-place="2"]').evaluate(async (row) => {
    row.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    });
    document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  });
  await expect(page.getByTestId("batch-detail")).toHaveCount(0);
  await expect(page.locator('[data-place="2"]')).toBeFocused();
  await expect(page.getByTestId("batch-means-skill")).toBeVisible();
  // The column "human" was found by its name, and that of the one skill by the skill's.
  const agreement = page.getByTestId("batch-agreement");
  await expect(agreement.getByRole("combobox")).toHaveValue("human");
  await agreement.getByText("Columns with a person’s scores").click();
  await expect(page.getByTestId("batch-human-readability").last()).toHaveValue("Human_Read ability");
  await page.evaluate(hearLive);
  await press(page, "Work out the agreement");
  // The mean, and the one skill that the file has a column of. Five of six rows have a score.
  await expect(page.getByTestId("agreement-row")).toHaveCount(2);
  await expect(page.getByTestId("agreement-row").first().getByRole("cell").nth(0)).toHaveText("5");
  await expect(page.getByTestId("agreement-row").first().getByRole("cell").nth(1)).toHaveText("1");
  await expect(page.getByTestId("agreement-reading")).toContainText("Too few pairs");
  await expect(agreement).toHaveAttribute("aria-busy", "false");
  expect(await page.evaluate(() => (window as unknown as { heard: string[] }).heard)).toContain("Working out the agreement…");
  // A person's 0 is on no scale from 1 to 5: no difference from it is told. The other column lies on it.
  await expect(page.getByTestId("agreement-row").first()).toContainText("other scale");
  await expect(page.getByTestId("agreement-row").nth(1)).toContainText("Readability with “Human_Read ability”");
  await expect(page.getByTestId("agreement-row").nth(1)).not.toContainText("other scale");
  await page.getByTestId("batch-human-readability").last().selectOption("");
  await expect(page.getByTestId("agreement-row")).toHaveCount(0);
  await page.getByTestId("batch-human-readability").last().selectOption("Human_Read ability");
  await press(page, "Work out the agreement");
  await expect(page.getByTestId("agreement-row")).toHaveCount(2);
  await expectAccessible(page);
  await expectAccessibleInDark(page);
  const [table] = await Promise.all([page.waitForEvent("download"), press(page, "Table as JSON lines")]);
  const lines = (await readFile(await table.path(), "utf8")).trim().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toHaveLength(6);
  expect(lines.map((line) => line["retort_state"])).toEqual(["judged", "judged", "judged", "failed", "judged", "judged"]);
  // No mean is no field, or null: never a number.
  expect(lines[3]!["retort_mean"] ?? null).toBeNull();
  expect(lines[3]).toMatchObject({ retort_not_scored: "The row has no response." });
  expect(Number(lines[0]!["retort_readability"])).toBeGreaterThanOrEqual(1);
  const [records] = await Promise.all([page.waitForEvent("download"), press(page, "Records as JSON lines")]);
  const written = (await readFile(await records.path(), "utf8")).trim().split("\n").map((line) => JSON.parse(line) as { format: string; line: number });
  expect(written.map(({ format }) => format)).toEqual(Array(5).fill("retort.judgement/1"));
  expect(written.map(({ line }) => line)).toEqual([1, 3, 4, 6, 7]);
});

test("a reload in mid-batch loses nothing and judges nothing twice", async ({ page, gate }) => {
  await openBatch(page, gate);
  await keepRubric(page, "Points", POINTS);
  await page.getByRole("link", { name: "Batch", exact: true }).click();
  await give(page, "thirty.csv", csvOf(30, 60));
  await oneSkill(page);
  // A rubric of one's own beside it, with the same id and another scale.
  await page.getByTestId("batch-setup").getByRole("checkbox", { name: "Points", exact: true }).check();
  await press(page, "Judge 30 rows");
  await expect.poll(() => doneOf(page), { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  await page.reload();
  await expect(run(page)).toHaveAttribute("data-phase", "idle");
  const before = await doneOf(page);
  expect(before).toBeGreaterThanOrEqual(2);
  await expect(page.getByTestId("strip")).toHaveAttribute("data-phase", "ready", { timeout: 120_000 });
  const judged = timesOf(await page.evaluate(stored));
  expect(judged).toHaveLength(before);
  // The batch has its rubrics itself: what becomes of the library is nothing to it.
  await page.getByRole("link", { name: "Rubrics", exact: true }).click();
  await page.getByTestId("rubrics-own").getByRole("button", { name: "Points", exact: true }).click();
  await press(page, "Delete");
  await page.getByRole("link", { name: "Batch", exact: true }).click();
  await press(page, "Go on");
  await expect(run(page)).toHaveAttribute("data-finished", "true", { timeout: 60_000 });
  await expect(page.getByTestId("batch-done")).toHaveText("30 of 30 rows");
  const judgedBy = rubricsOf(await page.evaluate(stored));
  expect(judgedBy.map((one) => one.split(" ")[0])).toEqual(["custom_readability", "readability"]);
  // Scores of two scales have no common mean and no common axis (P17).
  await expect(page.getByTestId("batch-scales")).toContainText("the mean is of the 1 with scores from 1 to 5");
  // A random model may give almost no probability to labels from 0 to 10: what nobody scored has no mean at all.
  const means = page.getByTestId("batch-means-skill");
  if (FAKE) await expect(means).toHaveCount(2);
  if ((await means.count()) > 1) await expect(means.nth(1)).toContainText("By skill, from 0 to 10");
  await expect(means.first()).not.toContainText("custom_readability");
  // What was judged before the reload is as it was: not judged again.
  const after = timesOf(await page.evaluate(stored));
  expect(after).toHaveLength(30);
  expect(after.slice(0, before)).toEqual(judged);
  // The file's columns are remembered, and the batch is in the list.
  await press(page, "Close");
  await expect(page.getByTestId("saved-batch")).toContainText("30 of 30 rows judged");
});

interface Stored {
  index: number;
  ms: number;
  outcome: { record: { verdicts: { rubric_id: string; rubric_sha256: string }[] } };
}

/** Runs in the page. */
function stored(): Promise<Stored[]> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("retort");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const reading = opening.result.transaction("batch_results").objectStore("batch_results").getAll();
      reading.onsuccess = () => {
        opening.result.close();
        resolve(reading.result as Stored[]);
      };
    };
  });
}

/** How long each stored row took, and which it was. */
const timesOf = (results: Stored[]) => results.map(({ index, ms }) => `${index}: ${ms}`);

/** The different rubrics that rows were judged by, each with its hash. */
const rubricsOf = (results: Stored[]) =>
  [...new Set(results.flatMap(({ outcome }) => outcome.record.verdicts.map((one) => `${one.rubric_id} ${one.rubric_sha256}`)))].sort();

test("a pause, a cancel and the death of the worker keep what was finished, and the batch goes on", async ({ page, gate }) => {
  await openBatch(page, gate);
  // So many that no machine is done with them before the last step.
  await give(page, "many.csv", csvOf(400, 200));
  await oneSkill(page);
  await press(page, "Judge 400 rows");
  await expect.poll(() => doneOf(page), { timeout: 60_000 }).toBeGreaterThanOrEqual(1);
  await press(page, "Pause");
  await expect(run(page)).toHaveAttribute("data-stop", "paused");
  const paused = await doneOf(page);
  await press(page, "Go on");
  await expect.poll(() => doneOf(page), { timeout: 60_000 }).toBeGreaterThan(paused);
  await press(page, "Cancel");
  await expect(run(page)).toHaveAttribute("data-stop", "cancelled");
  const cancelled = await doneOf(page);
  expect(cancelled).toBeLessThan(400);
  await press(page, "Go on");
  await expect.poll(() => doneOf(page), { timeout: 60_000 }).toBeGreaterThan(cancelled);
  await page.workers()[0]!.evaluate(() => void setTimeout(() => { throw new Error("killed by the test"); }));
  await expect(run(page)).toHaveAttribute("data-stop", "engine");
  await expect(run(page)).toContainText("What was finished is kept");
  const crashed = await doneOf(page);
  await press(page, "Restart the engine");
  await expect(page.getByTestId("strip")).toHaveAttribute("data-phase", "ready", { timeout: 120_000 });
  await press(page, "Go on");
  await expect.poll(() => doneOf(page), { timeout: 60_000 }).toBeGreaterThan(crashed);
});

test("of ten thousand rows few are in the document, and sorting and the keyboard reach them all", async ({ page, gate }) => {
  await openBatch(page, gate);
  await give(page, "many.csv", csvOf(10_000, 3000));
  await expect(page.getByTestId("batch-setup")).toContainText("10,000 rows", { timeout: 30_000 });
  await press(page, "Judge 10,000 rows");
  await press(page, "Cancel");
  await expect(run(page)).toHaveAttribute("data-phase", "idle", { timeout: 60_000 });
  const grid = page.getByTestId("batch-grid");
  await expect(grid).toHaveAttribute("aria-rowcount", "10001");
  expect(await page.getByTestId("batch-row").count()).toBeLessThan(60);
  await page.getByTestId("batch-row").first().focus();
  await page.keyboard.press("End");
  await expect(page.locator('[data-place="9999"]')).toBeFocused();
  await expect(page.locator('[data-place="9999"]')).toHaveAttribute("aria-rowindex", "10001");
  expect(await page.getByTestId("batch-row").count()).toBeLessThan(60);
  await grid.getByRole("button", { name: "Sort by Line" }).click();
  await expect(grid.getByRole("columnheader", { name: "Line" })).toHaveAttribute("aria-sort", "descending");
  await page.getByLabel("Search", { exact: true }).fill("part 9998 ");
  await expect(page.getByTestId("batch-row")).toHaveCount(1);
  await expect(page.getByTestId("batch-row")).toContainText("Explain part 9998");
});
