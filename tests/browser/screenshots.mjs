/**
 * Pictures of the page in its states, at three widths, in light and dark, for looking at: not a pixel test.
 * `node screenshots.mjs http://127.0.0.1:PORT/ [folder]`, with a server running.
 */
import { mkdirSync } from "node:fs";
import { chromium } from "@playwright/test";

const [address = "http://127.0.0.1:4373/", folder = "output/screenshots"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const PROMPT = "Explain to a twelve-year-old why the sky is blue, and why sunsets are red. Use at most 120 words and no formulas.";
const RESPONSE = `Sunlight looks white, but it is a mix of all colours. When it travels through the air it bumps into tiny molecules. Blue light is bounced around much more than red light, so blue reaches your eyes from every part of the sky.

In the evening the sun stands low, and its light has to cross far more air. Most of the blue has been bounced away before it gets to you, and what is left over is orange and red.`;
const REFERENCE = "Air scatters blue light more than red. At sunset the light crosses more air, so that the blue is gone and the red remains.";

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-unsafe-webgpu"],
});
for (const width of [360, 900, 1440]) {
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ viewport: { width, height: width < 500 ? 780 : 900 }, colorScheme });
    const shoot = (state) => page.screenshot({ path: `${folder}/${state}-${width}-${colorScheme}.png`, fullPage: true });
    await page.goto(address);
    await page.getByTestId("loading").waitFor({ timeout: 5_000 }).then(() => page.waitForTimeout(120)).then(() => shoot("loading"), () => {});
    await page.getByTestId("ready").waitFor({ timeout: 120_000 });
    await shoot("idle");
    await page.getByLabel("Prompt", { exact: true }).fill(process.env.RETORT_PACE ? `${PROMPT} pace=${process.env.RETORT_PACE}` : PROMPT);
    await page.getByLabel("Response", { exact: true }).fill(RESPONSE);
    await page.getByRole("button", { name: "Judge" }).click();
    await page.locator("[data-testid=row] .score").nth(4).waitFor({ timeout: 120_000 });
    await shoot("running");
    await page.locator("[data-testid=standing][data-phase=done]").waitFor({ timeout: 300_000 });
    await page.waitForTimeout(300);
    await shoot("done");
    await page.getByLabel("Reference answer").fill(REFERENCE);
    for (const name of ["Checklist", "Hard questions", "One overall score"]) await page.getByRole("checkbox", { name, exact: true }).check();
    await page.getByTestId("hard-questions").waitFor();
    await page.getByTestId("asks").getByText("Why?").click();
    await page.getByTestId("item").first().getByRole("button", { name: /^Edit/ }).click();
    await shoot("asks");
    await page.getByRole("button", { name: "Judge" }).click();
    await page.locator("[data-testid=standing][data-phase=done]").waitFor({ timeout: 300_000 });
    await page.getByRole("button", { name: /^Show the evidence/ }).first().click();
    await page.getByTestId("found-item").nth(1).getByRole("button", { name: /^Details/ }).click();
    await page.waitForTimeout(300);
    await shoot("findings");
    // As it stands in the window, where the evidence may be fixed at its foot.
    await page.getByTestId("found-item").first().scrollIntoViewIfNeeded();
    await page.screenshot({ path: `${folder}/evidence-${width}-${colorScheme}.png` });
    await page.getByTestId("row").nth(1).getByRole("button").click();
    await page.getByText("Add a rubric of your own").click();
    await page.getByText("Details and storage").click();
    await page.getByTestId("model-file").first().setInputFiles({ name: "holiday.gguf", mimeType: "", buffer: Buffer.from("\x89PNG\r\n") });
    await page.getByTestId("error").waitFor();
    await shoot("error");
    await page.close();
  }
}
await browser.close();
