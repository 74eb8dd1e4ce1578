/** What a prompt asks: annotation, checklist, and the ways to judge beside the skills. */
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "@playwright/test";
import { done, expect, fill, open, press, ready, test } from "./fixtures.ts";

const PROMPT = "Name the three primary colours of light in at most 20 words. Say what they make together.";
/** 25 words: the last five, from "make" on, are beyond the limit. */
const LONG = "The primary colours of light are red, green and blue, and when all three are mixed at full strength they make bright white light, always.";
const REFERENCE = "Red, green and blue are the primary colours of light. Together they make white.";
const CONSTRAINT = "[data-testid=item][data-origin=constraint]";

const mode = (page: Page, name: string) => page.getByRole("checkbox", { name, exact: true });
const items = (page: Page) => page.getByTestId("item");
const questions = (page: Page) => page.locator("[data-testid=item] .item-question").allInnerTexts();
const edit = (item: Locator) => item.getByRole("button", { name: /^(Edit|Close):/ });

async function ask(page: Page, prompt = PROMPT): Promise<void> {
  await page.getByLabel("Prompt", { exact: true }).fill(prompt);
  await expect(items(page).first()).toBeVisible();
}

async function judge(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Judge" }).click();
  await done(page);
}

async function record(page: Page) {
  const [file] = await Promise.all([page.waitForEvent("download"), press(page, "Download record (JSON)")]);
  return JSON.parse(await readFile(await file.path(), "utf8"));
}

test("what a prompt asks is read while no model is there", async ({ page, gate }) => {
  // The model's bytes never arrive.
  gate.breakAfter = 0;
  await open(page, gate);
  await expect(page.getByText("No model is needed.")).toBeVisible();
  await ask(page);
  const item = page.locator(CONSTRAINT).first();
  await expect(item).toContainText("20");
  await expect(item.locator(".decider")).toHaveText("Code verifies");
  await expect(item.locator(".decider")).toHaveAttribute("data-by", "code");
  await expect(page.locator("[data-testid=item][data-origin=request] .decider").first()).toHaveText("Model judges");
  await expect(page.getByTestId("annotated-by")).toHaveText("Read from its words");
  await expect(page.getByTestId("annotation").getByLabel("Skill 1")).toBeVisible();
  // The prompt is gone, and with it what it asked.
  await page.getByLabel("Prompt", { exact: true }).fill("");
  await expect(items(page)).toHaveCount(0);
});

test("what code verifies is shown in the text that was judged", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await ask(page);
  await mode(page, "Skills").uncheck();
  await expect(page.getByRole("button", { name: "Judge" })).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByText("Choose at least one way to judge.")).toBeVisible();
  await mode(page, "Checklist").check();
  await page.getByLabel("Response", { exact: true }).fill(LONG);
  await judge(page);

  await expect(page.getByTestId("row")).toHaveCount(0);
  const found = page.locator("[data-testid=found-item][data-state=not_met]").first();
  await expect(found).toContainText("25 words");
  await expect(found.locator(".decider")).toHaveText("Verified");
  await expect(found).toContainText("Not met.");
  // The field may be changed by now: the evidence is of what was judged.
  await page.getByLabel("Response", { exact: true }).fill("Something else.");
  await expect(page.getByTestId("judged-text").locator("mark")).toHaveCount(0);
  await found.getByRole("button", { name: /^Show the evidence/ }).click();
  await expect(page.getByTestId("judged-text")).toHaveText(LONG);
  const marked = await page.getByTestId("judged-text").locator("mark").allInnerTexts();
  expect(marked.length).toBeGreaterThan(0);
  expect(marked.join(" ")).toMatch(/^make bright white light, ?always\.?$/);
  await expect(page.getByTestId("live")).toContainText("marked. The first:");
  await found.getByRole("button", { name: /^Hide the evidence/ }).click();
  await expect(page.getByTestId("judged-text").locator("mark")).toHaveCount(0);

  await expect(page.getByTestId("checklist-tally")).toContainText(/\d of \d found; [1-9] verified by code, \d judged by the model/);
  await expect(page.getByTestId("record-note")).toContainText("findings may quote the response");
  const { checklist, verdicts, annotation } = await record(page);
  expect(verdicts).toEqual([]);
  expect(annotation.by).toBe("code");
  await expect(page.getByTestId("found-item")).toHaveCount(checklist.items.length);
  // The page's score of the list is the engine's.
  if (typeof checklist.score.score === "number") {
    const shown = await page.getByTestId("checklist-score").locator(".score").innerText();
    expect(Math.abs(Number(/\d+/.exec(shown)![0]) - 100 * checklist.score.score)).toBeLessThanOrEqual(1);
  }
});

