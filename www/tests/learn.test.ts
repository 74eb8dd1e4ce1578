import { beforeEach, describe, expect, it, vi } from "vitest";
import { act, choicesOf, fromShared, missingIn, prefilled, toShared } from "../src/screens/learn/fields";
import { binsOf, brierOf, calibrationErrorOf, kappaOf, spreadOf, wordsOf } from "../src/screens/learn/figures";
import { lessonNamed, LESSONS } from "../src/screens/learn/lessons";
import type { Lesson, Question } from "../src/screens/learn/lesson";
import { stepsOf } from "../src/screens/learn/plan";
import { kept, progress, readProgress, recallProgress, setProgress, withResult } from "../src/screens/learn/progress";
import { check, choose, fresh, rightOf, unanswered } from "../src/screens/learn/quiz";
import { packState, unpackState } from "../src/share";
import type { Rubric } from "../src/types";

const lesson = (id: string): Lesson => lessonNamed(id)!.lesson;
const rubric = (id: string, ability: Rubric["ability"] = "user_alignment"): Rubric => ({ id, name: id, ability, criterion: "", question: null, options: [1, 2, 3, 4, 5].map((value) => ({ label: String(value), value, description: null })) });
/** The twelve ids, from the protocol's taxonomy (FLASK, table of skills). */
const TWELVE = [
  "logical_robustness", "logical_correctness", "logical_efficiency", "factuality", "commonsense_understanding", "comprehension", "insightfulness", "completeness",
  "metacognition", "readability", "conciseness", "harmlessness",
];
const engine = { builtin: TWELVE.map((id) => rubric(id)), overall: rubric("overall", null) };

describe.each(LESSONS.map((one) => [one.id, one] as const))("the lesson %s", (_, one) => {
  it("has all its parts", () => {
    for (const words of [one.title, one.aim, one.task, one.honest, ...one.explain, ...one.sources, ...one.look]) expect(words.trim().length).toBeGreaterThan(5);
    expect(one.explain.length).toBeGreaterThanOrEqual(3);
    expect(one.sources.length).toBeGreaterThan(0);
    expect(one.look.length).toBeGreaterThanOrEqual(3);
    expect(one.minutes).toBeGreaterThanOrEqual(4);
    expect(one.minutes).toBeLessThanOrEqual(6);
    expect(missingIn(one, prefilled(one))).toBeNull();
    expect(new Set(one.fields.map(({ name }) => name)).size).toBe(one.fields.length);
  });

  it("has three questions with one right answer each, and a reason for every answer", () => {
    expect(one.quiz).toHaveLength(3);
    for (const { options } of one.quiz) {
      expect(options.filter(({ right }) => right)).toHaveLength(1);
      expect(options.length).toBeGreaterThanOrEqual(3);
      for (const { why } of options) expect(why.length).toBeGreaterThan(10);
      expect(new Set(options.map(({ text }) => text)).size).toBe(options.length);
    }
  });

  it("asks only by fields and skills that there are", () => {
    const steps = stepsOf(one, prefilled(one), engine);
    expect(steps.length).toBeGreaterThan(0);
    for (const step of steps) {
      if (step.kind === "judge") {
        expect(step.request.prompt).not.toBe("");
        expect(step.request.response).not.toBe("");
        expect(step.request.rubrics.length).toBeGreaterThan(0);
      } else if (step.kind === "compare") expect(step.request.responses.every((text) => text !== "")).toBe(true);
      else expect(step.request.instruction).not.toBe("");
    }
    const { experiment } = one;
    if (experiment.kind === "scores" && experiment.skills !== "all") expect(experiment.skills.filter((skill) => !TWELVE.includes(skill))).toEqual([]);
    if (experiment.kind === "ratings") for (const ratings of [experiment.ada, experiment.ben]) expect(ratings).toHaveLength(experiment.answers.length);
    // Every action changes fields of the lesson and no others.
    for (const action of one.actions) expect(Object.keys(act(action, prefilled(one))).sort()).toEqual(Object.keys(prefilled(one)).sort());
  });

  it("goes through a link and comes back", async () => {
    const fields = Object.fromEntries(Object.entries(prefilled(one)).map(([name, value]) => [name, choicesOf(one).includes(name) ? (name.startsWith("rating") ? "3" : "65") : `${value} 世界`]));
    expect(fromShared(one, await unpackState(await packState(toShared(one, fields))))).toEqual(fields);
  });
});

