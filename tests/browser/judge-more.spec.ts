import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { done, expect, expectAccessible, fill, open, press, ready, test } from "./fixtures.ts";

const CHAT = "System: Answer in at most 30 words.\nUser: Name a river in Germany.\nAssistant: The Elbe.\nUser: Where does it begin?\nAssistant: In the Giant Mountains. It flows to the North Sea. Hamburg lies on it.";

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });

test("a pasted conversation is shown as turns, divided when asked, and comes back", async ({ page, gate }) => {
  await open(page, gate);
  await field(page, "Prompt").fill(CHAT);
  const offer = page.getByTestId("chat-offer");
  await expect(offer.getByTestId("turn")).toHaveCount(5);
  await expect(offer.getByRole("combobox", { name: "Response to judge" })).toHaveValue("4");
  await press(page, "Divide it up");
  await expect(field(page, "Prompt")).toHaveValue("User: Name a river in Germany.\n\nAssistant: The Elbe.\n\nUser: Where does it begin?");
  await expect(field(page, "Response")).toHaveValue(/^In the Giant Mountains\./);
  await expect(field(page, "Response")).toBeFocused();
  await expect(page.getByLabel("System prompt")).toHaveValue("Answer in at most 30 words.");
  // There is nothing left to decide, and the turns can still be seen.
  await expect(page.getByTestId("chat-shown")).toBeVisible();
  await expect(offer).toHaveCount(0);
  // What the system prompt asks for is looked for too.
  await expect(page.getByTestId("asks")).toContainText("30 words");

  await press(page, "Undo");
  await expect(field(page, "Prompt")).toHaveValue(CHAT);
  await expect(field(page, "Response")).toHaveValue("");
  await expect(page.getByLabel("System prompt")).toHaveValue("");
  // It was declined by undoing it.
  await page.waitForTimeout(600);
  await expect(offer).toHaveCount(0);

  // From the response's field, as messages, with another turn chosen, by keyboard.
  await field(page, "Prompt").fill("");
  const messages = JSON.stringify([{ role: "user", content: "Name two rivers." }, { role: "assistant", content: "Elbe." }, { role: "user", content: "Two!" }, { role: "assistant", content: "Elbe, Oder." }]);
  await field(page, "Response").fill(messages);
  await offer.getByRole("combobox").selectOption("1");
  await offer.getByRole("button", { name: "Divide it up" }).focus();
  await page.keyboard.press("Enter");
  await expect(field(page, "Prompt")).toHaveValue("Name two rivers.");
  await expect(field(page, "Response")).toHaveValue("Elbe.");
  await press(page, "Undo");
  await expect(field(page, "Response")).toHaveValue(messages);
});

test("the system prompt is part of what is judged, and the summary says no more than the table", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await fill(page);
  const hash = async () => {
    await page.getByRole("button", { name: "Judge" }).click();
    await done(page);
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download record (JSON)" }).click()]);
    const record = JSON.parse(await readFile(await file.path(), "utf8"));
    return record.input.prompt_sha256 as string;
  };
  const plain = await hash();
  await page.getByLabel("System prompt").fill("Answer a child.");
  const prompt = await field(page, "Prompt").inputValue();
  const withSystem = await hash();
  const sha = (text: string) => createHash("sha256").update(text).digest("hex");
  expect([plain, withSystem]).toEqual([sha(prompt), sha(`System: Answer a child.\n\nUser: ${prompt}`)]);

  const summary = page.getByTestId("summary");
  await expect(summary.locator("[data-says=alike], [data-says=extremes], [data-says=no_scores], [data-says=one_score]")).toHaveCount(1);
  await expect(summary.locator("[data-says=calibration]")).toHaveCount(await page.locator("[data-testid=row][data-state=scored]").count() > 0 ? 1 : 0);
  // Whoever has no score is named; at most four are, and the rest counted.
  const without = page.locator("[data-testid=row][data-state=unscored]");
  if (await without.count() > 0) {
    const said = await summary.locator("[data-says=unscored], [data-says=not_applicable]").allTextContents();
    const named = said.join(" ");
    expect(named).toContain((await without.first().locator(".skill-name").textContent()) ?? "?");
  }
  // The interval is within the scale, and told in words.
  for (const middle of await page.getByTestId("middle").allTextContents()) {
    const [, low, high] = /(?:between (\d) and (\d)|on (\d))$/.exec(middle) ?? [];
    expect(middle).toMatch(/middle 80% (?:between [1-5] and [1-5]|on [1-5])$/);
    if (low && high) expect(Number(low)).toBeLessThan(Number(high));
  }
});