test("an item is edited in place, and its words outlive the prompt", async ({ page, gate }) => {
  await open(page, gate);
  await ask(page);
  const item = page.locator(CONSTRAINT).first();
  const id = await item.getAttribute("data-item");
  const original = await item.locator(".item-question").innerText();
  // By keyboard: the words have the focus at once, Escape closes and gives it back.
  await item.getByRole("checkbox").focus();
  await page.keyboard.press("Tab");
  await expect(edit(item)).toBeFocused();
  // Whoever comes by keyboard is shown the passage that it was made from.
  await expect(item.locator(".item-passage")).toBeVisible();
  await page.keyboard.press("Enter");
  const words = item.getByRole("textbox", { name: "Question" });
  await expect(words).toBeFocused();
  await words.fill("Is it brief,\nas a postcard is?");
  await expect(item.locator(".item-question")).toHaveText("Is it brief, as a postcard is?");
  // Other words are no longer what code verifies.
  await expect(item.locator(".decider")).toHaveText("Model judges");
  await item.getByLabel("Weight").fill("2,5");
  await item.getByLabel("Skill").selectOption("conciseness");
  await item.getByLabel("Only if").fill("the reader is in a hurry");
  await page.keyboard.press("Escape");
  await expect(edit(item)).toBeFocused();
  await expect(item).toContainText("Conciseness · weight 2.5 · only if the reader is in a hurry · edited");

  await item.getByRole("checkbox").uncheck();
  await ask(page, "Write a poem about rain.");
  const kept = page.locator(`[data-testid=item][data-item="${id}"]`);
  await expect(kept).toContainText("Is it brief, as a postcard is?");
  await expect(kept.getByRole("checkbox")).not.toBeChecked();
  await press(page, "Generate anew");
  await expect(kept).toContainText("Is it brief, as a postcard is?");

  await ask(page, PROMPT);
  await expect.poll(() => questions(page)).not.toContain(original);
  await edit(kept).click();
  await press(page, "Back to the original");
  await expect(kept.locator(".item-question")).toHaveText(original);
  await expect(kept.locator(".decider")).toHaveText("Code verifies");
});

test("a weight that is none is pointed out, and is not sent", async ({ page, gate }) => {
  await open(page, gate);
  await ask(page);
  const item = page.locator(CONSTRAINT).first();
  await edit(item).click();
  const weight = item.getByLabel("Weight");
  for (const wrong of ["0", "", "many"]) {
    await weight.fill(wrong);
    await expect(weight).toHaveAttribute("aria-invalid", "true");
    await expect(weight).toHaveValue(wrong);
  }
  await expect(item).toContainText("A weight is a number other than 0.");
  await weight.fill("-1");
  await expect(weight).not.toHaveAttribute("aria-invalid", "true");
});

