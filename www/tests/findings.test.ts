import { describe, expect, it } from "vitest";
import { hardMean, meansOf, skillsMean } from "../src/compare";
import { outcomeOf, segmentsOf, tallyOf } from "../src/findings";
import { INITIAL, reduce, type ItemRow, type State } from "../src/state";
import { progressOf, standingOf } from "../src/standing";
import type { Annotation, AnnotationEvidence, ChecklistItem, ItemVerdict, JudgeRecord, Rubric, RubricVerdict, Verdict, Vocabulary } from "../src/types";
import { reasonsOf } from "../src/why";

const item = (id: string, more: Partial<ChecklistItem> = {}): ChecklistItem => ({ id, question: `${id}?`, origin: "request", ...more });
const base = (one: ChecklistItem) => ({
  item_id: one.id, question: one.question, origin: one.origin, skill: one.skill ?? null, weight: one.weight ?? 1, answer: one.answer ?? ("yes_no" as const),
});
const scored = (expected: number, min = 0, max = 1): Verdict => ({
  kind: "scored", expected, min, max, distribution: [], mass: 1, method: "option_probabilities", truncated: false,
});
const none = (code: string): Verdict => ({ kind: "unscored", code, message: code });
const judged = (one: ChecklistItem, verdict: Verdict): ItemVerdict => ({ ...base(one), by: "model", verdict });
const verified = (one: ChecklistItem, verdict: "met" | "not_met" | "not_applicable"): ItemVerdict => ({ ...base(one), by: "code", finding: { verdict, sentence: "so" } });
const row = (one: ChecklistItem, verdict: ItemVerdict | null): ItemRow => ({ item: one, verdict });

describe("an item's outcome", () => {
  it("is what code found, or the place on the scale that the model gave", () => {
    const one = item("a");
    expect(outcomeOf(null)).toEqual({ kind: "waiting" });
    expect(outcomeOf(verified(one, "not_met"))).toEqual({ kind: "not_met", by: "code" });
    expect(outcomeOf(judged(one, scored(0.75)))).toEqual({ kind: "judged", by: "model", value: 0.75 });
    // (3 - 1) / (5 - 1)
    expect(outcomeOf(judged(one, scored(3, 1, 5)))).toMatchObject({ value: 0.5 });
  });
  it("is N/A, and no number, where it does not apply, whoever says so (P8)", () => {
    expect(outcomeOf(verified(item("a"), "not_applicable"))).toEqual({ kind: "not_applicable", by: "code", reason: "so" });
    expect(outcomeOf(judged(item("a"), none("not_applicable")))).toMatchObject({ kind: "not_applicable", by: "model" });
    expect(outcomeOf(judged(item("a"), none("mass_too_low")))).toMatchObject({ kind: "unscored" });
  });
  it("is no number where the figure is none (P16)", () => {
    expect(outcomeOf(judged(item("a"), scored(NaN))).kind).toBe("unscored");
    expect(outcomeOf(judged(item("a"), scored(1, 1, 1))).kind).toBe("unscored");
  });
});

describe("a checklist's score", () => {
  it("is the weighted share of what was found, without what is N/A or not scored", () => {
    const rows = [
      row(item("a"), verified(item("a"), "met")),
      row(item("b", { weight: 3 }), verified(item("b"), "not_met")),
      row(item("c", { weight: 2 }), judged(item("c"), scored(0.75))),
      row(item("d", { weight: 9 }), judged(item("d"), none("not_applicable"))),
      row(item("e", { weight: 9 }), judged(item("e"), none("mass_too_low"))),
      row(item("f", { weight: 9 }), null),
    ];
    // (1 * 1 + 3 * 0 + 2 * 0.75) / (1 + 3 + 2) = 2.5 / 6
    expect(tallyOf(rows)).toEqual({ score: 2.5 / 6, items: 6, verified: 2, judged: 1, not_applicable: 1, unscored: 1, waiting: 1, found: 2 });
  });
  it("loses by what should not be there, and stays within 0 to 1", () => {
    const bad = item("b", { weight: -1 });
    // (2 * 1 - 1 * 0.5) / 2
    expect(tallyOf([row(item("a", { weight: 2 }), verified(item("a"), "met")), row(bad, judged(bad, scored(0.5)))]).score).toBe(0.75);
    expect(tallyOf([row(item("a"), verified(item("a"), "not_met")), row(bad, verified(bad, "met"))]).score).toBe(0);
  });
  it("is null where nothing could be decided or nothing could be reached, never 0", () => {
    expect(tallyOf([]).score).toBeNull();
    expect(tallyOf([row(item("a"), judged(item("a"), none("not_applicable")))]).score).toBeNull();
    const bad = item("b", { weight: -1 });
    expect(tallyOf([row(bad, verified(bad, "met"))]).score).toBeNull();
  });
});