test("sentences are left out one by one, can be cancelled, and the figures agree", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  const sentences = ["The sky is blue. ", "Air scatters blue light. ", "This one says nothing. ", "At sunset it is red."];
  await fill(page, "Why is the sky blue? pace=60", sentences.join(""));
  await press(page, "None");
  await page.getByRole("checkbox", { name: "Completeness", exact: true }).check();
  await page.getByRole("button", { name: "Judge" }).click();
  await done(page);
  await page.getByRole("button", { name: "Details of Completeness" }).click();
  const row = page.locator("[data-testid=row][data-rubric=completeness]");
  test.skip((await row.getAttribute("data-state")) !== "scored", "This model gives Completeness no score, so nothing can move.");
  const part = page.getByTestId("sentences");
  await part.getByRole("button", { name: "Which sentences move the score of Completeness?" }).click();
  await expect(part).toHaveAttribute("data-phase", "done", { timeout: 60_000 });
  const rows = part.getByTestId("moved-row");
  await expect(rows).toHaveCount(4);
  const score = Number(await row.locator(".score").textContent());
  for (const [i, cells] of (await rows.evaluateAll((all) => all.map((one) => [...one.children].map((cell) => cell.textContent ?? "")))).entries()) {
    expect(cells.at(-1)).toBe(sentences[i]!.trim());
    if (cells.length < 4) continue;
    const moved = Number(/^[+−]?[\d.]+/.exec(cells[2]!)![0].replace("−", "-"));
    // Both are rounded to two decimals, and the score of the tree may differ from the rubric's alone by 0.001.
    expect(Math.abs(score - Number(cells[1]) - moved)).toBeLessThan(0.03);
    expect(cells[2]).toContain(Math.abs(moved) < 0.045 ? "hardly" : Math.abs(moved) < 0.055 ? "" : moved > 0 ? "raises" : "lowers");
  }
  // The sign stands in the text itself.
  for (const mark of await part.locator("mark").allTextContents()) expect(mark).toMatch(/^(?:raises the score: \+|lowers the score: −)\d/);
  await expect(page.getByTestId("live")).toContainText("sentences");
  await expectAccessible(page);

  // Cancelled in the midst: what was judged stays.
  await page.evaluate(() => {
    new MutationObserver(() => {
      if (document.querySelectorAll("[data-testid=moved-row][data-state=scored]").length === 1) {
        [...document.querySelectorAll<HTMLButtonElement>("[data-testid=sentences] button")].find((one) => one.textContent === "Cancel")?.click();
      }
    }).observe(document.body, { childList: true, subtree: true, attributes: true });
  });
  await press(page, "Judge the sentences again");
  await expect(part).toHaveAttribute("data-phase", /cancelled|done/, { timeout: 60_000 });
  expect(await part.locator("[data-testid=moved-row]:not([data-state=waiting])").count()).toBeGreaterThan(0);
  if ((await part.getAttribute("data-phase")) === "cancelled") await expect(part).toContainText("What was judged is kept");
});

test("a paste of 100,000 characters stays whole, and what it costs is reported", async ({ page, gate, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, gate);
  await ready(page);
  await page.evaluate(() => {
    const seen: number[] = [];
    (window as unknown as { longTasks: number[] }).longTasks = seen;
    new PerformanceObserver((list) => seen.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
  });
  const long = "Once there was a river that ran uphill, and nobody minded, ".repeat(1700);
  expect(long.length).toBeGreaterThan(100_000);
  const taken: Record<string, number[]> = {};
  const since = async (what: string) => {
    await page.waitForTimeout(700);
    taken[what] = (await page.evaluate(() => (window as unknown as { longTasks: number[] }).longTasks.splice(0))).map(Math.round);
  };
  for (const name of ["Prompt", "Response"]) {
    await page.evaluate((value) => navigator.clipboard.writeText(value), long);
    await field(page, name).focus();
    await since(`focus ${name}`);
    await page.keyboard.press("ControlOrMeta+V");
    await expect(field(page, name)).toHaveValue(long);
    await since(`paste ${name}`);
    for (const key of ["a", "b", "c"]) await page.keyboard.press(key);
    await expect(field(page, name)).toHaveValue(`${long}abc`);
    await since(`type ${name}`);
  }
  test.info().annotations.push({ type: "long tasks in ms", description: JSON.stringify(taken) });
  // Figures are reported and not held: a busy machine makes every task a few times longer.
});

test("another judgement closes what was opened of the one before, and draws on in the same chart", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await fill(page);
  await press(page, "Judge");
  await done(page);
  await page.getByTestId("scores").getByRole("button", { name: "Details of Readability" }).click();
  await expect(page.locator("#details-readability")).toBeVisible();
  const chart = page.locator("figure.radar canvas");
  await expect(chart).toBeVisible();
  const before = await chart.elementHandle();
  const drawn = () => chart.evaluate((canvas: HTMLCanvasElement) => {
    const clear = document.createElement("canvas");
    [clear.width, clear.height] = [canvas.width, canvas.height];
    return canvas.toDataURL() !== clear.toDataURL();
  });
  await expect.poll(drawn).toBe(true);
  const run = await page.evaluate(() => document.querySelector("[data-testid=timing]")!.textContent);
  await fill(page, "Name the months of spring in order.", "March, April and May.");
  await press(page, "Judge");
  await expect.poll(() => page.evaluate(() => document.querySelector("[data-testid=timing]")?.textContent ?? null), { timeout: 60_000 }).not.toBe(run);
  await done(page);
  await expect(page.locator("#details-readability")).toBeHidden();
  // To make one takes longer than all else that is drawn of a run.
  expect(await chart.evaluate((canvas, old) => canvas === old, before)).toBe(true);
  await expect.poll(drawn).toBe(true);
});
