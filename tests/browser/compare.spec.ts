import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { expect, expectAccessible, open, press, ready, test } from "./fixtures.ts";

const PROMPT = "Name the three primary colours of light.";
const SHORT = "Red, green and blue.";
const LONG = "The primary colours of light are red, green and blue. Mixed at full strength they make white.";

const area = (page: Page, id: string) => page.getByLabel(`Response ${id}`, { exact: true });
const outcome = (page: Page) => page.getByTestId("cmp-outcome");

async function start(page: Page, gate: Parameters<typeof open>[1], prompt = PROMPT): Promise<void> {
  await open(page, gate);
  await ready(page);
  await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Compare" }).click();
  await page.locator("#cmp-prompt").fill(prompt);
  await area(page, "A").fill(SHORT);
  await area(page, "B").fill(LONG);
}

test("responses are judged alone and together, and the figures agree with what is said", async ({ page, gate }) => {
  await start(page, gate);
  await expect(page.getByTestId("cmp-chosen")).toContainText(/\d skills?: /);
  await page.locator("#cmp-prompt").focus();
  await page.keyboard.press("Control+Enter");
  await expect(outcome(page)).toHaveAttribute("data-alone", "done", { timeout: 60_000 });
  const rows = page.getByTestId("cmp-row");
  expect(await rows.count()).toBeGreaterThan(0);
  await expect(rows.first().locator("td")).toHaveCount(3);
  // The chart says nothing that the table does not (P51).
  for (const figure of await page.locator("[data-screen=compare] figure").all()) await expect(figure).toHaveAttribute("aria-hidden", "true");

  await press(page, "Show them together");
  await expect(outcome(page)).toHaveAttribute("data-together", "done", { timeout: 60_000 });
  await expect(page.getByTestId("live")).toContainText("All pairs are compared.");
  // The profiles of the same texts stay.
  await expect(outcome(page)).toHaveAttribute("data-alone", "done");
  const [file] = await Promise.all([page.waitForEvent("download"), press(page, "Download as JSON")]);
  const { alone, together } = JSON.parse(await readFile(await file.path(), "utf8"));
  expect(alone.map(({ response }: { response: string }) => response)).toEqual(["A", "B"]);
  expect(together.format).toBe("retort.comparison/1");
  const [{ verdict, shown }] = together.pairs;
  const pair = page.getByTestId("cmp-pair");
  await expect(pair).toHaveCount(1);
  // B has 93 characters, A has 20 (P20).
  expect([SHORT.length, LONG.length]).toEqual([20, 93]);
  await expect(pair).toContainText("B is longer by 73 characters");
  if (verdict.kind === "scored") {
    const flipped = shown[0].first > 0.5 !== shown[1].first > 0.5;
    await expect(pair).toHaveAttribute("data-flipped", String(flipped));
    await expect(pair.locator("td").first()).toHaveText(verdict.preferred === null ? "Tie" : ["A", "B"][verdict.preferred]!);
    await expect(pair.locator("li")).toHaveCount(2);
    const lead = page.getByTestId("cmp-lead");
    // What flips is never clear (P18).
    if (flipped || verdict.preferred === null) await expect(lead).not.toHaveAttribute("data-clear", "true");
  }
  await expectAccessible(page);

  // Another text: what is shown is of the old one, and says so.
  await area(page, "A").fill("Red, green, blue!");
  await expect(page.getByTestId("cmp-stale")).toBeVisible();
  await area(page, "A").fill(SHORT);
  await expect(page.getByTestId("cmp-stale")).toHaveCount(0);
});