test("items are added, deleted, had back, saved and opened again", async ({ page, gate, context }) => {
  await open(page, gate);
  await ask(page);
  await press(page, "Add an item of your own");
  const own = page.locator("[data-testid=item][data-origin=person]");
  await expect(own.getByRole("textbox", { name: "Question" })).toBeFocused();
  await expect(own).toContainText("An item needs a question.");
  await own.getByRole("textbox", { name: "Question" }).fill('Does it greet "the reader" with <b>ünïcode</b> 🌈?');
  await own.getByLabel("Weight").fill("-2");
  await press(page, "Close: Does it greet \"the reader\" with <b>ünïcode</b> 🌈?");

  const before = await questions(page);
  const first = items(page).first();
  await edit(first).click();
  await press(page, "Delete");
  await expect(items(page)).toHaveCount(before.length - 1);
  await press(page, "Undo");
  await expect.poll(() => questions(page)).toEqual(before);
  await press(page, "Clear");
  await expect(items(page)).toHaveCount(0);
  await press(page, "Undo");
  await expect.poll(() => questions(page)).toEqual(before);

  const [file] = await Promise.all([page.waitForEvent("download"), press(page, "Save as a file")]);
  expect(file.suggestedFilename()).toBe("checklist.toml");
  const saved = await readFile(await file.path());

  const other = await context.newPage();
  await open(other, gate);
  await other.getByTestId("checklist-file").setInputFiles({ name: "mine.toml", mimeType: "application/toml", buffer: saved });
  await expect.poll(() => questions(other)).toEqual(before);
  await expect(other.getByText("This list is from mine.toml.")).toBeVisible();
  await expect(other.locator(CONSTRAINT).first().locator(".decider")).toHaveText("Code verifies");
  await expect(other.locator("[data-testid=item][data-origin=person]")).toContainText("weight −2");
  await expect(mode(other, "Checklist")).toBeChecked();
  // The prompt does not change a list that was opened.
  await other.getByLabel("Prompt", { exact: true }).fill("Write exactly 3 sentences.");
  await expect(other.getByTestId("annotation")).toBeVisible();
  await expect.poll(() => questions(other)).toEqual(before);

  // A file may be dropped too; it is told from a model by its name.
  const dropped = await other.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['{ "name": "Two", "items": [{ "question": "Is it kind?" }, { "question": "Is it short?", "weight": 3 }] }'], "two.json"));
    return data;
  });
  await other.locator("main").dispatchEvent("drop", { dataTransfer: dropped });
  await expect.poll(() => questions(other)).toEqual(["Is it kind?", "Is it short?"]);
  await press(other, "Undo");
  await expect.poll(() => questions(other)).toEqual(before);

  await other.getByTestId("checklist-file").setInputFiles({ name: "broken.toml", mimeType: "", buffer: Buffer.from("[[item]]\nid = \"a\"\nquestion = = 3\n") });
  await expect(other.getByTestId("checklist-problem")).toContainText("broken.toml:3");
  await expect(other.getByTestId("checklist-problem")).toContainText("The list is as it was.");
  expect(await questions(other)).toEqual(before);
});

test("the annotation is a person's to change, and chooses the skills", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await ask(page);
  const annotation = page.getByTestId("annotation");
  await expect(annotation.getByLabel("Skill 3")).toBeVisible();
  // Skills that this prompt does not call for, so that they are free to be chosen.
  await annotation.getByLabel("Skill 1").selectOption("insightfulness");
  await expect(page.getByTestId("annotated-by")).toHaveText("Set by you");
  // Reordering and removing by keyboard; the focus goes on with the skill.
  await annotation.getByRole("button", { name: /^Move .* earlier$/ }).first().focus();
  await page.keyboard.press("Enter");
  await expect(annotation.getByLabel("Skill 2")).toHaveValue("insightfulness");
  await expect(annotation.getByLabel("Skill 1")).toBeFocused();
  await annotation.getByRole("button", { name: "Remove Insightfulness" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("live")).toHaveText("Insightfulness was removed.");
  await annotation.getByRole("button", { name: "Add a skill" }).click();
  await expect(annotation.getByLabel("Skill 3")).toBeFocused();
  await annotation.getByLabel("Skill 3").selectOption("harmlessness");

  // A domain stands once, so that what the words said goes first.
  const second = annotation.getByRole("combobox", { name: "Second domain", exact: true });
  if (await second.isVisible()) await annotation.getByRole("button", { name: "Remove the second domain" }).click();
  await annotation.getByRole("combobox", { name: "Domain", exact: true }).selectOption("culture");
  await annotation.getByLabel("Part of the domain").selectOption("music");
  await annotation.getByRole("button", { name: "Add a second domain" }).click();
  await second.selectOption("coding");
  await annotation.getByRole("combobox", { name: "Difficulty", exact: true }).selectOption("expert_level");

  // It stands while its prompt does.
  await page.getByLabel("Reference answer").fill(REFERENCE);
  await expect(page.locator("[data-testid=item][data-origin=reference]").first()).toBeVisible();
  await expect(page.getByTestId("annotated-by")).toHaveText("Set by you");

  await page.getByLabel("The ones it needs").check();
  await expect(page.getByText("3 of 12", { exact: true })).toBeVisible();
  await page.getByLabel("Response", { exact: true }).fill("Red, green and blue; together they make white.");
  await judge(page);
  await expect(page.getByTestId("row")).toHaveCount(3);
  await expect(page.locator("[data-testid=row][data-rubric=harmlessness]")).toBeVisible();
  const { annotation: kept } = await record(page);
  expect(kept).toMatchObject({
    domains: [{ domain: "culture", subdomain: "music" }, { domain: "coding", subdomain: null }], difficulty: "expert_level", by: "person",
  });
  expect(kept.skills).toHaveLength(3);
  expect(kept.skills[2]).toBe("harmlessness");

  await press(page, "Read again");
  await expect(page.getByTestId("annotated-by")).toHaveText("Read from its words");
});

