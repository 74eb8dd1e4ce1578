import { readFile } from "node:fs/promises";
import { expect, expectAccessible, open, press, test } from "./fixtures.ts";
import type { Page } from "@playwright/test";

/** Fourteen rated responses to seven prompts. */
const ROWS = Array.from({ length: 14 }, (_, i) => ({
  prompt: `Name an animal that begins with the letter ${"ABCDEFG"[i >> 1]}.`,
  response: i % 2 === 0 ? `One is the ${["ant", "bear", "cat", "dog", "eel", "fox", "goat"][i >> 1]}.` : "I would rather speak of something else.",
  human: i % 2 === 0 ? 4 + (i % 4) / 2 : 1,
}));

async function openScreen(page: Page, gate: Parameters<typeof open>[1]): Promise<void> {
  await open(page, gate);
  await page.getByRole("link", { name: "Your labels", exact: true }).click();
  await expect(page.getByTestId("strip")).toHaveAttribute("data-phase", "ready", { timeout: 120_000 });
}

async function takeFile(page: Page, rows = ROWS): Promise<void> {
  const file = { name: "rated.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n")) };
  await page.getByTestId("calibrate-file").setInputFiles(file);
  await expect(page.getByTestId("calibrate-mapping")).toContainText(`rated.jsonl: ${rows.length} rows`);
  await press(page, "Take these rows");
}

test("labels from a file are fitted, saved, exported, deleted and imported again; a reload loses nothing", async ({ page, gate }) => {
  await openScreen(page, gate);
  await takeFile(page);
  await expect(page.getByTestId("calibrate-rated")).toHaveText("14 of 14 rated");
  await press(page, "Read and fit");
  const outcome = page.getByTestId("calibrate-outcome");
  await expect(outcome).toBeVisible({ timeout: 60_000 });
  await expect(outcome).toContainText("14 labels of 7 prompts");
  await expect(outcome).toContainText("Spearman’s rank correlation");
  // Whether it helped is said either way, never left open.
  await expect(outcome.locator("[data-helps]")).toHaveText(/^(Yes|Not so)/);
  await press(page, "Save the readout");
  await expect(page.getByText("Give it a name.")).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("Animals");
  await press(page, "Save the readout");
  const saved = page.getByTestId("calibrate-saved");
  await expect(saved).toContainText("for the loaded model");
  const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Export “Animals”")]);
  const content = await readFile((await download.path())!, "utf8");
  expect(JSON.parse(content)).toMatchObject({ format: "retort.own-readout/1", name: "Animals", readout: { n: 14, groups: 7 } });
  // A readout holds numbers only.
  expect(content).not.toContain("letter A");

  await page.reload();
  await expect(page.getByTestId("calibrate-rated")).toHaveText("14 of 14 rated");
  await press(page, "Delete “Animals”");
  await expect(saved).toBeHidden();
  await page.getByTestId("calibrate-import").setInputFiles({ name: "a.json", mimeType: "application/json", buffer: Buffer.from(content.replace('"retort.readout/1"', '"other"')) });
  await expect(page.getByText(/a\.json is no readout/)).toBeVisible();
  await page.getByTestId("calibrate-import").setInputFiles({ name: "b.json", mimeType: "application/json", buffer: Buffer.from(content) });
  await expect(saved).toContainText("Animals");
});

test("responses are added and rated by keyboard alone; too few labels are not fitted", async ({ page, gate }) => {
  await openScreen(page, gate);
  await page.getByLabel("Prompt", { exact: true }).last().focus();
  for (const [prompt, response] of [["What is two and two?", "Four."], [null, "Five."], [null, "<b>Four</b>"]] as const) {
    if (prompt !== null) {
      await page.keyboard.type(prompt);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.type(response);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
  }
  await expect(page.getByTestId("calibrate-rated")).toHaveText("0 of 3 rated");
  const box = page.getByTestId("calibrate-box");
  await box.focus();
  await page.keyboard.press("p");
  await page.keyboard.press("p");
  await page.keyboard.press("5");
  await expect(page.getByTestId("live")).toHaveText("Rated 5.");
  await page.keyboard.press("1");
  // Beyond the scale: not a label.
  await page.keyboard.press("9");
  await expect(page.getByTestId("calibrate-rated")).toHaveText("2 of 3 rated");
  // Pasted markup is text (P4).
  await expect(box).toContainText("<b>Four</b>");
  await expect(page.getByTestId("calibrate-fit-note")).toContainText("2 responses have a label");
  await page.keyboard.press("Delete");
  await expect(page.getByTestId("calibrate-rated")).toHaveText("2 of 2 rated");
});

test("cancelling keeps what was read", async ({ page, gate }) => {
  await openScreen(page, gate);
  // So many that no machine is done with them before the press.
  await takeFile(page, Array.from({ length: 5 }, (_, round) => ROWS.map((row) => ({ ...row, response: `${row.response} (${round})` }))).flat());
  await press(page, "Read and fit");
  await expect(page.getByTestId("calibrate-fit-note")).toContainText(/reads response ([3-9]|\d\d) of 70/, { timeout: 60_000 });
  await press(page, "Cancel");
  await expect(page.getByTestId("calibrate-fit-note")).toHaveText("Cancelled. What was read is kept.");
  await press(page, "Read and fit");
  await expect(page.getByTestId("calibrate-fit-note")).toContainText(/of ([1-9]|[1-5]\d|6[0-8])\./);
  await expect(page.getByTestId("calibrate-outcome")).toBeVisible({ timeout: 60_000 });
});

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });
    test("axe finds nothing serious on own labels", async ({ page, gate }) => {
      await openScreen(page, gate);
      await takeFile(page);
      await press(page, "Read and fit");
      await expect(page.getByTestId("calibrate-outcome")).toBeVisible({ timeout: 60_000 });
      await expectAccessible(page);
      await page.setViewportSize({ width: 320, height: 700 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    });
  });
}
