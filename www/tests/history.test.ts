import "fake-indexeddb/auto";
import { beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_LIMIT, incognito, keep, newId, notKept, setHistoryLimit, setIncognito, type Kept } from "../src/history";
import { openStore, put, all as allNamed, remove as removeNamed, troubleOf, watch } from "../src/store";
import { all, allTaken, clear, find, headOf, importLines, matches, meanOf, oldestBeyond, pieces, readLine, remove, size, writeLine } from "../src/store/kept";
import type { JudgeRecord, Verdict } from "../src/types";

const scored = (expected: number, min = 1, max = 5): Verdict => ({ kind: "scored", expected, min, max, distribution: [], mass: 0.9, method: "option_probabilities", truncated: false });
const record = (...verdicts: Verdict[]): JudgeRecord => ({
  format: "retort.judgement/1", version: "0", task: "rubric_scores", input: { prompt_sha256: "", response_sha256: "", reference_sha256: null },
  model: { name: "m", sha256: null, adapter: null }, backend: "cpu", device: "", seed: null, orders: [],
  verdicts: verdicts.map((verdict, i) => ({ rubric_id: `r${i}`, rubric_name: `Skill ${i}`, rubric_sha256: "", verdict })),
  truncations: [], notices: [], timings: { total_ms: 1, tokens: 1, tokens_reused: 0 }, cancelled: false,
});
const entry = (prompt: string, response = "r") => ({ kind: "judgement" as const, prompt, response, reference: null, record: record(scored(3)) });

beforeEach(async () => {
  setIncognito(false);
  notKept.value = null;
  await clear();
});

