/**
 * Pictures of every screen with something on it, at three widths, in light and dark, for looking at and for docs/screens: no pixel test.
 * `node screens.mjs http://127.0.0.1:PORT/ [folder]`, with `cargo xtask serve` running. One session, so every model call is made once.
 */
import { mkdirSync } from "node:fs";
import { chromium } from "@playwright/test";

const [address = "http://127.0.0.1:4373/", folder = "output/screens"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const WIDTHS = [320, 900, 1440];
const PROMPT = "Explain to a twelve-year-old why the sky is blue. Use at most 60 words.";
const GOOD = "Sunlight is a mix of all colours. The air's tiny molecules bounce blue light around much more than red light, so blue reaches your eyes from every part of the sky.";
const POOR = "The sky is blue because it reflects the ocean. As everybody knows, the sky is the sky, and there are many interesting things to say about it in general.";
const rows = ["A", "B", "C", "D", "E", "F"].flatMap((letter) => [
  { instruction: `Name an animal that begins with ${letter}.`, response: { A: "Ant.", B: "Bear.", C: "Cat.", D: "Dog.", E: "Eel.", F: "Fox." }[letter], human: 5 },
  { instruction: `Name an animal that begins with ${letter}.`, response: "I would rather speak of something else.", human: 1 },
]);
const file = { name: "animals.jsonl", mimeType: "", buffer: Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n")) };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
page.setDefaultTimeout(300_000);
const link = (name) => page.getByRole("link", { name, exact: true }).first().click();
const press = (name) => page.getByRole("button", { name, exact: true }).click();
const attempt = async (what, steps) => {
  try {
    await steps();
  } catch (thrown) {
    console.error(`${what}: ${thrown.message.split("\n")[0]}`);
  }
};

await page.goto(address);
await page.getByTestId("ready").waitFor();
await attempt("judge", async () => {
  await page.getByLabel("Prompt", { exact: true }).fill(PROMPT);
  await page.getByLabel("Response", { exact: true }).fill(GOOD);
  await page.getByRole("button", { name: "Judge" }).first().click();
  await page.locator("[data-testid=standing][data-phase=done]").waitFor();
});
await attempt("compare", async () => {
  await link("Compare");
  const screen = page.locator('[data-screen="compare"]');
  await screen.getByLabel("Prompt", { exact: true }).fill(PROMPT);
  await screen.getByLabel(/^Response A/).first().fill(GOOD);
  await screen.getByLabel(/^Response B/).first().fill(POOR);
  await screen.locator("button.primary").first().click();
  await page.waitForTimeout(45_000);
});
await attempt("batch", async () => {
  await link("Batch");
  await page.locator('[data-screen="batch"] input[type=file]').first().setInputFiles(file);
  await page.locator('[data-screen="batch"] button.primary').first().waitFor();
});
await attempt("calibrate", async () => {
  await link("Your labels");
  await page.getByTestId("calibrate-file").setInputFiles(file);
  await press("Take these rows");
  await press("Read and fit");
  await page.getByTestId("calibrate-outcome").waitFor();
});
await attempt("learn", () => link("Learn"));
await attempt("rubrics", async () => {
  await link("Rubrics");
  await page.getByText("The twelve skills").click();
  await press("Copy “Readability” to edit it");
});
await attempt("history", () => link("History"));
await attempt("models", () => link("Models"));
for (const name of ["judge", "compare", "batch", "calibrate", "learn", "rubrics", "history", "models"]) {
  await page.evaluate((to) => void (location.hash = `#/${to}`), name);
  await page.waitForTimeout(600);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(250);
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
}
await browser.close();
