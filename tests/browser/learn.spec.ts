/** The classroom: read, tried and answered by keyboard; with one's own texts in a link; and what axe says of it. */
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, open, press, seriousOf, test } from "./fixtures.ts";

const LESSONS = ["number", "rubric", "position", "verbosity", "checklist", "reference", "agreement", "calibration", "limits"];

const goTo = (page: Page, fragment: string) => page.evaluate((hash) => void (location.hash = hash), fragment);
const lesson = (page: Page, id: string) => expect(page.locator(`[data-testid=learn-lesson][data-lesson=${id}]`)).toBeVisible();
const ended = (page: Page, phase = "done") => expect(page.getByTestId("learn-run")).toHaveAttribute("data-phase", phase, { timeout: 60_000 });

test("the lessons are listed, opened by keyboard, and followed one after another", async ({ page, gate }) => {
  await open(page, gate);
  await goTo(page, "#/learn");
  await expect(page.getByTestId("learn-card")).toHaveCount(LESSONS.length);
  await page.getByRole("link", { name: "One number against twelve" }).focus();
  await page.keyboard.press("Enter");
  await lesson(page, "number");
  await expect(page.getByRole("heading", { level: 2, name: "One number against twelve" })).toBeFocused();
  for (const id of LESSONS.slice(1)) {
    await page.locator("a[rel=next]").press("Enter");
    await lesson(page, id);
    await expect(page.getByTestId("learn-quiz").getByRole("group")).toHaveCount(3);
  }
  await page.locator("a[rel=prev]").press("Enter");
  await lesson(page, "calibration");
  await goTo(page, "#/learn?lesson=nonsense");
  await expect(page.getByText("There is no lesson named “nonsense”.")).toBeVisible();
  await expect(page.getByTestId("learn-card")).toHaveCount(LESSONS.length);
});

test("a whole lesson: the model is waited for, scores arrive, the quiz is explained and remembered", async ({ page, gate }) => {
  await open(page, gate);
  await goTo(page, "#/learn?lesson=verbosity");
  await lesson(page, "verbosity");
  // Asked at once, ready or not.
  await press(page, "Get scores");
  await ended(page);
  const scores = page.getByTestId("learn-scores");
  await expect(scores.locator("tbody tr")).toHaveCount(5);
  // Two scores and their difference, or the reason why there is none.
  for (const cell of await scores.locator("tbody tr").first().locator("td").allTextContents()) expect(cell).toMatch(/^\d\.\d\d of 5$|^Not scored: |^[+−±]\d\.\d\d$|^–$/);
  await expect(page.getByTestId("learn-stale")).toBeHidden();
  await page.getByLabel("Short answer").fill("Six minutes.");
  await expect(page.getByTestId("learn-stale")).toBeVisible();
  await press(page, "Pad the short answer");
  await expect(page.getByLabel("Long answer")).toHaveValue(/^That is .* Six minutes\. In summary/);
  await page.getByLabel("Short answer").fill(" ");
  await press(page, "Get scores");
  await expect(page.getByLabel("Short answer")).toBeFocused();
  await expect(page.getByTestId("learn-run")).toContainText("Fill in “Short answer” first.");

  // The quiz by keyboard. The first question is left out at first.
  const groups = page.getByTestId("learn-quiz").getByRole("group");
  await groups.nth(1).getByRole("radio").first().press("Space");
  await groups.nth(2).getByRole("radio").first().press("Space");
  await page.getByRole("button", { name: "Check my answers" }).press("Enter");
  await expect(page.getByTestId("live")).toHaveText("Not answered yet: question 1.");
  await expect(groups.nth(0).getByRole("radio").first()).toBeFocused();
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  // Right, wrong (the second answer is), right: as the lesson's text has it.
  await expect(page.getByTestId("learn-quiz-result")).toHaveText("2 of 3 right.");
  await expect(page.getByTestId("learn-quiz-result")).toBeFocused();
  await expect(page.getByTestId("live")).toHaveText("2 of 3 right.");
  expect(await page.getByTestId("learn-why").evaluateAll((all) => all.map((one) => one.dataset["right"]))).toEqual(["true", "false", "true"]);
  await expect(page.getByTestId("learn-why").nth(1)).toContainText("The right answer: No: better models may both write more and say more.");

  await page.reload();
  await goTo(page, "#/learn");
  const card = page.locator("[data-testid=learn-card][data-lesson=verbosity]");
  await expect(card).toContainText("2 of 3 right");
  await press(page, "Forget my progress");
  await expect(card).toContainText("Not taken yet");
  await press(page, "Undo");
  await expect(card).toContainText("2 of 3 right");
});

