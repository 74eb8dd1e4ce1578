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
