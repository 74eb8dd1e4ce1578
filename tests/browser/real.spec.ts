/** The real model in the browser gives the scores that the command line gives. */
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { WATCH_HEAP, expect, fill, heapOf, open, test } from "./fixtures.ts";
import { FAKE, REAL_MODEL } from "./servers.ts";

const PROMPT = `A rectangular garden is 12 metres long and 7 metres wide. A path one metre wide runs around it on
the outside. How large is the path, in square metres? Show how you get there, and name one thing that a gardener
should check before buying gravel for it.`;
const RESPONSE = `With the path the whole measures 14 by 9 metres, which is 126 square metres. The garden itself is
12 by 7 metres, or 84 square metres. The path is the difference: 126 − 84 = 42 square metres. Before buying
gravel, check how deep the layer must be, because the volume to order is the area times that depth.`;
/** The page and the command line may differ by no more: a browser sums in another order. */
const TOLERANCE = 0.05;

interface Verdict {
  rubric_id: string;
  verdict: { kind: "scored"; expected: number } | { kind: "unscored"; code: string };
}

const root = fileURLToPath(new URL("../..", import.meta.url));
let fromCli: Promise<Verdict[]> | null = null;

/** The command line's scores, computed once for both projects of a worker. */
function cliVerdicts(): Promise<Verdict[]> {
  fromCli ??= (async () => {
    const args = ["judge", "--prompt", PROMPT, "--response", RESPONSE, "--json", "--model", REAL_MODEL!, "--backend", "cpu"];
    const binary = process.env["RETORT_CLI"];
    const [command, all] = binary ? [binary, args] : ["cargo", ["run", "--quiet", "-p", "retort-cli", "--", ...args]];
    const { stdout } = await promisify(execFile)(command, all, { cwd: root, maxBuffer: 1 << 26 });
    return (JSON.parse(stdout) as { verdicts: Verdict[] }).verdicts;
  })();
  return fromCli;
}

test.use({ model: "real" });

test("the page's scores are the command line's", async ({ page, gate }, info) => {
  test.skip(FAKE || REAL_MODEL === null, "RETORT_TEST_MODEL does not name the real model.");
  test.setTimeout(1_200_000);
  const expected = await cliVerdicts();
  expect(expected).toHaveLength(12);
  expect(expected.some(({ verdict }) => verdict.kind === "scored")).toBe(true);

  gate.workerPrelude = WATCH_HEAP;
  await open(page, gate);
  await fill(page, PROMPT, RESPONSE);
  await expect(page.getByTestId("ready")).toBeVisible({ timeout: 300_000 });
  await expect(page.getByTestId("backend")).toHaveAttribute("data-backend", info.project.name === "webgpu" ? "gpu" : "cpu");
  await page.getByRole("button", { name: "Judge" }).click();
  await expect(page.getByTestId("standing")).toHaveAttribute("data-phase", "done", { timeout: 1_000_000 });

  if (info.project.name === "cpu") {
    const heap = await heapOf(page);
    const { size } = statSync(REAL_MODEL!);
    expect(heap, `${heap} bytes of heap for a file of ${size}`).toBeLessThanOrEqual(1.3 * size);
  }
  for (const { rubric_id, verdict } of expected) {
    const row = page.locator(`[data-testid=row][data-rubric=${rubric_id}]`);
    await expect(row).toHaveAttribute("data-state", verdict.kind);
    if (verdict.kind === "scored") {
      // The page shows two decimals, which may add half a hundredth to the difference.
      const shown = Number(await row.locator(".score").innerText());
      expect(Math.abs(shown - verdict.expected), `${rubric_id}: page ${shown}, command line ${verdict.expected}`).toBeLessThanOrEqual(TOLERANCE + 0.005);
    }
  }
});