describe("history", () => {
  it("keeps in the order of time, and finds by words in any text", async () => {
    let heard = 0;
    const stop = watch("history", () => (heard += 1));
    await Promise.all([keep(entry("first one")), keep(entry("second", "Größe"))]);
    stop();
    expect(heard).toBe(2);
    const heads = await all();
    expect(heads.map(({ title, mean, skills }) => [title, mean, skills])).toEqual([["first one", 0.5, ["Skill 0"]], ["second", 0.5, ["Skill 0"]]]);
    expect([...(await find("GRÖSSE", new AbortController().signal))!]).toEqual([]);
    expect([...(await find("gro\u0308ße SEC", new AbortController().signal))!]).toEqual([heads[1]!.id]);
    await remove([heads[0]!.id]);
    expect((await all()).map(({ title }) => title)).toEqual(["second"]);
  });
  it("keeps nothing while incognito is on", async () => {
    setIncognito(true);
    expect(incognito.value).toBe(true);
    await keep(entry("secret"));
    expect(await all()).toEqual([]);
  });
  it("adds up what all entries take, however many pieces they are read in", async () => {
    expect(await allTaken()).toBe(0);
    // Read a hundred at a time: two full pieces, and then one of one.
    const lines = Array.from({ length: 201 }, (_, i) => writeLine({ ...entry(`${i} ${"x".repeat(i)}`), id: `id-${String(i).padStart(4, "0")}`, at: i }));
    expect(await importLines(lines.join(""), DEFAULT_LIMIT)).toMatchObject({ added: 201, faults: [] });
    expect(await allTaken()).toBe(size(await all()));
    await remove(["id-0200"]);
    expect(await allTaken()).toBe(size(await all()));
  });

  it("keeps nothing beyond its limit, and says how much was missed (P53)", async () => {
    setHistoryLimit(1000);
    const big = "x".repeat(1001);
    await keep(entry(big));
    await keep(entry(big));
    expect([await all(), notKept.value]).toEqual([[], { why: "limit", count: 2 }]);
    setHistoryLimit(DEFAULT_LIMIT);
    await keep(entry("small"));
    expect([(await all()).length, notKept.value]).toEqual([1, null]);
  });
  it("takes the mean over scales of different ranges, and none where nothing was scored (P16)", () => {
    // (4 - 1) / 4 = 0.75 and 0.25 of a scale from 0 to 1
    expect(meanOf(record(scored(4), scored(0.25, 0, 1)))).toBe(0.5);
    expect(meanOf(record({ kind: "unscored", code: "x", message: "" }))).toBeNull();
    expect(meanOf(record(scored(1, 1, 1)))).toBeNull();
  });
  it("names the oldest that must go", () => {
    const heads = [50, 30, 40].map((bytes, i) => ({ ...headOf({ ...entry(""), id: String(i), at: i }), bytes }));
    expect(oldestBeyond(heads, 120)).toEqual([]);
    expect(oldestBeyond(heads, 70).map(({ id }) => id)).toEqual(["0"]);
    expect(oldestBeyond(heads, 69).map(({ id }) => id)).toEqual(["0", "1"]);
  });
  it("makes ids that sort by time", () => {
    expect([newId(1000), newId(999), newId(20_000)].sort().map((id) => Number(id.split("-")[0]))).toEqual([999, 1000, 20_000]);
    const [first, second] = [newId(5), newId(5)];
    expect(first < second).toBe(true);
  });
  it("comes back from a file as it was, once, and without the bad lines (P30)", async () => {
    for (let i = 0; i < 205; i++) await keep(entry(`prompt ${i}`));
    const lines: string[] = [];
    for await (const piece of pieces()) lines.push(...piece.map(writeLine));
    expect(lines).toHaveLength(205);
    await remove((await all()).slice(0, 100).map(({ id }) => id));
    const got = await importLines(`${lines.join("")}{"format":"other"}\n\n`, 1e9);
    expect(got).toEqual({ added: 100, known: 105, beyond: 0, faults: [{ line: 206, fault: { fault: "format", found: "other" } }] });
    const again: string[] = [];
    for await (const piece of pieces()) again.push(...piece.map(writeLine));
    expect(again).toEqual(lines);
    expect((await importLines(writeLine({ ...(readLine(lines[0]!) as Kept), id: "new" }), 10)).beyond).toBe(1);
  });
  it("refuses a line whose fields are not what the page shows, and names the field", () => {
    const good = { format: "retort.kept/1", id: "a", at: 1, ...entry("p") };
    const fault = (change: object) => readLine(JSON.stringify({ ...good, ...change }));
    expect(fault({})).toMatchObject({ id: "a" });
    const given: [object, string][] = [
      [{ id: "<b>" }, "id"], [{ at: "1" }, "at"], [{ at: 1e20 }, "at"], [{ prompt: 1 }, "prompt"], [{ reference: 5 }, "reference"], [{ kind: "x" }, "kind"], [{ response: null }, "response"],
      [{ record: { ...good.record, verdicts: [{}] } }, "record.verdicts[0]"], [{ record: { ...good.record, model: { name: "m", adapter: 1 } } }, "record.model.adapter"],
      [{ kind: "comparison", responses: ["a"], profiles: [] }, "responses"], [{ kind: "comparison", responses: ["a", "b"], profiles: [{}] }, "profiles[0].format"],
    ];
    const rewards = {
      kind: "rewards", responses: ["a"],
      record: { ...good.record, format: "retort.reward/1", labels: [], rewards: [{ kind: "scored", outputs: [-1.5] }] },
    };
    expect(fault(rewards)).toMatchObject({ kind: "rewards" });
    given.push([{ ...rewards, responses: ["a", "b"] }, "record.rewards"], [{ ...rewards, record: { ...rewards.record, rewards: [{ kind: "scored", outputs: ["1"] }] } }, "record.rewards[0]"]);
    for (const [change, field] of given) expect(fault(change)).toEqual({ fault: "field", field });
    expect(readLine("{")).toMatchObject({ fault: "json" });
  });
  it("matches every word, in any of the texts", () => {
    const kept: Kept = { ...entry("One two", "three"), id: "a", at: 1 };
    expect([matches(kept, "two three"), matches(kept, "two four"), matches(kept, " ")]).toEqual([true, false, true]);
  });
});

describe("the store", () => {
  it("keeps named things", async () => {
    await put("rubrics", { id: "b", versions: [1] });
    await put("rubrics", { id: "a", versions: [] });
    expect(await allNamed("rubrics")).toEqual([{ id: "a", versions: [] }, { id: "b", versions: [1] }]);
    await removeNamed("rubrics", "a");
    expect((await allNamed("rubrics")).map(({ id }) => id)).toEqual(["b"]);
    expect(await allNamed("readouts")).toEqual([]);
  });
  it("says what a failure means (P34)", () => {
    expect(["QuotaExceededError", "SecurityError", "VersionError", "AbortError"].map((name) => troubleOf(new DOMException("x", name)).trouble)).toEqual(["full", "denied", "newer", "failed"]);
  });
  it("has every store that the schema names", async () => {
    expect([...(await openStore()).objectStoreNames]).toEqual(["batch_chunks", "batch_results", "batches", "heads", "kept", "readouts", "rubrics"]);
  });
});
