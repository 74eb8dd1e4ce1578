import { done, expect, expectAccessible, fill, open, ready, test } from "./fixtures.ts";

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    const check = async (page: import("@playwright/test").Page) => {
      await expectAccessible(page);
    };

    test("axe finds nothing serious on the idle page", async ({ page, gate }) => {
      await open(page, gate);
      await ready(page);
      await page.getByText("Add a rubric of your own").click();
      await page.getByText("Details and storage").click();
      await check(page);
    });

    test.describe("of a model with adapters", () => {
      test.use({ model: "adapted" });
      test("axe finds nothing serious on the choice of an adapter, and on one that cannot be had", async ({ page, gate }) => {
        await open(page, gate);
        await ready(page);
        await check(page);
        gate.corrupt = /adapter-2\.gguf$|mood\.gguf$/;
        await page.getByTestId("adapter").getByRole("radio", { name: "Mood" }).click();
        await expect(page.getByTestId("error")).toBeVisible();
        await check(page);
      });
    });

    test("axe finds nothing serious on what a prompt asks, and on its findings", async ({ page, gate }) => {
      await open(page, gate);
      await ready(page);
      await fill(page, "Explain in at most 20 words why the sky is blue. If it is not blue, say so.", "The sky is blue because air scatters blue light more than red light. ".repeat(3));
      await page.getByLabel("Reference answer").fill("Air scatters blue light more than red.");
      for (const name of ["Checklist", "Hard questions", "One overall score"]) await page.getByRole("checkbox", { name, exact: true }).check();
      await expect(page.getByTestId("hard-questions")).toBeVisible();
      await page.getByTestId("asks").getByText("Why?").click();
      await page.getByTestId("item").first().getByRole("button", { name: /^Edit/ }).click();
      // Words that make it wrong, so that the complaint is looked at too.
      await page.getByTestId("item").first().getByRole("textbox", { name: "Weight" }).fill("0");
      await check(page);
      await page.getByTestId("item").first().getByRole("textbox", { name: "Weight" }).fill("1");
      await page.getByTestId("item").nth(1).getByRole("checkbox").uncheck();
      await page.getByTestId("checklist-file").setInputFiles({ name: "broken.toml", mimeType: "", buffer: Buffer.from("= =") });
      await expect(page.getByTestId("checklist-problem")).toBeVisible();
      await page.getByRole("button", { name: "Judge" }).click();
      await done(page);
      await page.getByRole("button", { name: /^Show the evidence/ }).first().click();
      await page.getByTestId("found-item").first().getByRole("button", { name: /^Details/ }).click();
      await page.getByTestId("hard-row").first().getByRole("button", { name: /^Details/ }).click();
      await check(page);
    });

    test("axe finds nothing serious on results and errors", async ({ page, gate }) => {
      await open(page, gate);
      await ready(page);
      await fill(page);
      await page.getByRole("button", { name: "Judge" }).click();
      await done(page);
      await page.getByTestId("row").first().getByRole("button").click();
      await check(page);
      await page.getByTestId("model-file").first().setInputFiles({ name: "empty.gguf", mimeType: "", buffer: Buffer.alloc(0) });
      await expect(page.getByTestId("error")).toBeVisible();
      await check(page);
    });
  });
}

/** Runs in the page: lines of text that are longer than anybody can follow, and whatever is wider than the window. */
function tooLong(): string[] {
  const blocks = [...document.querySelectorAll<HTMLElement>("[data-screen]:not([hidden]) :is(p, li, dd, figcaption), footer p")];
  const found = blocks.flatMap((block) => {
    const words = (block.textContent ?? "").trim().replaceAll(/\s+/g, " ");
    // Lists of other blocks are judged by these.
    if (words.length < 100 || block.querySelector("p, li, dd, div, button, input, select") || block.getClientRects().length === 0) return [];
    const lines = new Map<number, number>();
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      for (const { bottom, width } of range.getClientRects()) lines.set(Math.round(bottom), (lines.get(Math.round(bottom)) ?? 0) + width);
    }
    const widths = [...lines.values()];
    const longest = (words.length * Math.max(...widths)) / widths.reduce((sum, width) => sum + width, 0);
    return longest > 100 ? [`${Math.round(longest)} characters in a line: ${words.slice(0, 60)}`] : [];
  });
  const { scrollWidth } = document.documentElement;
  return scrollWidth > innerWidth ? [`${scrollWidth} pixels are wider than the window`, ...found] : found;
}

test("every screen fits from 320 pixels, as a window of 1280 has at 400 %, to 3840, and no line is too long to read", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  const screens = await page.getByRole("navigation", { name: "Screens" }).getByRole("link").all();
  expect(screens).toHaveLength(8);
  const found: Record<string, string[]> = {};
  for (const link of screens) {
    await link.click();
    const name = (await link.textContent())!;
    await expect(link).toHaveAttribute("aria-current", "page");
    await expect(page.locator("[data-screen]:not([hidden]) h2").first()).toBeVisible();
    for (const width of [3840, 320]) {
      await page.setViewportSize({ width, height: 900 });
      const wrong = await page.evaluate(tooLong);
      if (wrong.length > 0) found[`${name} at ${width}`] = wrong;
    }
  }
  expect(found).toEqual({});
});