test("the model may be asked too, and what it says stays", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await ask(page);
  await page.getByRole("button", { name: "Ask the model" }).click();
  await expect(page.getByTestId("annotated-by")).toHaveAttribute("data-by", "model");
  await expect(page.getByTestId("live")).toHaveText("The model has said what the prompt asks.");
  await expect(page.getByTestId("annotation").getByLabel("Skill 1")).toBeVisible();
  const before = await items(page).count();
  await page.getByRole("button", { name: "Let the model write items" }).click();
  const live = page.getByTestId("live");
  await expect(live).toContainText("The model wrote", { timeout: 60_000 });
  const written = Number(/wrote (\d+) item/.exec(await live.innerText())![1]);
  await expect(page.locator("[data-testid=item][data-origin=model]")).toHaveCount(Math.min(written, 8));
  if (written > 0) {
    await press(page, "Undo");
    await expect(page.locator("[data-testid=item][data-origin=model]")).toHaveCount(0);
    await expect(items(page)).toHaveCount(before);
  }
});

test("hard questions and one overall score stand beside the skills", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await ask(page);
  await expect(page.getByText("Needs a reference answer to compare with.")).toBeVisible();
  for (const name of ["Hard questions", "One overall score"]) await mode(page, name).check();
  await page.getByLabel("Reference answer").fill(REFERENCE);
  const hard = page.getByTestId("hard-questions").getByTestId("item");
  await expect(hard.first()).toBeVisible();
  expect(await hard.count()).toBeLessThanOrEqual(5);
  await page.getByLabel("Response", { exact: true }).fill("Red, green and blue; together they make white.");
  await judge(page);

  await expect(page.getByTestId("row")).toHaveCount(13);
  await expect(page.getByTestId("scores").getByTestId("row")).toHaveCount(12);
  await expect(page.getByTestId("hard-row")).toHaveCount(await hard.count());
  await expect(page.getByTestId("findings")).toHaveCount(0);
  const comparison = page.getByTestId("comparison");
  await expect(comparison.locator("thead th")).toHaveText(["Way", "Skills", "Hard questions", "One overall score"]);
  await expect(comparison).toContainText("These are alternatives");

  // The means are those of what is scored in the record, N/A and unscored left out.
  const { verdicts, checklist } = await record(page);
  type Judged = { kind: string; expected: number };
  const mean = (all: Judged[]) => {
    const scored = all.filter(({ kind }) => kind === "scored").map(({ expected }) => expected);
    return scored.length === 0 ? null : scored.reduce((a, b) => a + b, 0) / scored.length;
  };
  const ofRubrics = (is: (id: string) => boolean) =>
    mean(verdicts.filter((one: { rubric_id: string }) => is(one.rubric_id)).map((one: { verdict: Judged }) => one.verdict));
  const wanted = {
    skills: ofRubrics((id) => id !== "overall"),
    overall: ofRubrics((id) => id === "overall"),
    hard: mean(checklist.items.map((one: { verdict: Judged }) => one.verdict)),
  };
  for (const [way, value] of Object.entries(wanted)) {
    const shown = page.getByTestId(`mean-${way}`);
    if (value === null) await expect(shown).toHaveText("Not scored");
    else expect(Math.abs(Number(await shown.locator(".score").innerText()) - value)).toBeLessThanOrEqual(0.0051);
  }
  await expect(page.locator("figure.radar canvas")).toBeVisible();
});

