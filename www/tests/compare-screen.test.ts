import { describe, expect, it } from "vitest";
import { aloneOf, leadOf, leadsByLength, longerPreferred, togetherOf, type Standing } from "../src/screens/compare/lead";
import { differencesOf, type Differences } from "../src/screens/compare/words";
import type { Row } from "../src/state";
import type { PairVerdict, Rubric } from "../src/types";

const row = (id: string, at: number | null, doubt = 0): Row => {
  const levels = [1, 2, 3, 4, 5].map((value) => ({ label: String(value), value, probability: 0 }));
  if (at !== null) {
    // Half of the probability `doubt` below, half above: the variance is its square.
    for (const value of [at - doubt, at + doubt]) levels[value - 1]!.probability += 0.5;
  }
  return {
    rubric: { id, name: id, ability: null, criterion: "", question: null, options: [] } as Rubric,
    verdict: {
      rubric_id: id, rubric_name: id, rubric_sha256: "",
      verdict: at === null
        ? { kind: "unscored", code: "not_applicable", message: "" }
        : { kind: "scored", expected: at, min: 1, max: 5, distribution: levels, mass: 1, method: "option_probabilities", truncated: false },
    },
  };
};
const pair = (first: number, second: number, p: number, flipped = false): PairVerdict => ({
  first, second, shown: [], verdict: { kind: "scored", preferred: Math.abs(p - 0.5) <= 0.01 ? null : p > 0.5 ? first : second, probability_first: p, flipped },
});
const ranked = (leader: string | null, clear = false): Standing => ({ kind: "ranked", order: [], leader, clear });

describe("judged alone", () => {
  it("leads by the mean of the rubrics that all have a score for", () => {
    // Places (5-1)/4 = 1 and (3-1)/4 = 0.5; the rubric y is scored for one only and counts for none.
    const standing = aloneOf([{ id: "A", rows: [row("x", 3), row("y", 5)] }, { id: "B", rows: [row("x", 5), row("y", null)] }]);
    expect(standing).toEqual({ kind: "ranked", order: [{ id: "B", value: 1 }, { id: "A", value: 0.5 }], leader: "B", clear: true, skills: 1 });
  });

  it("is not clear within the model's doubt", () => {
    // 3 ± 2 and 4 ± 1: a quarter of the scale apart, √(4 + 1) / 4 = 0.56 of doubt.
    expect(aloneOf([{ id: "A", rows: [row("x", 3, 2)] }, { id: "B", rows: [row("x", 4, 1)] }])).toMatchObject({ leader: "B", clear: false });
    // Doubts do not cancel out over many rubrics.
    const many = (at: number) => Array.from({ length: 12 }, (_, i) => row(`r${i}`, at, 1));
    expect(aloneOf([{ id: "A", rows: many(3) }, { id: "B", rows: many(4) }])).toMatchObject({ leader: "B", clear: false, skills: 12 });
  });

  it("has no leader where means are level, and no figures where nothing is shared", () => {
    expect(aloneOf([{ id: "A", rows: [row("x", 3)] }, { id: "B", rows: [row("x", 3)] }])).toMatchObject({ leader: null, clear: false });
    expect(aloneOf([{ id: "A", rows: [row("x", null)] }, { id: "B", rows: [row("x", 3)] }])).toEqual({ kind: "none", skills: 0 });
  });
});

describe("shown together", () => {
  it("leads by pairs won, a tie being a half (P21), and clearly by all of them in both orders (P18)", () => {
    const pairs = [pair(0, 1, 0.8), pair(0, 2, 0.7), pair(1, 2, 0.5)];
    expect(togetherOf(["A", "B", "C"], pairs)).toEqual({
      kind: "ranked", order: [{ id: "A", value: 2 }, { id: "B", value: 0.5 }, { id: "C", value: 0.5 }], leader: "A", clear: true, flipped: 0, unscored: 0, ties: 1,
    });
    expect(togetherOf(["A", "B", "C"], [pair(0, 1, 0.8), pair(0, 2, 0.7, true), pair(1, 2, 0.5)])).toMatchObject({ leader: "A", clear: false, flipped: 1 });
  });

  it("goes by the responses' ids, whatever their places (P19)", () => {
    expect(togetherOf(["C", "A"], [pair(0, 1, 0.2)])).toMatchObject({ leader: "A" });
  });

  it("counts what has no verdict apart, and a circle has no leader", () => {
    const unscored: PairVerdict = { first: 0, second: 1, shown: [], verdict: { kind: "unscored", code: "mass_too_low", message: "" } };
    expect(togetherOf(["A", "B"], [unscored])).toMatchObject({ kind: "none", unscored: 1 });
    expect(togetherOf(["A", "B", "C"], [unscored, pair(0, 2, 0.9), pair(1, 2, 0.2)])).toMatchObject({ leader: null, unscored: 1 });
    expect(togetherOf(["A", "B", "C"], [pair(0, 1, 0.8), pair(1, 2, 0.8), pair(0, 2, 0.2)])).toMatchObject({ leader: null, clear: false });
  });
});