describe("the lessons", () => {
  it("are the nine, in an order with neighbours", () => {
    expect(LESSONS.map(({ id }) => id)).toEqual(["number", "rubric", "position", "verbosity", "checklist", "reference", "agreement", "calibration", "limits"]);
    expect(lessonNamed("position")).toMatchObject({ place: 3, previous: { id: "rubric" }, next: { id: "verbosity" } });
    expect(lessonNamed("number")!.previous).toBeNull();
    expect(lessonNamed("limits")!.next).toBeNull();
    expect(lessonNamed("toString")).toBeNull();
  });

  it("judge the original and the edited rubric", () => {
    const one = lesson("rubric");
    const steps = stepsOf(one, { ...prefilled(one), criterion: "New?", "level-2": "Worse." }, engine);
    const rubrics = steps.map((step) => (step.kind === "judge" ? step.request.rubrics[0]! : null));
    expect(rubrics[0]!.criterion).not.toBe("New?");
    expect(rubrics[1]).toMatchObject({ criterion: "New?", options: [{ value: 1 }, { value: 2, description: "Worse." }, {}, {}, {}] });
    // Nothing edited: the same question to the letter.
    const plain = stepsOf(one, prefilled(one), engine);
    expect(plain[0]!.request).toEqual(plain[1]!.request);
  });

  it("give the reference to one of two judgements only", () => {
    const [without, with_] = stepsOf(lesson("reference"), prefilled(lesson("reference")), engine);
    expect("reference" in without!.request).toBe(false);
    expect(with_!.request).toHaveProperty("reference", prefilled(lesson("reference"))["reference"]);
  });

  it("pad whatever stands in the short answer, and swap", () => {
    const one = lesson("verbosity");
    const padded = act(one.actions[0]!, { ...prefilled(one), short: "  Six minutes. " });
    expect(padded["long"]).toContain(" Six minutes. ");
    expect(wordsOf(padded["long"]!)).toBeGreaterThan(40);
    expect(act({ label: "", kind: "swap", fields: ["a", "b"] }, { a: "1", b: "2" })).toEqual({ a: "2", b: "1" });
  });
});

describe("a link's content", () => {
  const one = lesson("agreement");
  it("is only what differs from the prefilled texts", () => {
    expect(toShared(one, prefilled(one))).toEqual({ v: 1, lesson: "agreement", fields: {} });
    expect(toShared(one, { ...prefilled(one), "rating-2": "5" }).fields).toEqual({ "rating-2": "5" });
  });

  it("is refused where it is not of this lesson or malformed", () => {
    const good = { v: 1, lesson: "agreement", fields: { question: "Mine?" } };
    expect(fromShared(one, good)).toMatchObject({ question: "Mine?", "rating-1": "" });
    for (const bad of [null, 7, [], {}, { ...good, v: 2 }, { ...good, lesson: "position" }, { ...good, lesson: 3 }, { ...good, fields: null }, { ...good, fields: [] },
      { ...good, fields: { question: 7 } }, { ...good, fields: { other: "" } }, { ...good, fields: { "rating-1": "6" } }, { ...good, fields: { constructor: "x" } },
      JSON.parse('{"v":1,"lesson":"agreement","fields":{"__proto__":"x"}}') as unknown]) expect(fromShared(one, bad)).toBeNull();
    expect(fromShared(lesson("calibration"), { v: 1, lesson: "calibration", fields: { "guess-1": "51" } })).toBeNull();
  });
});

describe("a quiz", () => {
  const questions: Question[] = [0, 1].map((i) => ({ question: `${i}`, options: [{ text: "a", right: i === 0, why: "" }, { text: "b", right: i === 1, why: "" }] }));
  it("is checked only when everything is answered, and then stands", () => {
    let quiz = fresh(questions);
    expect(unanswered(quiz)).toEqual([1, 2]);
    quiz = choose(quiz, 0, 0);
    expect(check(quiz).checked).toBe(false);
    quiz = check(choose(choose(quiz, 1, 1), 1, 0));
    expect(quiz).toEqual({ chosen: [0, 0], checked: true });
    expect(rightOf(quiz, questions)).toBe(1);
    expect(choose(quiz, 1, 1)).toBe(quiz);
  });
});