test("own texts go through a link, and a damaged one opens the plain lesson", async ({ page, gate, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: gate.origin });
  await open(page, gate);
  await goTo(page, "#/learn?lesson=position");
  await page.getByLabel("Response A").fill("جواب أول 一");
  await page.getByLabel("Response B").fill("<b>second</b>");
  await press(page, "Swap A and B");
  await press(page, "Copy a link to this lesson with your texts");
  await expect(page.getByTestId("learn-shared")).toContainText("The link is in the clipboard");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toBe(page.url());
  expect(new URL(link).hash).toMatch(/^#\/learn\?lesson=position&texts=[\w-]+$/);

  const other = await context.newPage();
  await other.goto(link);
  await expect(other.getByTestId("learn-link-note")).toHaveAttribute("data-bad", "false");
  await expect(other.getByLabel("Response A")).toHaveValue("<b>second</b>");
  await expect(other.getByLabel("Response B")).toHaveValue("جواب أول 一");
  await other.close();

  await goTo(page, new URL(link).hash.slice(0, -9));
  await expect(page.getByTestId("learn-link-note")).toContainText("The link is damaged");
  // What was typed here is not taken away by a link that cannot be read.
  await expect(page.getByLabel("Response A")).toHaveValue("<b>second</b>");
  const fresh = await context.newPage();
  await fresh.goto(link.slice(0, -9));
  await expect(fresh.getByTestId("learn-link-note")).toContainText("You see the lesson with its own texts instead.");
  await expect(fresh.getByLabel("Response A")).toHaveValue(/^In autumn/);
  await fresh.close();

  // Deflate cannot shrink random letters to what a link may have.
  await page.getByLabel("Response A").evaluate((area: HTMLTextAreaElement) => {
    area.value = Array.from(crypto.getRandomValues(new Uint32Array(4000)), (n) => n.toString(36)).join(" ");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await press(page, "Copy a link to this lesson with your texts");
  await expect(page.getByTestId("learn-shared")).toContainText("at most 16,000");
});

test("comparing, checking, rating and guessing show figures; a run can be cancelled", async ({ page, gate }) => {
  // Cancel is pressed once, in the very message that brings the first score: the second of eight judgements is then never asked.
  await page.addInitScript(() => {
    const add = Worker.prototype.addEventListener;
    let pressed = false;
    Worker.prototype.addEventListener = function (this: Worker, type: string, listener: (event: MessageEvent) => void) {
      add.call(this, type, (event: Event) => {
        listener(event as MessageEvent);
        const { data } = event as MessageEvent;
        if (pressed || data?.type !== "judge_event" || data.event.kind !== "verdict") return;
        pressed = true;
        [...document.querySelectorAll("button")].find((button) => button.textContent === "Cancel")?.click();
      });
    } as typeof add;
  });
  await open(page, gate);
  await goTo(page, "#/learn?lesson=agreement");
  await press(page, "Ask the model for its ratings too");
  await ended(page, "cancelled");
  const answers = page.locator(".learn-answer");
  for (const [i, rating] of [5, 3, 5, 1].entries()) await answers.nth(i).getByRole("radio").nth(rating - 1).check();
  await expect(page.getByTestId("learn-rated")).toContainText("You have rated 4 of 8 answers.");
  const first = page.getByTestId("learn-agreement").locator("tbody tr").first();
  // You and Ada: she has 5, 3, 4, 1 for these.
  await expect(first.locator("td").nth(0)).toHaveText("4");
  await expect(first.locator("td").nth(1)).toHaveText("3 / 4");
  // By hand: 3/4 alike; chance (2·1 + 1·1 + 1·1) / 16 = 1/4; (3/4 − 1/4) / (3/4) = 2/3.
  await expect(first.locator("td").nth(2)).toHaveText("0.67");
  // What was finished when it was cancelled is kept.
  await page.getByText("All ratings").click();
  const model = page.getByTestId("learn-ratings").locator("tbody tr td:nth-child(5)");
  await expect(model.first()).toHaveText(/^\d\.\d\d$|^–$/);
  await expect(model.last()).toHaveText("–");
  await expect(first.locator("td").nth(4)).toHaveText(/^−?\d\.\d\d \(−?\d\.\d\d to −?\d\.\d\d\)$/);

  await goTo(page, "#/learn?lesson=calibration");
  for (const [i, select] of (await page.locator(".learn-statements select").all()).entries()) await select.selectOption(i % 2 === 0 ? "95" : "5");
  await press(page, "Show how I did");
  // Every other statement is true, so each guess is 0.05 away: 0.0025, shown to three decimals.
  await expect(page.getByTestId("learn-reliability")).toContainText(/truth\): 0\.00[23]\./);
  await expect(page.getByTestId("learn-own-bins").locator("tbody tr")).toHaveCount(2);
  await expect(page.getByTestId("learn-reliability")).toContainText("An invented judge (made-up data)");

  await goTo(page, "#/learn?lesson=position");
  await press(page, "Compare in both orders");
  await ended(page);
  await expect(page.getByTestId("learn-pair").locator("tbody tr").first().locator("td").first()).toHaveText(/^[<>]?\d+%$/);
  await goTo(page, "#/learn?lesson=checklist");
  await press(page, "Check the response");
  await ended(page);
  await expect(page.getByTestId("learn-items").locator("tr[data-by=code]").first()).toContainText("Code");
});

test("axe finds nothing serious on the overview and on three lessons, in light and dark, on the narrowest screen", async ({ page, gate }) => {
  // Eight passes of axe.
  test.slow();
  const here = () => new AxeBuilder({ page }).include("[data-screen=learn]");
  const check = async () => {
    await page.emulateMedia({ colorScheme: "light" });
    expect(await seriousOf(page, here())).toEqual([]);
    // Only colours differ in the dark.
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await seriousOf(page, here().withRules(["color-contrast"]))).toEqual([]);
  };
  await page.setViewportSize({ width: 320, height: 900 });
  await open(page, gate);
  await goTo(page, "#/learn");
  await expect(page.getByTestId("learn-card").first()).toBeVisible();
  await check();
  await goTo(page, "#/learn?lesson=position");
  for (const group of await page.getByTestId("learn-quiz").getByRole("group").all()) await group.getByRole("radio").nth(1).check();
  await press(page, "Check my answers");
  await press(page, "Compare in both orders");
  await ended(page);
  await check();
  await goTo(page, "#/learn?lesson=agreement");
  for (let i = 0; i < 4; i++) await page.locator(".learn-answer").nth(i).getByRole("radio").nth(i).check();
  await expect(page.getByTestId("learn-agreement")).toBeVisible();
  await check();
  await goTo(page, "#/learn?lesson=calibration");
  for (const select of await page.locator(".learn-statements select").all()) await select.selectOption("65");
  await press(page, "Show how I did");
  await expect(page.getByTestId("learn-reliability")).toBeVisible();
  await check();
  // Nothing is wider than the narrowest screen; tables scroll by themselves.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});
