/** Models that are asked otherwise than by options: judges that write, and reward models. */
import { readFileSync } from "node:fs";
import { done, expect, fill, open, press, ready, test } from "./fixtures.ts";
import { FAKE, TINY_MODEL } from "./servers.ts";

type Page = import("@playwright/test").Page;
/** The stand-in engine accepts anything that begins like a model, and takes "reward" in a name for a head. */
const bytes = (end: string): Buffer =>
  TINY_MODEL === null ? Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(400_000, 1)]) : readFileSync(TINY_MODEL.replace(/\.gguf$/, `${end}.gguf`));
const load = async (page: Page, name: string, end = "") => {
  await page.locator(".model").getByTestId("model-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: bytes(end) });
  await expect(page.locator(".model-name").first()).toHaveText(name);
  await ready(page);
};

test("a judge that writes is asked in its form; what it wrote is shown, kept, and can be chosen away", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await load(page, "prometheus-tiny.gguf");
  await page.getByRole("link", { name: "Models", exact: true }).click();
  const profile = page.getByTestId("models-profile");
  await expect(profile.getByRole("combobox")).toHaveValue("prometheus");
  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await fill(page);
  // One skill alone: each takes as long as writing takes.
  await page.getByLabel("One overall score").check();
  await page.locator("[data-mode=skills] input").uncheck();
  await press(page, "Judge");
  // What is being written is seen before the verdict is there.
  const row = page.getByTestId("overall-score").getByTestId("row");
  await expect(row.getByTestId("written")).toBeVisible();
  await done(page, 120_000);
  // A random model writes no verdict; what it wrote stands beside the reason.
  await expect(row).toHaveAttribute("data-state", FAKE ? "scored" : "unscored");
  await expect(row.getByTestId("written")).toBeVisible();
  if (!FAKE) await expect(row).toContainText(/wrote no score|stopped before/);

  await page.getByRole("link", { name: "Models", exact: true }).click();
  await profile.getByRole("combobox").selectOption("options");
  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await press(page, "Judge");
  await done(page);
  await expect(row).toHaveAttribute("data-state", "scored");
  await expect(row.getByTestId("written")).toHaveCount(0);
});

test("a reward model's head is read for one response and for several, and kept", async ({ page, gate }) => {
  await open(page, gate);
  await ready(page);
  await load(page, "reward-tiny.gguf", "-reward");
  await fill(page);
  await press(page, "Judge");
  const card = page.getByTestId("judge-rewards");
  await expect(card).toHaveAttribute("data-phase", "done", { timeout: 60_000 });
  await expect(card.getByTestId("reward")).toHaveCount(1);
  await expect(card.getByTestId("reward")).toContainText(/-?\d+\.\d{3}/);

  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.locator("#cmp-prompt").fill("Why is the sky blue?");
  await page.getByLabel("Response A", { exact: true }).fill("Air scatters short waves most.");
  await page.getByLabel("Response B", { exact: true }).fill("It is a mirror of the sea, which is blue because fish are.");
  await press(page, "Read the model’s own score of each");
  const both = page.getByTestId("cmp-rewards");
  await expect(both).toHaveAttribute("data-phase", "done", { timeout: 60_000 });
  await expect(both.getByTestId("reward")).toHaveCount(2);
  await expect(both.getByText("highest", { exact: true })).toHaveCount(1);

  await page.getByRole("link", { name: "History", exact: true }).click();
  await page.getByRole("link", { name: /Why is the sky blue/ }).click();
  await expect(page.getByTestId("history-entry").getByTestId("reward")).toHaveCount(2);
});