describe("progress", () => {
  beforeEach(() => {
    vi.unstubAllGlobals();
    kept.value = true;
    progress.value = {};
  });
  const stub = (store: Map<string, string>) => vi.stubGlobal("localStorage", {
    getItem: (key: string) => store.get(key) ?? null, setItem: (key: string, value: string) => void store.set(key, value), removeItem: (key: string) => void store.delete(key),
  });

  it("keeps the best result and is there again", () => {
    stub(new Map());
    setProgress(withResult({}, "position", 2));
    setProgress(withResult(progress.value, "position", 1));
    progress.value = {};
    recallProgress();
    expect(progress.value).toEqual({ position: 2 });
  });

  it("leaves out what it would not have stored", () => {
    expect(readProgress('{"position":2,"number":4,"rubric":-1,"limits":1.5,"verbosity":"3","nobody":1,"toString":1}')).toEqual({ position: 2 });
    for (const stored of [null, "", "{", "7", "null", "[1]"]) expect(readProgress(stored)).toEqual({});
  });

  it("lasts as long as the page where storage is denied", () => {
    vi.stubGlobal("localStorage", { getItem: () => { throw new Error("denied"); }, setItem: () => { throw new Error("denied"); }, removeItem: () => { throw new Error("denied"); } });
    recallProgress();
    expect(kept.value).toBe(false);
    setProgress({ number: 3 });
    expect(progress.value).toEqual({ number: 3 });
  });
});

describe("figures", () => {
  it("kappa: Cohen's two-by-two example by hand", () => {
    // 20 + 15 of 50 alike: 0.7. Chance: (25/50)(30/50) + (25/50)(20/50) = 0.5. (0.7 − 0.5) / 0.5 = 0.4.
    const first = [...Array<number>(25).fill(1), ...Array<number>(25).fill(2)];
    const second = [...Array<number>(20).fill(1), ...Array<number>(5).fill(2), ...Array<number>(10).fill(1), ...Array<number>(15).fill(2)];
    const found = kappaOf(first, second)!;
    expect(found).toMatchObject({ n: 50, same: 0.7 });
    expect(found.chance).toBeCloseTo(0.5, 12);
    expect(found.kappa).toBeCloseTo(0.4, 12);
  });

  it("kappa leaves out what one has not rated, and is undefined where both always say the same (P22, P23)", () => {
    expect(kappaOf([1, null, 2], [1, 2, null])).toEqual({ n: 1, same: 1, chance: 1, kappa: null });
    expect(kappaOf([null], [1])).toBeNull();
    // The quiz's example: nine of ten a “4” each, never together otherwise: 0.8 alike by 0.82 of chance.
    const nine = (at: number) => Array.from({ length: 10 }, (_, i) => (i === at ? 3 : 4));
    expect(kappaOf(nine(0), nine(1))!.kappa).toBeCloseTo((0.8 - 0.82) / 0.18, 12);
  });

  it("Brier and calibration error by hand", () => {
    const bins = binsOf([{ said: 0.8, isTrue: true }, { said: 0.2, isTrue: true }, { said: 0.8, isTrue: false }, { said: 0.8, isTrue: true }]);
    expect(bins).toEqual([{ said: 0.2, count: 1, came: 1 }, { said: 0.8, count: 3, came: 2 }]);
    // (0.04 + 0.64 + 0.64 + 0.04) / 4
    expect(brierOf(bins)).toBeCloseTo(0.34, 12);
    // (1 × 0.8 + 3 × |0.8 − 2/3|) / 4 = (0.8 + 0.4) / 4
    expect(calibrationErrorOf(bins)).toBeCloseTo(0.3, 12);
    // What the lesson says of 50% each time.
    expect(brierOf([{ said: 0.5, count: 12, came: 6 }])).toBe(0.25);
    expect(brierOf([])).toBeNull();
  });

  it("a spread leaves out what has no score (P15)", () => {
    expect(spreadOf([3, null, 4])).toEqual({ mean: 3.5, low: 3, high: 4 });
    expect(spreadOf([null])).toBeNull();
  });

  it("words of any script with spaces", () => expect(wordsOf(" één  δύο\nдва ")).toBe(3));
});
