import { describe, expect, it } from "vitest";
import type { Run } from "../src/state";
import { differ, summaryOf, type Statement } from "../src/summary";
import type { ChecklistItem, ItemVerdict, JudgeRecord, OptionProbability, Rubric, Verdict } from "../src/types";

/** All of the probability within half a level of `at`, or spread over all levels. */
const peaked = (at: number): OptionProbability[] => [1, 2, 3, 4, 5].map((value) => ({ label: String(value), value, probability: Math.max(0, 1 - Math.abs(value - at)) }));
const flat: OptionProbability[] = [1, 2, 3, 4, 5].map((value) => ({ label: String(value), value, probability: 0.2 }));

const verdict = (distribution: OptionProbability[], mass = 0.9): Verdict => ({
  kind: "scored", expected: distribution.reduce((sum, { value, probability }) => sum + value * probability, 0), min: 1, max: 5, distribution, mass,
  method: "option_probabilities", truncated: false,
});
const none = (code: string): Verdict => ({ kind: "unscored", code, message: code });
const row = (name: string, given: Verdict | null) => ({
  rubric: { id: name, name, ability: null, criterion: "", question: null, options: [] } as Rubric,
  verdict: given && { rubric_id: name, rubric_name: name, rubric_sha256: "", verdict: given },
});
const run = (change: Partial<Run>) => ({ rows: [], items: [], phase: "done" as const, truncations: [], record: null, ...change });
const said = (change: Partial<Run>) => summaryOf(run(change));
const one = <Kind extends Statement["kind"]>(statements: Statement[], kind: Kind) => statements.find((statement): statement is Extract<Statement, { kind: Kind }> => statement.kind === kind);

describe("what is said of skills", () => {
  it("names the strongest and the weakest where they differ, best and worst first", () => {
    const statements = said({ rows: [row("b", verdict(peaked(4.8))), row("mid", verdict(peaked(3))), row("w", verdict(peaked(1))), row("a", verdict(peaked(5)))] });
    expect(statements[0]).toEqual({ kind: "extremes", strongest: ["a", "b"], weakest: ["w"], between: 1 });
    expect(one(statements, "sureness")).toEqual({ kind: "sureness", level: "sure", wide: 0, count: 4 });
  });

  it("calls them alike where the differences are smaller than the doubt", () => {
    // The flat one has mean 3 and variance 2; (3.5 - 3) / 4 is far less than √(2 + 0.25) / 4.
    const statements = said({ rows: [row("a", verdict(peaked(3.5))), row("b", verdict(flat))] });
    expect(statements[0]).toEqual({ kind: "alike", count: 2, range: { lowest: 3, highest: 3.5, max: 5 } });
    expect(one(statements, "sureness")).toEqual({ kind: "sureness", level: "mixed", wide: 1, count: 2 });
    expect(one(statements, "extremes")).toBeUndefined();
  });

  it("of what a judge wrote says nothing of how sure it was", () => {
    const written = (score: number): Verdict => ({ ...verdict(peaked(score)), method: "written" } as Verdict);
    const statements = said({ rows: [row("a", written(4)), row("b", written(2))] });
    expect(statements.map(({ kind }) => kind)).toEqual(["extremes", "written"]);
  });

  it("two differ by more than √(σ₁² + σ₂²), and not by just as much", () => {
    const of = (place: number, variance: number) => ({ place, variance });
    // √(0.09 + 0.16) = 0.5.
    expect(differ(of(0.2, 0.09), of(0.71, 0.16))).toBe(true);
    expect(differ(of(0.25, 0.09), of(0.75, 0.16))).toBe(false);
    expect(differ(of(0.5, 0), of(0.5, 0))).toBe(false);
  });

  it("compares scales of different ranges by the place on them (P17)", () => {
    const yes: Verdict = { kind: "scored", expected: 1, min: 0, max: 1, distribution: [{ label: "no", value: 0, probability: 0 }, { label: "yes", value: 1, probability: 1 }], mass: 1, method: "option_probabilities", truncated: false };
    // 1 of 1 is above 2 of 5, though 1 is below 2; and no range is given that mixes the two.
    expect(said({ rows: [row("low", verdict(peaked(2))), row("yes", yes)] })[0]).toMatchObject({ strongest: ["yes"], weakest: ["low"] });
    expect(said({ rows: [row("flat", verdict(flat)), row("yes", { ...yes, expected: 0.6, distribution: [{ label: "no", value: 0, probability: 0.4 }, { label: "yes", value: 1, probability: 0.6 }] })] })[0]).toEqual({ kind: "alike", count: 2, range: null });
  });

  it("says of one score that it is alone, and of none that there is none", () => {
    expect(said({ rows: [row("a", verdict(peaked(4)))] })[0]).toEqual({ kind: "one_score", name: "a", score: 4, min: 1, max: 5 });
    expect(said({ rows: [row("a", none("mass_too_low"))] })).toEqual([{ kind: "no_scores" }, { kind: "unscored", names: ["a"] }]);
    expect(said({})).toEqual([]);
  });

  it("names what did not apply, what has no score, what was not reached, and what means little", () => {
    const statements = said({ rows: [row("a", verdict(peaked(4), 0.3)), row("b", none("not_applicable")), row("c", none("mass_too_low")), row("d", null)], phase: "cancelled" });
    expect(one(statements, "low_mass")?.names).toEqual(["a"]);
    expect(one(statements, "not_applicable")?.names).toEqual(["b"]);
    expect(one(statements, "unscored")?.names).toEqual(["c"]);
    expect(one(statements, "not_reached")).toEqual({ kind: "not_reached", count: 1, cancelled: true });
    // While it runs, what has not come is no loss.
    expect(one(said({ rows: [row("d", null)], phase: "running" }), "not_reached")).toBeUndefined();
  });
});

describe("what is said of the rest", () => {
  const item = (id: string, more: Partial<ChecklistItem> = {}): ChecklistItem => ({ id, question: `${id}?`, origin: "request", ...more });
  const code = (of: ChecklistItem, found: "met" | "not_met" | "not_applicable") => ({
    item: of,
    verdict: { item_id: of.id, question: of.question, origin: of.origin, skill: null, weight: of.weight ?? 1, answer: "yes_no", by: "code", finding: { verdict: found, sentence: "" } } as ItemVerdict,
  });

  it("what code found not met, and what it found that should not be there", () => {
    const items = [code(item("words"), "not_met"), code(item("list"), "met"), code(item("banned", { weight: -1 }), "met"), code(item("other", { weight: -1 }), "not_met"), code(item("if"), "not_applicable")];
    expect(said({ items })).toEqual([{ kind: "verified", met: 2, not_met: ["words?"], against: ["banned?"] }]);
  });

  it("what was cut, and whether probabilities were calibrated", () => {
    const truncations = [{ text: "response", kept_characters: 5, total_characters: 9 }];
    const record = { verdicts: [{ rubric_id: "a", rubric_name: "a", rubric_sha256: "", verdict: verdict(peaked(3)) }] } as JudgeRecord;
    const statements = said({ rows: [row("a", verdict(peaked(3)))], truncations, record: { ...record, calibration: "applied" } });
    expect(one(statements, "cut")?.truncations).toEqual(truncations);
    expect(one(statements, "calibration")?.calibration).toBe("applied");
    expect(one(said({ record }), "calibration")?.calibration).toBe("none");
    // Of no probabilities there is nothing to say.
    expect(one(said({ record: { ...record, verdicts: [] } }), "calibration")).toBeUndefined();
  });
});
