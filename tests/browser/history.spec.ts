import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { expect, expectAccessible, expectAccessibleInDark, open, press, test, type Gate } from "./fixtures.ts";

/** Judges a file of so many rows, each of which goes into the history. */
async function judge(page: Page, gate: Gate, rows: number): Promise<void> {
  await open(page, gate);
  await page.getByRole("link", { name: "Batch", exact: true }).click();
  await expect(page.getByTestId("strip")).toHaveAttribute("data-phase", "ready", { timeout: 120_000 });
  const content = Array.from({ length: rows }, (_, i) => `Explain question ${i} of the sky,Answer ${i} über alles\n`).join("");
  await page.getByTestId("batch-file").setInputFiles({ name: "few.csv", mimeType: "", buffer: Buffer.from(`prompt,response\n${content}`) });
  await page.getByRole("radio", { name: "As each prompt asks" }).click({ force: true });
  await press(page, `Judge ${rows} rows`);
  await expect(page.getByTestId("batch-run")).toHaveAttribute("data-finished", "true", { timeout: 60_000 });
}

const toHistory = (page: Page) => page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "History" }).click();

test("what was judged is kept, found, carried to a file and back, and deleted", async ({ page, gate }) => {
  await judge(page, gate, 3);
  await toHistory(page);
  const rows = page.getByTestId("history-row");
  await expect(rows).toHaveCount(3);
  // Newest first.
  await expect(rows.first()).toContainText("question 2");
  await expectAccessible(page);
  await expectAccessibleInDark(page);
  await page.getByLabel("Search in the texts").fill("ÜBER 1");
  await expect(rows).toHaveCount(1);
  await rows.getByRole("link").click();
  await expect(page.getByTestId("history-entry")).toContainText("Answer 1 über alles");
  await expect(page.getByTestId("record-row").first()).toBeVisible();
  await expectAccessible(page);
  await expectAccessibleInDark(page);
  await press(page, "Delete");
  await press(page, "Yes, delete");
  await page.getByLabel("Search in the texts").fill("");
  await expect(rows).toHaveCount(2);
  const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Export all")]);
  const content = await readFile(await download.path(), "utf8");
  expect(content.trim().split("\n")).toHaveLength(2);
  await press(page, "Delete all");
  await page.keyboard.press("Escape");
  await expect(rows).toHaveCount(2);
  await press(page, "Delete all");
  await press(page, "Yes, delete");
  await expect(page.getByTestId("history-empty")).toBeVisible();
  const give = (text: string) => page.getByTestId("history-file").setInputFiles({ name: "h.jsonl", mimeType: "", buffer: Buffer.from(text) });
  await give(`${content}{"format":"retort.kept/1","id":"x"}\nnot json\n`);
  await expect(rows).toHaveCount(2);
  await expect(page.getByTestId("history-told")).toHaveText("Imported: 2 new, 0 that were there already.");
  await expect(page.getByTestId("history-faults")).toContainText("Line 3: the field \"at\"");
  await expect(page.getByTestId("history-faults")).toContainText("Line 4: not JSON");
  await give(content);
  await expect(page.getByTestId("history-told")).toHaveText("Imported: 0 new, 2 that were there already.");
  // The same file comes out again, line for line.
  const [again] = await Promise.all([page.waitForEvent("download"), press(page, "Export all")]);
  expect(await readFile(await again.path(), "utf8")).toBe(content);
});

test("another tab sees what is kept, incognito keeps nothing, and the limit is told (P53)", async ({ page, context, gate }) => {
  const other = await context.newPage();
  await other.goto(`${gate.origin}/#/history`);
  await expect(other.getByTestId("history-empty")).toBeVisible();
  await judge(page, gate, 2);
  await expect(other.getByTestId("history-row")).toHaveCount(2);
  await page.getByRole("switch", { name: "Incognito" }).click();
  await judge(page, gate, 2);
  // Remembered for the tab, over a reload; the other tab has it off.
  await expect(page.getByRole("switch", { name: "Incognito" })).toBeChecked();
  await expect(other.getByRole("switch", { name: "Incognito" })).not.toBeChecked();
  await expect(page.getByTestId("batch-unkept")).toBeVisible();
  await expect(other.getByTestId("history-row")).toHaveCount(2);
  await page.getByRole("switch", { name: "Incognito" }).click();
  // A history that has reached its limit keeps nothing more, and says so on every screen.
  await page.evaluate(() => localStorage.setItem("retort.history-limit", "100"));
  await judge(page, gate, 2);
  await expect(page.getByTestId("not-kept")).toContainText("its limit is reached");
  await toHistory(page);
  await expect(page.getByTestId("history-over")).toBeVisible();
  await expect(page.getByTestId("history-row")).toHaveCount(2);
  await press(page, "Delete the oldest 2");
  await press(page, "Yes, delete");
  await expect(page.getByTestId("history-empty")).toBeVisible();
});

test("where storage is denied the page says so and everything else works", async ({ page, gate }) => {
  await page.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException("denied by the test", "SecurityError");
    };
  });
  await judge(page, gate, 2);
  await expect(page.getByTestId("batch-unkept")).toContainText("offers no storage");
  await page.getByTestId("batch-row").first().click();
  await expect(page.getByTestId("batch-detail").getByTestId("record-row").first()).toBeVisible();
  await expect(page.getByTestId("not-kept")).toContainText("offers no storage");
  await toHistory(page);
  await expect(page.getByTestId("history-trouble")).toBeVisible();
});
