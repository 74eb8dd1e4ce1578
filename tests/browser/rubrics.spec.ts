import { readFile } from "node:fs/promises";
import { done, expect, expectAccessible, keepRubric, open, POINTS, press, PROMPT, ready, RESPONSE, test, type Gate } from "./fixtures.ts";
import type { Page } from "@playwright/test";

async function openScreen(page: Page, gate: Gate): Promise<void> {
  await open(page, gate);
  await page.getByRole("link", { name: "Rubrics", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Rubrics and checklists" })).toBeVisible();
  // The reader is there as soon as the engine is, with or without a model.
  await expect(page.getByText("The twelve skills")).toBeVisible();
  await page.getByText("The twelve skills").click();
  await expect(page.getByTestId("rubrics-builtin").getByRole("listitem")).toHaveCount(12);
}

const editor = (page: Page) => page.getByTestId("rubrics-editor");
const source = (page: Page) => page.getByTestId("source-editor").locator(".cm-content");

test("a copy of a skill is edited in form and source, saved, compared, restored and judged with", async ({ page, gate }) => {
  await openScreen(page, gate);
  await press(page, "Copy “Readability” to edit it");
  await expect(source(page)).toContainText("Readability");
  await expect(page.getByTestId("rubrics-state")).toHaveAttribute("data-usable", "true");
  await page.getByLabel("Title", { exact: true }).fill("Plain words");
  // The form writes the source …
  await page.getByLabel("Criterion", { exact: true }).fill("Only words that a child knows.");
  await expect(source(page)).toContainText("Only words that a child knows.");
  await press(page, "Save");
  await expect(page.getByTestId("rubrics-note")).toHaveText("“Plain words” is saved.");
  await expect(page.getByTestId("rubrics-own")).toContainText("Plain words");
  // … and the source the form.
  await source(page).click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("[[[ broken\n");
  await expect(page.getByTestId("rubrics-state")).toContainText(/to mend/);
  await expect(page.getByText("The form waits until the source can be read again.")).toBeVisible();
  // Slow typing is undone in several steps.
  await expect(async () => {
    await page.keyboard.press("Control+z");
    expect(await source(page).textContent()).not.toContain("[[[");
  }).toPass();
  await expect(page.getByTestId("rubrics-state")).toHaveAttribute("data-usable", "true");
  await page.getByLabel("Criterion", { exact: true }).fill("Only words that everybody knows.");
  await expect(source(page)).toContainText("everybody");
  await press(page, "Save");
  const versions = page.getByTestId("rubrics-versions").getByRole("listitem");
  await expect(versions).toHaveCount(2);
  await versions.nth(1).getByRole("button", { name: /^Compare/ }).click();
  const difference = page.getByTestId("rubrics-difference");
  await expect(difference.locator("ins")).toContainText("everybody");
  await expect(difference.locator("del")).toContainText("a child knows");
  await versions.nth(1).getByRole("button", { name: /^Restore/ }).click();
  await expect(page.getByLabel("Criterion", { exact: true })).toHaveValue("Only words that a child knows.");

  const saved = async (format: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), press(page, `Save as ${format}`)]);
    return { name: download.suggestedFilename(), content: await readFile((await download.path())!, "utf8") };
  };
  const toml = await saved("TOML");
  expect(toml.name).toBe("Plain words.toml");
  expect(toml.content).toContain("Only words that a child knows.");
  const json = await saved("JSON");
  expect(json.name).toBe("Plain words.json");
  expect(JSON.stringify(JSON.parse(json.content))).toContain("Only words that a child knows.");

  // Another visit finds what was saved last, not what was only restored.
  await page.reload();
  await page.getByTestId("rubrics-own").getByRole("button", { name: "Plain words" }).click();
  await expect(page.getByLabel("Criterion", { exact: true })).toHaveValue("Only words that everybody knows.");
  await expect(page.getByTestId("rubrics-state")).toHaveAttribute("data-usable", "true");
  await press(page, "Use in Judge");
  const plain = page.getByRole("checkbox", { name: "Plain words", exact: true });
  await expect(plain).toBeChecked();
  await expect(page.getByRole("region", { name: "Skills", exact: true })).toContainText("13 of 13");
  await plain.uncheck();
  await expect(page.getByRole("region", { name: "Skills", exact: true })).toContainText("12 of 12");
});