test("responses are added, moved and taken away by keyboard, and nothing is lost", async ({ page, gate }) => {
  await start(page, gate);
  const ids = () => page.getByTestId("cmp-response").evaluateAll((all) => all.map((one) => one.getAttribute("data-id")));
  await press(page, "Add a response");
  await expect(area(page, "C")).toBeFocused();
  await page.keyboard.type("Yellow.");
  await page.getByRole("button", { name: "Move response C up" }).focus();
  await page.keyboard.press("Enter");
  expect(await ids()).toEqual(["A", "C", "B"]);
  await expect(page.getByTestId("live")).toContainText("Response C is now number 2.");
  await expect(page.getByRole("button", { name: "Move response C up" })).toBeFocused();
  await page.keyboard.press("Enter");
  expect(await ids()).toEqual(["C", "A", "B"]);
  // A letter belongs to its text, wherever it stands (P19).
  await expect(area(page, "A")).toHaveValue(SHORT);
  await expect(area(page, "C")).toHaveValue("Yellow.");
  await press(page, "Remove response C");
  expect(await ids()).toEqual(["A", "B"]);
  await press(page, "Bring back response C");
  expect(await ids()).toEqual(["C", "A", "B"]);
  await expect(area(page, "C")).toHaveValue("Yellow.");
  await press(page, "Add a response");
  await expect(page.getByRole("button", { name: "Add a response" })).toHaveCount(0);
  // The empty one is pointed out.
  await press(page, "Show them together");
  await expect(area(page, "D")).toBeFocused();
  await expect(area(page, "D")).toHaveAttribute("aria-invalid", "true");
  await press(page, "Remove response D");
  await expect(page.getByRole("button", { name: "Bring back response D" })).toHaveCount(0);
  // Another screen and back: everything is as it was.
  await page.getByRole("link", { name: "Learn" }).click();
  await page.getByRole("link", { name: "Compare" }).click();
  await expect(area(page, "C")).toHaveValue("Yellow.");
});

test("cancelling keeps the scores that are there", async ({ page, gate }) => {
  await start(page, gate, "Tell a long story. pace=150");
  await area(page, "A").fill("Once there was a river that ran uphill. ".repeat(30));
  await area(page, "B").fill("Once there was a hill that ran down a river. ".repeat(30));
  await page.getByRole("radio", { name: "All twelve" }).check();
  await page.evaluate(() => {
    new MutationObserver(() => {
      if (document.querySelector("[data-testid=cmp-row] .score, [data-testid=cmp-row] .no-score strong")) {
        [...document.querySelectorAll<HTMLButtonElement>("[data-screen=compare] button")].find((one) => one.textContent === "Cancel")?.click();
      }
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  await press(page, "Judge each alone");
  await expect(outcome(page)).toHaveAttribute("data-alone", "cancelled", { timeout: 60_000 });
  await expect(outcome(page)).toContainText("What was finished is kept.");
  const cells = await page.getByTestId("cmp-row").locator("td").allTextContents();
  expect(cells.filter((cell) => /^\d|^N\/A|^Not scored/.test(cell)).length).toBeGreaterThan(0);
  // The second response had no turn, so that nothing is said of who leads.
  expect(cells.filter((cell) => cell === "Not reached").length).toBeGreaterThanOrEqual(12);
  await expect(page.getByTestId("cmp-lead")).toHaveAttribute("data-lead", "none");
});

test("two texts are compared word by word, long ones too", async ({ page, gate }) => {
  await start(page, gate);
  await area(page, "A").fill("The sky is blue.\nThe grass is green.");
  await area(page, "B").fill("The sky is red.\nThe grass is green.\n<b>bold</b>");
  await press(page, "Show them together");
  await expect(outcome(page)).toHaveAttribute("data-together", "done", { timeout: 60_000 });
  await press(page, "Show the differences");
  const marked = page.getByTestId("cmp-marked");
  await expect(marked.locator("del").first()).toHaveText(/only in the first: blue end\./);
  await expect(marked.locator("ins").first()).toHaveText(/only in the second: red end\./);
  // What was pasted is text.
  await expect(marked.locator("b")).toHaveCount(0);
  await expect(marked).toContainText("<b>bold</b>");
  await expect(page.getByTestId("cmp-differ")).toContainText("1 word only in A");
  await expectAccessible(page);

  const text = (seed: number) => Array.from({ length: 8_000 }, (_, i) => `w${(i * seed) % 997}${i % 30 === 29 ? ".\n" : ""}`).join(" ");
  await area(page, "A").fill(text(7));
  await area(page, "B").fill(text(13));
  await page.evaluate(() => {
    (window as unknown as { longTasks: number[] }).longTasks = [];
    new PerformanceObserver((list) => (window as unknown as { longTasks: number[] }).longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)))).observe({ type: "longtask" });
  });
  await press(page, "Show them together");
  // Whether the model can read so much is another matter.
  await expect(outcome(page)).toHaveAttribute("data-together", /done|failed/, { timeout: 60_000 });
  await page.evaluate(() => (window as unknown as { longTasks: number[] }).longTasks.splice(0));
  await press(page, "Show the differences");
  await expect(page.getByTestId("cmp-differ")).toBeVisible({ timeout: 30_000 });
  const tasks = await page.evaluate(() => (window as unknown as { longTasks: number[] }).longTasks);
  test.info().annotations.push({ type: "long tasks in ms", description: JSON.stringify(tasks) });
  // Reported and not held: a busy machine makes every task a few times longer.
});