describe("both ways together", () => {
  it.each([
    [{ kind: "none" }, { kind: "none" }, { kind: "none" }],
    [ranked(null), { kind: "none" }, { kind: "level" }],
    [ranked("A", true), { kind: "none" }, { kind: "leads", id: "A", clear: true }],
    [ranked("A", true), ranked("A", true), { kind: "leads", id: "A", clear: true }],
    [ranked("A", true), ranked("A", false), { kind: "leads", id: "A", clear: false }],
    [ranked("A", true), ranked(null), { kind: "leads", id: "A", clear: false }],
    [ranked("A", true), ranked("B", true), { kind: "disagree", alone: "A", together: "B" }],
  ] as [Standing, Standing, ReturnType<typeof leadOf>][])("%j and %j come to %j", (alone, together, lead) => {
    expect(leadOf(alone, together)).toEqual(lead);
  });

  it("tells how often the longer one was preferred (P20)", () => {
    expect(longerPreferred([pair(0, 1, 0.8), pair(0, 2, 0.2), pair(1, 2, 0.5)], [100, 50, 100])).toEqual({ longer: 1, of: 1 });
    expect(leadsByLength("A", [{ id: "A", length: 120 }, { id: "B", length: 100 }])).toBe(true);
    expect(leadsByLength("A", [{ id: "A", length: 119 }, { id: "B", length: 100 }])).toBe(false);
  });
});

describe("differences by words", () => {
  const at_once = async () => {};
  const shown = ({ pieces }: Differences) => pieces.map(({ kind, text }) => ({ same: text, removed: `[-${text}-]`, added: `[+${text}+]` })[kind]).join("");
  const side = ({ pieces }: Differences, not: "added" | "removed") => pieces.filter(({ kind }) => kind !== not).map(({ text }) => text).join("");

  it.each([
    ["The sky is blue.", "The sky is very red.", "The sky is [-blue-][+very red+]."],
    ["One.\nTwo.\nThree.\n", "One.\n2.\nThree.\n", "One.\n[-Two-][+2+].\nThree.\n"],
    ["Same.", "Same.", "Same."],
    ["", "New words.", "[+New words.+]"],
    // Words, where the script has no spaces, and where a word is not of Latin letters.
    ["空は青い。", "空は赤い。", "空は[-青い-][+赤い+]。"],
    ["Небо синее сегодня.", "Небо красное сегодня.", "Небо [-синее -][+красное +]сегодня."],
  ])("%j and %j", async (first, second, expected) => {
    expect(shown(await differencesOf(first, second, at_once))).toBe(expected);
  });

  it("make up both texts again, and count their words", async () => {
    const first = "Light is a wave.\nIt has colours, such as red and blue.\n\nThe end.";
    const second = "Light is a wave and a particle.\nIt has colours such as red and green.\n\nThat is the end.";
    const found = await differencesOf(first, second, at_once);
    const letters = (text: string) => text.replaceAll(/\s+/g, "");
    expect(letters(side(found, "added"))).toBe(letters(first));
    expect(side(found, "removed")).toBe(second);
    // Gone: blue, The. New: and a particle, green, That is the.
    expect([found.removed, found.added, found.coarse]).toEqual([2, 7, false]);
  });

  it("of long texts come in short steps", async () => {
    const words = (seed: number) => Array.from({ length: 18_000 }, (_, i) => `w${(i * seed) % 997}`).join(" ");
    let steps = 0;
    const found = await differencesOf(words(7), words(13), () => {
      steps += 1;
      return Promise.resolve();
    });
    expect(found.coarse).toBe(true);
    expect(side(found, "added")).toBe(words(7));
    // How long a step takes is the browser's to show; that there are several is what lets it draw and hear in between.
    expect(steps).toBeGreaterThanOrEqual(3);
  });
});