describe("the evidence in a text", () => {
  const marks = (text: string, ranges: [number, number][]) =>
    segmentsOf(text, ranges.map(([start, end]) => ({ start, end }))).map(({ text: part, marked }) => (marked ? `[${part}]` : part)).join("|");
  it("is marked once, where ranges overlap, touch, repeat or stand in no order", () => {
    expect(marks("abcdefgh", [[2, 4]])).toBe("ab|[cd]|efgh");
    expect(marks("abcdefgh", [[4, 6], [0, 2], [1, 4], [4, 6]])).toBe("[abcdef]|gh");
    expect(marks("abcdefgh", [[0, 8]])).toBe("[abcdefgh]");
    expect(marks("abcdefgh", [[1, 7], [2, 3], [7, 8]])).toBe("a|[bcdefgh]");
  });
  it("counts as JavaScript does, beyond the first 65,536 characters too", () => {
    expect(marks("a😀b", [[1, 3]])).toBe("a|[😀]|b");
  });
  it("loses no character, and takes no range from outside", () => {
    expect(marks("abc", [])).toBe("abc");
    expect(marks("abc", [[-2, 1], [2, 99], [3, 3], [9, 12]])).toBe("[a]|b|[c]");
    expect(marks("", [[0, 1]])).toBe("");
  });
});

const rubric = (id: string, ability: Rubric["ability"], values = [1, 2, 3, 4, 5]): Rubric => ({
  id, name: id, ability, criterion: "", question: null, options: values.map((value) => ({ label: String(value), value, description: null })),
});
const says = (id: string, verdict: Verdict): RubricVerdict => ({ rubric_id: id, rubric_name: id, rubric_sha256: "", verdict });
const OVERALL = rubric("overall", null);
const HARD = item("hard-1", { answer: "one_to_five", weight: 3 });

function running(): State {
  const vocabulary: Vocabulary = { skills: [], domains: [], difficulties: [] };
  const ready = reduce(INITIAL, { type: "ready", version: "", rubrics: [], overall: OVERALL, vocabulary });
  const request = {
    prompt: "p", response: "the response", rubrics: [rubric("x", "logical_thinking"), rubric("y", "logical_thinking"), OVERALL],
    checklist: { items: [item("a"), item("b"), HARD] },
  };
  return reduce(ready, { type: "judge_requested", run_id: 7, request });
}
const event = (state: State, what: Extract<Parameters<typeof reduce>[1], { type: "judge_event" }>["event"]) => reduce(state, { type: "judge_event", run_id: 7, event: what });

describe("a run with a checklist", () => {
  it("sets the overall score apart and keeps the judged text", () => {
    const { run } = running();
    expect(run!.rows.map((one) => one.rubric.id)).toEqual(["x", "y"]);
    expect(run!.overall!.rubric).toBe(OVERALL);
    expect(run!.response).toBe("the response");
  });

  it("puts verdicts by id, although the events' indexes count what is shown elsewhere (P19)", () => {
    let state = event(running(), { kind: "item", index: 2, verdict: judged(HARD, scored(4, 1, 5)) });
    state = event(state, { kind: "item", index: 0, verdict: verified(item("b"), "met") });
    state = event(state, { kind: "verdict", index: 2, verdict: says("overall", scored(2, 1, 5)) });
    expect(state.run!.items.map((one) => one.verdict?.item_id ?? null)).toEqual([null, "b", "hard-1"]);
    expect(state.run!.overall!.verdict!.rubric_id).toBe("overall");
    expect(state.run!.rows.every((one) => one.verdict === null)).toBe(true);
    expect(progressOf(state.run!)).toBe("0 of 2 skills scored, 1 of 2 items decided, 1 of 1 hard questions scored, overall score given");
  });

  it("keeps decided items when it is cancelled, and takes the record's word for them", () => {
    let state = event(running(), { kind: "item", index: 0, verdict: verified(item("a"), "met") });
    const record = {
      verdicts: [says("y", none("not_applicable"))], truncations: [], cancelled: true,
      checklist: { name: null, sha256: "", items: [verified(item("a"), "not_met")], score: {} },
    } as unknown as JudgeRecord;
    state = reduce(state, { type: "judged", run_id: 7, record });
    expect(state.run!.items.map((one) => outcomeOf(one.verdict).kind)).toEqual(["not_met", "waiting", "waiting"]);
    expect(standingOf(state.run!)).toBe("Cancelled: 0 of 2 skills scored, 1 of 2 items decided, 0 of 1 hard questions scored, no overall score. What was finished is kept.");
  });

  it("ignores items of an earlier run", () => {
    const state = running();
    expect(reduce(state, { type: "judge_event", run_id: 6, event: { kind: "item", index: 0, verdict: verified(item("a"), "met") } })).toBe(state);
  });
});