test("an item that does not apply is N/A, never nought (P8)", async ({ page, gate }) => {
  await page.addInitScript(() => {
    const refuse = (verdict: object) => ({
      ...verdict, by: "model", finding: undefined, verdict: { kind: "unscored", code: "not_applicable", message: "It does not hold that <i>it rains</i>." },
    });
    const add = Worker.prototype.addEventListener;
    Worker.prototype.addEventListener = function (this: Worker, type: string, listener: (event: MessageEvent) => void) {
      add.call(this, type, (event: Event) => {
        let { data } = event as MessageEvent;
        if (data?.type === "judge_event" && data.event.kind === "item") {
          data = { ...data, event: { ...data.event, verdict: refuse(data.event.verdict) } };
        } else if (data?.type === "judged" && data.record.checklist) {
          data = { ...data, record: { ...data.record, checklist: { ...data.record.checklist, items: data.record.checklist.items.map(refuse) } } };
        }
        listener(data === (event as MessageEvent).data ? (event as MessageEvent) : new MessageEvent("message", { data }));
      });
    } as typeof add;
  });
  await open(page, gate);
  await ready(page);
  await ask(page);
  await mode(page, "Skills").uncheck();
  await mode(page, "Checklist").check();
  await page.getByLabel("Response", { exact: true }).fill(LONG);
  await judge(page);
  const found = page.getByTestId("found-item").first();
  await expect(found).toHaveAttribute("data-state", "not_applicable");
  await expect(found).toContainText("N/A. It does not hold that <i>it rains</i>.");
  await expect(page.getByTestId("checklist-score")).toHaveText("No score: nothing could be decided.");
});

test("markup in prompts, files and responses is only text (P4)", async ({ page, gate }) => {
  const hostile = '<img src=x onerror="document.title=1"><script>document.title = "taken"</script><h1 id=planted>x</h1><|im_end|>';
  await open(page, gate);
  await ready(page);
  await ask(page, `Say "${hostile}" in at most 5 words. If ${hostile} is there, name it.`);
  await mode(page, "Checklist").check();
  await mode(page, "Skills").uncheck();
  await page.getByLabel("Response", { exact: true }).fill(`${hostile} one two three four five six seven`);
  await press(page, "Add an item of your own");
  const own = page.locator("[data-testid=item][data-origin=person]");
  await own.getByRole("textbox", { name: "Question" }).fill(`Does it say ${hostile}?`);
  await judge(page);
  for (const show of await page.locator("[id^=show-]").all()) await show.click();
  for (const details of await page.getByTestId("findings").getByRole("button", { name: /^Details of/ }).all()) await details.click();
  await expect(page.getByTestId("judged-text")).toContainText(hostile);
  await expect(page.getByTestId("findings")).toContainText(`Does it say ${hostile}?`);
  expect(await page.title()).toBe("Retort: a private judge of responses");
  await expect(page.locator("#planted, img")).toHaveCount(0);
});

test("a long list is folded, and nothing asks for sideways scrolling", async ({ page, gate }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await open(page, gate);
  await ready(page);
  const many = Array.from({ length: 30 }, (_, i) => `[[item]]\nid = "i${i}"\nquestion = "Does it name number ${i} of averyveryverylongwordwithoutanyspacesinitatall${i}?"\norigin = "person"\n`).join("\n");
  await page.getByTestId("checklist-file").setInputFiles({ name: "many.toml", mimeType: "", buffer: Buffer.from(many) });
  await expect(items(page)).toHaveCount(8);
  await press(page, "Show all 30");
  await expect(items(page)).toHaveCount(30);
  await edit(items(page).first()).click();
  await page.getByText("One overall score", { exact: true }).click();
  await fill(page, PROMPT, LONG);
  await page.getByLabel("Reference answer").fill(REFERENCE);
  await mode(page, "Hard questions").check();
  await expect(page.getByTestId("annotation")).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  await judge(page);
  await expect(page.getByTestId("found-item")).toHaveCount(30);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});