test("what is kept can be chosen beside the skills, on its own scale, and what cannot be read is not chosen", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await keepRubric(page, "Points", POINTS);
  // It was in order when it was ticked; then its source is broken.
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.locator("#cmp-prompt").fill("Explain the sky.");
  for (const [i, id] of ["A", "B"].entries()) await page.getByLabel(`Response ${id}`, { exact: true }).fill(`It is ${"very ".repeat(i + 1)}blue.`);
  await expect(page.getByTestId("cmp-chosen")).toContainText(/\d skills?: /);
  await page.getByText("Choose skills").click();
  await page.getByRole("checkbox", { name: "Points", exact: true }).check();
  await expect(page.getByTestId("cmp-chosen")).toContainText(/Readability( \(custom_readability\))?\.$/);
  await press(page, "Judge each alone");
  await expect(page.getByTestId("cmp-outcome")).toHaveAttribute("data-alone", "done", { timeout: 60_000 });
  await expect(page.locator('[data-testid=cmp-row][data-rubric="custom_readability"]')).toHaveCount(1);
  // Scales of 1 to 5 and of 0 to 10 have no common axis (P17).
  await expect(page.locator("[data-screen=compare] figure.radar")).toHaveCount(0);

  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await page.getByRole("checkbox", { name: "Points", exact: true }).check();
  await page.locator("#prompt").fill(PROMPT);
  await page.locator("#response").fill(RESPONSE);
  await page.getByRole("button", { name: "Judge", exact: true }).click();
  await done(page);
  await expect(page.locator('[data-testid=row][data-rubric="custom_readability"]')).toContainText(/of 10|Not scored/);
  await expect(page.locator('[data-testid=row][data-rubric="readability"]')).toContainText(/of 5|Not scored/);

  await page.getByRole("link", { name: "Rubrics", exact: true }).click();
  await source(page).click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("[[[ broken\n");
  await expect(page.getByTestId("rubrics-state")).toContainText(/to mend/);
  // As it stands it can be saved, in another format it cannot be written.
  await press(page, "Save as JSON");
  await expect(page.getByTestId("rubrics-note")).toContainText("It cannot be written as JSON before it can be read");
  await press(page, "Save");
  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await expect(page.getByRole("checkbox", { name: "Points", exact: true })).not.toBeChecked();
  await expect(page.getByTestId("own-rubrics").first()).toContainText("It cannot be read, so it is not chosen");
  await expect(page.getByRole("region", { name: "Skills", exact: true })).toContainText("12 of 12");
});

test("a link carries a rubric, asks before anything is kept, and says when it is damaged", async ({ page, gate, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await openScreen(page, gate);
  await press(page, "New rubric");
  await page.getByLabel("Title", { exact: true }).fill("<b>Mine</b>");
  await page.getByLabel("Name", { exact: true }).fill("Kindness");
  await expect(source(page)).toContainText("Kindness");
  await press(page, "Copy a link");
  await expect(page.getByTestId("rubrics-note")).toContainText("clipboard");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toContain("#/rubrics?r=");

  const before = gate.seen.length;
  const other = await context.newPage();
  await other.goto(link);
  const shared = other.getByTestId("rubrics-shared");
  // Markup in a title is text (P4).
  await expect(shared).toContainText("<b>Mine</b>");
  await expect(shared).toContainText("Kindness");
  await expect(other.getByText("Nothing yet.")).toBeVisible();
  // The fragment is never sent.
  expect(gate.seen.slice(before).filter(({ path }) => path.includes("r="))).toEqual([]);
  await press(other, "Open it in the editor");
  await expect(other.getByLabel("Name", { exact: true })).toHaveValue("Kindness");
  await press(other, "Save");
  await expect(other.getByTestId("rubrics-own")).toContainText("<b>Mine</b>");
  // The first tab hears of it.
  await expect(page.getByTestId("rubrics-own")).toContainText("<b>Mine</b>");

  await other.goto(`${link.slice(0, -12)}AAAA`);
  await expect(other.getByTestId("rubrics-shared")).toContainText("The link could not be opened");
});

test("files: a checklist opens as one, what is neither is refused, deleting can be undone", async ({ page, gate }) => {
  await openScreen(page, gate);
  const give = (name: string, content: string) => page.getByTestId("rubrics-file").setInputFiles({ name, mimeType: "", buffer: Buffer.from(content) });
  await give("garbage.toml", "this is = = no file");
  await expect(page.getByRole("alert").filter({ hasText: "garbage.toml" })).toBeVisible();
  await give("short.toml", '[[item]]\nid = "short"\nquestion = "Is it short?"\n');
  await expect(page.getByTestId("rubrics-state")).toContainText("1 item");
  await expect(editor(page)).toContainText("Edit “short”");
  await press(page, "Save");
  await expect(page.getByTestId("rubrics-own")).toContainText("checklist");
  await press(page, "Delete");
  await expect(page.getByTestId("rubrics-own")).toBeHidden();
  await press(page, "Undo");
  await expect(page.getByTestId("rubrics-own")).toContainText("short");
});

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });
    test("axe finds nothing serious on the editor, and the policy refuses nothing of it", async ({ page, gate }) => {
      await openScreen(page, gate);
      await press(page, "Copy “Conciseness” to edit it");
      await expect(source(page)).toContainText("Conciseness");
      await expectAccessible(page);
      await page.setViewportSize({ width: 320, height: 700 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    });
  });
}