describe("ways to judge, side by side", () => {
  it("have means without what is N/A or not scored, and without rubrics of other scales", () => {
    const rows = [
      { rubric: rubric("factuality", "background_knowledge"), verdict: says("factuality", scored(2, 1, 5)) },
      { rubric: rubric("harmlessness", "user_alignment"), verdict: says("harmlessness", none("not_applicable")) },
      { rubric: rubric("readability", "user_alignment"), verdict: says("readability", scored(5, 1, 5)) },
      { rubric: rubric("own", null, [0, 100]), verdict: says("own", scored(100, 0, 100)) },
      // A rubric of one's own may name an ability, and is none of FLASK's for it.
      { rubric: rubric("custom_readability", "user_alignment", [0, 100]), verdict: says("custom_readability", scored(90, 0, 100)) },
    ];
    // (2 + 5) / 2
    expect(skillsMean(rows)).toEqual({ mean: 3.5, max: 5, scored: 2, all: 3 });
  });
  it("count a hard question by its weight", () => {
    const other = item("hard-2", { answer: "one_to_five" });
    // (3 * 5 + 1 * 1) / 4
    expect(hardMean([row(HARD, judged(HARD, scored(5, 1, 5))), row(other, judged(other, scored(1, 1, 5)))]).mean).toBe(4);
    expect(hardMean([row(HARD, judged(HARD, none("mass_too_low")))])).toEqual({ mean: null, max: 5, scored: 0, all: 1 });
  });
  it("are compared only where there are two", () => {
    const run = { ...running().run!, rows: [{ rubric: rubric("factuality", "background_knowledge"), verdict: null }] };
    const questions = run.items.filter((one) => one.item.id === "hard-1");
    expect(meansOf(run, questions).map(({ way }) => way)).toEqual(["skills", "hard", "overall"]);
    expect(meansOf({ ...run, rows: [] , overall: null }, questions)).toEqual([]);
  });
});

describe("why", () => {
  const vocabulary = {
    skills: [{ id: "readability", name: "Readability", ability: "" }, { id: "insightfulness", name: "Insightfulness", ability: "" }], domains: [{ id: "history", name: "History", subdomains: [], variant: "general" }], difficulties: [],
  } as Vocabulary;
  const seen = (words: string, reason: string, at = 1) => ({ range: { start: 0, end: at }, words, reason, weight: 1 });
  it("names each thing's words once, in the annotation's order", () => {
    const annotation: Annotation = { skills: ["insightfulness", "readability"], domains: [{ domain: "history", subdomain: null }], difficulty: null, by: "code" };
    const evidence: AnnotationEvidence[] = [
      { ...seen("long  words", "make it harder", 0), for: "difficulty" },
      { ...seen("table", "asks for an order"), for: "skill", what: "readability" },
      { ...seen("Rome", "is a place of history"), for: "domain", what: { domain: "history", subdomain: null } },
      { ...seen("Imagine", "asks for ideas"), for: "skill", what: "insightfulness" },
      { ...seen("Imagine", "asks for ideas"), for: "skill", what: "insightfulness" },
    ];
    expect(reasonsOf(annotation, evidence, vocabulary)).toEqual([
      { part: "skill", name: "Insightfulness", reasons: [{ words: "Imagine", quoted: true, reason: "asks for ideas" }] },
      { part: "skill", name: "Readability", reasons: [{ words: "table", quoted: true, reason: "asks for an order" }] },
      { part: "domain", name: "History", reasons: [{ words: "Rome", quoted: true, reason: "is a place of history" }] },
      { part: "difficulty", name: "", reasons: [{ words: "long words", quoted: false, reason: "make it harder" }] },
    ]);
  });
});
