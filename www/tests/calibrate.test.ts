import { describe, expect, test } from "vitest";
import { EMPTY, add, fitRequest, isScale, labelled, mappingOf, moreNeeded, nextUnrated, onScale, outside, ownOf, readSaved, rowsOf, unread, writeSaved, type Reading, type Saved, type Work } from "../src/screens/calibrate/labels";

let last = 0;
const id = () => `e${++last}`;
const one = (prompt: string, response: string, label: number | null = null) => ({ prompt, response, reference: null, label });
const reading = (stamp: string, own: number | null): Reading => ({
  stamp, own, own_min: 1, own_max: 5, layer: 2, model: { name: "m", sha256: null, adapter: null }, state: Float32Array.of(1, 2, 3, 4),
});

describe("the working list", () => {
  test("a response stands in it once, and a label that comes later is taken", () => {
    const first = add(EMPTY, [one("p", "a"), one("p", "b", 3)], id);
    expect([first.added, first.known]).toEqual([2, 0]);
    const again = add(first.work, [one("p", "a", 4), one("p", "b", 1), one("q", "a")], id);
    expect([again.added, again.known]).toEqual([1, 2]);
    expect(again.work.examples.map(({ label }) => label)).toEqual([4, 3, null]);
  });

  test("texts that only together look alike are different responses", () => {
    expect(add(EMPTY, [one("ab", "c"), one("a", "bc")], id).added).toBe(2);
  });

  test("labels off the scale are counted and not used", () => {
    const { work } = add(EMPTY, [one("p", "a", 0), one("p", "b", 5), one("p", "c", 6), one("p", "d")], id);
    expect(labelled(work).map(({ label }) => label)).toEqual([5]);
    expect(outside(work)).toBe(2);
  });

  test("the next without a label goes round, and stays where all have one", () => {
    const { work } = add(EMPTY, [one("p", "a"), one("p", "b", 1), one("p", "c", 1)], id);
    expect(nextUnrated(work, 1)).toBe(0);
    expect(nextUnrated(work, 2)).toBe(0);
    expect(nextUnrated({ ...work, examples: work.examples.slice(1) }, 1)).toBe(1);
  });

  test("scales are whole numbers, 1 to 10 apart", () => {
    expect([isScale(1, 5), isScale(0, 10), isScale(0, 11), isScale(3, 3), isScale(1, 2.5)]).toEqual([true, true, false, false, false]);
  });
});

describe("what is fitted", () => {
  const { work } = add(EMPTY, ["a", "b", "c", "d", "e"].map((response, i) => one("p", response, i + 1)), id);
  const read: Work = { ...work, examples: work.examples.map((example, i) => ({ ...example, reading: i < 4 ? reading("now", 2) : reading("before", 2) })) };

  test("readings of another model or aspect are read again, and are not fitted to", () => {
    expect(unread(read, "now").map(({ response }) => response)).toEqual(["e"]);
    expect(fitRequest(read, "now", 7)).toMatchObject({ layer: 2, min: 1, max: 5, seed: 7, examples: [{ label: 1 }, { label: 2 }, { label: 3 }, { label: 4 }] });
    expect(fitRequest(read, "before", 7)).toBeNull();
  });

  test("responses to one prompt are one group", () => {
    expect(fitRequest(read, "now", 0)!.examples.map(({ group }) => group)).toEqual(["p", "p", "p", "p"]);
  });

  test("a score is carried over by its place on its scale (P14)", () => {
    // 2 lies a quarter of the way from 1 to 5: on 0 to 10 that is 2.5, on -1 to 1 it is -0.5.
    expect(onScale(2, { min: 1, max: 5 }, { min: 0, max: 10 })).toBe(2.5);
    expect(ownOf(reading("s", 2), { min: -1, max: 1 })).toBe(-0.5);
    expect(ownOf(reading("s", null), { min: 0, max: 10 })).toBeNull();
  });

  test("how many more labels: widths shrink with the root of the number", () => {
    // The gain 0.1 has 0.2 below it; half of that needs four times the labels: 80 - 20.
    expect(moreNeeded({ gain: { value: 0.1, low: -0.1, high: 0.3 }, n: 20, helps: false })).toBe(60);
    expect(moreNeeded({ gain: { value: -0.1, low: -0.3, high: 0.1 }, n: 20, helps: false })).toBeNull();
    expect(moreNeeded({ gain: { value: 0.2, low: 0.1, high: 0.3 }, n: 20, helps: true })).toBeNull();
    expect(moreNeeded({ gain: null, n: 20, helps: false })).toBeNull();
  });
});

describe("files", () => {
  const table = {
    columns: ["question", "answer", "note", "score"],
    rows: [
      { line: 2, values: ["q", "a", "", "4"] },
      { line: 3, values: ["q", null, "", "4"] },
      { line: 4, values: ["q", "b", "r", "good"] },
      { line: 5, values: ["q", "c", null, ""] },
    ],
    roles: { prompt: "question", response: "answer" },
  };

  test("rows without a text and labels that are no numbers are left out and counted (P22)", () => {
    const mapping = { ...mappingOf(table), reference: "note", human: "score" };
    expect(rowsOf(table, mapping)).toEqual({
      examples: [one("q", "a", 4), { ...one("q", "b"), reference: "r" }, one("q", "c")],
      incomplete: 1,
      bad_labels: 1,
    });
  });

  const saved: Saved = {
    format: "retort.own-readout/1", id: "x", name: "Mine", at: 5, aspect: "overall", key: "k", model: "m",
    readout: {
      format: "retort.readout/1", version: "0", layer: 2, width: 1, min: 1, max: 5, weights: [3, 0, 0], mean: [0, 0], deviation: [1, 1], lambda: 1, blend: 0.5, own: null,
      stretch: { slope: 1, intercept: 0 }, seed: 0, n: 12, groups: 3, before: null,
      after: { n: 12, left_out: 0, pearson: null, spearman: null, kendall: null, mean_error: null, alpha: null }, helps: false, gain: null, warnings: [],
    },
  };

  test("a readout comes back as it was written, under an id of its own (P30)", () => {
    expect(readSaved(writeSaved(saved), () => "y")).toEqual({ ...saved, id: "y" });
  });

  test("what is no readout is refused with the field", () => {
    const broken = (part: object) => JSON.stringify({ ...saved, ...part });
    expect(() => readSaved("{", id)).toThrow("not JSON");
    expect(() => readSaved("[]", id)).toThrow("retort.own-readout/1");
    expect(() => readSaved(broken({ name: "" }), id)).toThrow("name");
    expect(() => readSaved(broken({ readout: { ...saved.readout, weights: [1, 2] } }), id)).toThrow("2 numbers where 3 belong");
    expect(() => readSaved(broken({ readout: { ...saved.readout, mean: [0, "0"] } }), id)).toThrow("readout.mean");
    expect(() => readSaved(broken({ readout: { ...saved.readout, blend: null } }), id)).toThrow("readout.blend");
  });
});
