import AxeBuilder from "@axe-core/playwright";
import { done, expect, fill, open, ready, test } from "./fixtures.ts";

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    const check = async (page: import("@playwright/test").Page) => {
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`)).toEqual([]);
    };

    test("axe finds nothing serious on the idle page", async ({ page, gate }) => {
      await open(page, gate);
      await ready(page);
      await page.getByText("Add a rubric of your own").click();
      await page.getByText("Details and storage").click();
      await check(page);
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
