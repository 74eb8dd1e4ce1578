import { describe, expect, it } from "vitest";
import { readingOf } from "../src/screens/batch/agree";
import { timeLeft } from "../src/screens/batch/estimate";
import { askedToday, differences } from "../src/screens/batch/identity";
import { edgeText, spreadOf } from "../src/screens/batch/distribution";
import { annotationIn, columnsKey, humanBySkill, humanColumns, mappingOf, merged, namesOf, numberOf } from "../src/screens/batch/mapping";
import { measuresOf } from "../src/screens/batch/measures";
import { onScale, pairingsOf } from "../src/screens/batch/pairs";
import { withResults } from "../src/screens/batch/results";
import { belongs, hasWords, lineOf, outcomeOf, plainWords, sorted, waitingLine, type Line } from "../src/screens/batch/rows";
import { barsOf, chance, meanWithInterval, MOST_RESAMPLED } from "../src/screens/batch/stats";
import type { Asks } from "../src/screens/batch/types";
import type { Agreement, JudgeRecord, Reward, RewardRecord, Rubric, Table, Verdict, Vocabulary } from "../src/types";

const rubric = (id: string, values = [1, 2, 3, 4, 5]): Rubric =>
  ({ id, name: id, ability: null, criterion: "", question: null, options: values.map((value) => ({ label: String(value), value, description: null })) });
const scored = (expected: number): Verdict => ({ kind: "scored", expected, min: 1, max: 5, distribution: [], mass: 0.9, method: "option_probabilities", truncated: false });
const none = (message: string): Verdict => ({ kind: "unscored", code: "mass_too_low", message });
const record = (verdicts: Record<string, Verdict>) =>
  ({ format: "retort.judgement/1", verdicts: Object.entries(verdicts).map(([rubric_id, verdict]) => ({ rubric_id, rubric_name: rubric_id, rubric_sha256: "", verdict })) }) as unknown as JudgeRecord;

describe("columns", () => {
  const table = { columns: ["q", "a", "score"], roles: { prompt: "q", response: "a" } };
  it("takes what was chosen before over what the table suggests, and no column that is not there", () => {
    expect(mappingOf(table, null)).toEqual({ prompt: "q", response: "a" });
    expect(mappingOf(table, { prompt: "a", response: "q", human: "gone" })).toEqual({ prompt: "a", response: "q" });
  });
  it("knows files of one kind by their columns, whatever the order", () => {
    expect(columnsKey(["a", "b"])).toBe(columnsKey(["b", "a"]));
    expect(columnsKey(["a", "b"])).not.toBe(columnsKey(["a,b"]));
  });
  it("finds columns with a person's score of a skill", () => {
    const rubrics = [{ id: "readability", name: "Readability" }, { id: "logical_correctness", name: "Logical correctness" }, { id: "factuality", name: "Factuality" }];
    expect(humanBySkill(["id", "score.readability", "Logical Correctness", "is factuality high"], rubrics)).toEqual({ readability: "score.readability", logical_correctness: "Logical Correctness" });
  });
  it("finds them whatever the case, the spaces and the word in front, and never among the columns of other parts", () => {
    const rubrics = [{ id: "plain_words", name: "Plain words" }, { id: "overall", name: "Overall quality" }, { id: "日本語", name: "日本語" }];
    expect(humanBySkill(["Human_PlainWords"], rubrics)).toEqual({ plain_words: "Human_PlainWords" });
    expect(humanBySkill(["label plain  words", "GOLD_OVERALL"], rubrics)).toEqual({ plain_words: "label plain  words", overall: "GOLD_OVERALL" });
    expect(humanBySkill(["gold_日本語", "words"], rubrics)).toEqual({ 日本語: "gold_日本語" });
    expect(humanBySkill(["overall", "---"], rubrics, ["overall"])).toEqual({});
    const twins = [{ id: "readability", name: "Readability" }, { id: "custom_readability", name: "Readability" }];
    expect(humanBySkill(["human_readability"], twins)).toEqual({ readability: "human_readability" });
    expect(humanBySkill(["human_readability", "gold_custom_readability"], twins)).toEqual({ readability: "human_readability", custom_readability: "gold_custom_readability" });
    const settings = { mapping: { prompt: "plain words", human: "overall" }, human_by_skill: { overall: "", plain_words: "mine" } };
    // "none" stands against the guess, a choice against none; what the file does not have is no choice.
    expect(humanColumns(["plain words", "overall", "mine"], rubrics, settings)).toEqual({ plain_words: "mine" });
    expect(humanColumns(["plain words", "overall"], rubrics, settings)).toEqual({});
    expect(humanColumns(["plain words", "overall"], rubrics, { ...settings, human_by_skill: {} })).toEqual({ overall: "overall" });
  });
  it("reads numbers and nothing else: what is no number is never 0 (P16)", () => {
    expect([" 4.5 ", "-3", "1e2", ".5"].map(numberOf)).toEqual([4.5, -3, 100, 0.5]);
    expect(["", " ", "N/A", "4/5", "0x10", "Infinity", null].map(numberOf)).toEqual(Array(7).fill(null));
  });
  it("reads lists of names", () => {
    expect([namesOf('["a, b","c"]'), namesOf("a; b|c"), namesOf("[a"), namesOf(null)]).toEqual([["a, b", "c"], ["a", "b", "c"], ["[a"], []]);
  });
  it("takes from the file what it says, and the rest from the words", () => {
    const vocabulary = {
      skills: [{ id: "readability", name: "Readability", ability: "" }], domains: [{ id: "natural_science", name: "Natural Science", subdomains: [], variant: "general" }],
      difficulties: [{ id: "major_level", level: 4, name: "Major level", definitions: {} }],
    } as unknown as Vocabulary;
    const file = annotationIn(["s", "d", "h"], ["Readability, Wit", "natural science", "4"], { skills: "s", domain: "d", difficulty: "h" }, vocabulary);
    expect(file).toEqual({ skills: ["readability"], domains: [{ domain: "natural_science", subdomain: null }], difficulty: "major_level", by: "file" });
    expect(annotationIn(["s"], ["Wit"], { skills: "s" }, vocabulary)).toBeNull();
    expect(merged({ ...file!, difficulty: null }, { skills: ["factuality"], domains: [], difficulty: "expert_level", by: "code" })).toEqual({ ...file, difficulty: "expert_level" });
  });
});

describe("time left", () => {
  it("goes by how much there is to read and to ask", () => {
    // 650 characters and one question weigh 650 + 350 = 1000, in 2 s; the rest weighs 2 · 500 + 3 · 1000.
    const rest = [...Array<object>(2).fill({ characters: 150, questions: 1 }), ...Array<object>(3).fill({ characters: 300, questions: 2 })] as { characters: number; questions: number }[];
    expect(timeLeft([{ characters: 650, questions: 1, ms: 2000 }], rest)).toBe(8000);
  });
  it("is unknown before a row was judged", () => {
    expect(timeLeft([], [{ characters: 1, questions: 1 }])).toBeNull();
    expect(timeLeft([{ characters: 5, questions: 0, ms: 1 }], [])).toBeNull();
  });
});

describe("rows", () => {
  const rubrics = [rubric("readability"), rubric("factuality"), rubric("overall")];
  const judged = (index: number, verdicts: Record<string, Verdict>): Line => lineOf({ index, outcome: { kind: "judged", record: record(verdicts) }, annotation: null, ms: 5 }, { rubrics });
  it("takes the mean of what was scored, without the overall score, and says why something was not", () => {
    const line = judged(0, { readability: scored(4), factuality: none("too little"), overall: scored(1) });
    expect(line.mean).toBe(4);
    expect(line.cells).toEqual([{ score: 4, why: null }, { score: null, why: "too little" }, { score: 1, why: null }]);
    expect(judged(0, { factuality: none("") }).mean).toBeNull();
    expect(judged(0, { readability: scored(NaN) })).toMatchObject({ mean: null, cells: [{ score: null, why: "" }, {}, {}] });
  });
  it("takes no mean over two scales (P17)", () => {
    const mixed = [rubric("readability"), rubric("kind"), rubric("points", [0, 50, 100]), rubric("overall")];
    const of = (rubrics: Rubric[]) => lineOf({ index: 0, outcome: { kind: "judged", record: record({ readability: scored(2), kind: scored(4), points: scored(80) }) }, annotation: null, ms: 5 }, { rubrics }).mean;
    // (2 + 4) / 2: what is on the skills' scale, and not the points.
    expect(of(mixed)).toBe(3);
    expect(of([mixed[2]!])).toBe(80);
    expect(of([mixed[1]!, mixed[2]!])).toBeNull();
  });
  const [low, high, bare, failed, waiting] = [
    judged(0, { readability: scored(2) }), judged(1, { readability: scored(5) }), judged(2, { readability: none("x") }),
    lineOf({ index: 3, outcome: { kind: "failed", code: "no_text", message: "no response" }, annotation: null, ms: null }, { rubrics }), waitingLine(4, { rubrics }),
  ];
  const lines = [low, high, bare, failed, waiting];
  it("sorts rows without a figure to the end, whichever way", () => {
    expect(sorted(lines, { by: "mean", down: true }).map(({ index }) => index)).toEqual([1, 0, 2, 3, 4]);
    expect(sorted(lines, { by: "cell", at: 0, down: false }).map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(sorted(lines, { by: "state", down: false }).map(({ index }) => index)).toEqual([4, 3, 0, 1, 2]);
  });
  it("filters by what became of a row", () => {
    const of = (show: Parameters<typeof belongs>[1]) => lines.filter((line) => belongs(line, show)).map(({ index }) => index);
    expect([of("all"), of("judged"), of("unscored"), of("failed"), of("waiting")]).toEqual([[0, 1, 2, 3, 4], [0, 1, 2], [2], [3], [4]]);
  });
  it("searches every word in every column, whatever the case and composition", () => {
    expect(hasWords(["Größe", null, "zwei"], plainWords("ZWEI gro\u0308\u00dfe"))).toBe(true);
    expect(hasWords(["eins"], plainWords("eins zwei"))).toBe(false);
  });
  it("writes results behind the file's own columns, under names of their own (P30)", () => {
    const table: Table = { container: "csv", shape: null, columns: ["q", "retort_mean"], rows: [{ line: 2, values: ["a", "mine"] }, { line: 3, values: ["b", null] }], faults: [], roles: {} };
    const out = withResults(table, [judged(0, { readability: scored(3.123456), factuality: none("too little") }), failed], { rubrics }, false);
    expect(out.columns).toEqual(["q", "retort_mean", "retort_readability", "retort_factuality", "retort_overall", "retort_state", "retort_mean_2", "retort_domain", "retort_difficulty", "retort_not_scored"]);
    expect(out.rows[0]).toEqual({ line: 2, values: ["a", "mine", "3.1235", null, null, "judged", "3.1235", null, null, "factuality: too little"] });
    expect(out.rows[1]!.values).toEqual(["b", null, null, null, null, "failed", null, null, null, "no response"]);
  });
});

describe("means", () => {
  it("draws the same from the same seed, evenly", () => {
    const [a, b, other] = [chance(7), chance(7), chance(8)];
    const drawn = Array.from({ length: 4000 }, () => a());
    expect(drawn.slice(0, 3)).toEqual([b(), b(), b()]);
    expect(other()).not.toBe(drawn[0]);
    // The mean of 4,000 even draws has a standard error of 0.29 / √4000 = 0.0046.
    expect(drawn.reduce((sum, x) => sum + x, 0) / 4000).toBeCloseTo(0.5, 1);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
  });
  it("gives an interval as wide as the standard error says", () => {
    // 0 and 1 in turn, 100 of each way: mean 0.5, standard error 0.5 / √200 = 0.0354, so 0.431 to 0.569.
    const values = Array.from({ length: 200 }, (_, i) => i % 2);
    const estimate = meanWithInterval(values, values.map((_, i) => i), 1)!;
    expect(estimate.value).toBe(0.5);
    expect(estimate.low).toBeCloseTo(0.431, 1);
    expect(estimate.high).toBeCloseTo(0.569, 1);
    const many = Array.from({ length: 2 * MOST_RESAMPLED }, (_, i) => i % 2);
    // 0.5 · √(800 / 799) / √800 · 1.96 = 0.03467
    expect(meanWithInterval(many, many.map((_, i) => i), 1)!.high - 0.5).toBeCloseTo(0.03467, 4);
  });
  it("is wider where rows belong together", () => {
    const values = Array.from({ length: 100 }, (_, i) => (i < 50 ? 0 : 1));
    const apart = meanWithInterval(values, values.map((_, i) => i), 1)!;
    const together = meanWithInterval(values, values.map((_, i) => Math.floor(i / 25)), 1)!;
    expect(together.high - together.low).toBeGreaterThan(2 * (apart.high - apart.low));
    expect(meanWithInterval([2, 4], ["one", "one"], 1)).toEqual({ value: 3, low: 3, high: 3 });
    expect(meanWithInterval([], [], 1)).toBeNull();
  });
  it("makes one bar per label that has values", () => {
    const bars = barsOf([{ label: "b", value: 1, group: 0 }, { label: "a", value: 3, group: 1 }], ["a", "b", "c"], 1);
    expect(bars.map(({ label, n, estimate }) => [label, n, estimate?.value])).toEqual([["a", 1, 3], ["b", 1, 1]]);
  });
});

describe("what is said of an agreement", () => {
  const with_ = (n: number, spearman: Agreement["spearman"]) => readingOf({ n, left_out: 0, pearson: null, spearman, kendall: null, mean_error: null, alpha: null });
  it("goes by the lower end of the interval", () => {
    const rho = (low: number, value: number, high: number) => with_(50, { value, low, high });
    expect([with_(19, { value: 1, low: 1, high: 1 }), with_(50, null), rho(-0.1, 0.3, 0.6), rho(-0.6, -0.4, -0.1), rho(0.1, 0.4, 0.7), rho(0.3, 0.5, 0.7), rho(0.7, 0.8, 0.9)])
      .toEqual(["few", "undefined", "none", "against", "weak", "moderate", "strong"]);
  });
});

describe("a person's columns beside the scores", () => {
  const rubrics = [rubric("readability"), rubric("points", [0, 50, 100]), rubric("overall")];
  const line = lineOf({ index: 0, outcome: { kind: "judged", record: record({ readability: scored(2), points: scored(80), overall: scored(3) }) }, annotation: null, ms: 5 }, { rubrics });
  const told = (human_by_skill: Record<string, string>, columns = ["human", "human_points"]) =>
    pairingsOf(columns, { rubrics }, { mapping: { human: "human" }, human_by_skill }).map(({ what, column, scale, scoreOf }) => [what.kind === "measure" ? what.label : what.kind, column, scale?.min, scale?.max, scoreOf(line)]);
  it("have the scale of the rubric that they speak of", () => {
    expect(told({})).toEqual([["mean", "human", 1, 5, 2], ["overall", "human", 1, 5, 3], ["points", "human_points", 0, 100, 80]]);
    expect(told({ points: "", overall: "human" })).toEqual([["mean", "human", 1, 5, 2], ["overall", "human", 1, 5, 3]]);
    expect(told({}, [])).toEqual([]);
  });
  it("say nothing by their differences where they lie on another scale", () => {
    expect(onScale([1, null, 5], { min: 1, max: 5 })).toBe(true);
    expect(onScale([80, null], { min: 1, max: 5 })).toBe(false);
    expect(onScale([0], { min: 1, max: 5 })).toBe(false);
    // What has no bounds is no scale that anything could lie on.
    expect(onScale([1], null)).toBe(false);
  });
});

describe("a model's own head", () => {
  const rewards = (...given: Reward[]) => ({ format: "retort.reward/1", rewards: given }) as unknown as RewardRecord;
  const of = (...outputs: number[]): Reward => ({ kind: "scored", outputs });
  const one: Asks = { rubrics: [], head: { outputs: 1, labels: [] } };
  const three: Asks = { rubrics: [], head: { outputs: 3, labels: ["helpful", "", "a.b c"] } };
  const line = (index: number, asks: Asks, reward: Reward): Line => lineOf({ index, outcome: outcomeOf(rewards(reward)), annotation: null, ms: 5 }, asks);
  it("has a figure of each output, without bounds, called as the file says", () => {
    expect(measuresOf(one)).toEqual([{ id: "output_1", name: "Reward", scale: null }]);
    expect(measuresOf(three).map(({ id, name, scale }) => [id, name, scale])).toEqual([["output_1_helpful", "helpful", null], ["output_2", "Output 2", null], ["output_3_a.b c", "a.b c", null]]);
    expect(measuresOf({ rubrics: [rubric("points", [0, 50, 100])] })).toEqual([{ id: "points", name: "points", scale: { min: 0, max: 100 } }]);
  });
  it("gives a row its numbers, below 0 too, and no mean", () => {
    expect(line(3, three, of(-2.5, 0, 41))).toMatchObject({ index: 3, state: "judged", mean: null, why: null, questions: 1, ms: 5, cells: [{ score: -2.5, why: null }, { score: 0, why: null }, { score: 41, why: null }] });
    expect(waitingLine(0, three).cells).toHaveLength(3);
    // Fewer outputs than the file said: what is not there is told, and is not 0.
    expect(line(0, three, of(1)).cells.map(({ score }) => score)).toEqual([1, null, null]);
    expect(belongs(line(0, three, of(1)), "unscored")).toBe(true);
  });
  it("does not score what it gives no number for, and says why (P16)", () => {
    const failed = [outcomeOf(rewards({ kind: "unscored", code: "too_long", message: "Too long." })), outcomeOf(rewards(of(1, Number.NaN))), outcomeOf(rewards(of())), outcomeOf(rewards())];
    expect(failed.map((outcome) => outcome.kind === "failed" && outcome.code)).toEqual(["too_long", "no_number", "no_number", "no_number"]);
    expect(line(0, one, of(Number.POSITIVE_INFINITY))).toMatchObject({ state: "failed", cells: [{ score: null, why: null }], why: "What the model’s head gave is no number." });
    expect(outcomeOf(record({}))).toMatchObject({ kind: "judged" });
  });
  it("sorts by an output, rows without a number last", () => {
    const lines = [line(0, three, of(1, 9, 0)), waitingLine(1, three), line(2, three, of(2, -9, 0))];
    expect(sorted(lines, { by: "cell", at: 1, down: false }).map(({ index }) => index)).toEqual([2, 0, 1]);
    expect(sorted(lines, { by: "cell", at: 1, down: true }).map(({ index }) => index)).toEqual([0, 2, 1]);
  });
  it("is written behind the file's own columns: no mean, no dots in a name, all seven digits that 32 bits hold", () => {
    const table: Table = { container: "jsonl", shape: null, columns: ["q", "retort_reward_helpful"], rows: [{ line: 1, values: ["a", "mine"] }, { line: 2, values: ["b", null] }], faults: [], roles: {} };
    // 1.2345679 is 1.234567890123 in seven digits, rounded; 0.00001234567 keeps all of its own.
    const out = withResults(table, [line(0, three, of(-1.234567890123, 0.00001234567, 41)), waitingLine(1, three)], three, false);
    expect(out.columns).toEqual(["q", "retort_reward_helpful", "retort_reward_helpful_2", "retort_reward_2", "retort_reward_a_b_c", "retort_state", "retort_not_scored"]);
    expect(out.rows.map(({ values }) => values)).toEqual([["a", "mine", "-1.234568", "0.00001234567", "41", "judged", null], ["b", null, null, null, null, "waiting", null]]);
    expect(withResults({ ...table, columns: ["q"], rows: table.rows.slice(0, 1) }, [line(0, one, of(1))], one, false).columns).toEqual(["q", "retort_reward", "retort_state", "retort_not_scored"]);
  });
  it("stands beside the column of an overall score where it has one output, else each output beside its own", () => {
    const told = (asks: Asks, human_by_skill: Record<string, string> = {}) =>
      pairingsOf(["human", "human_helpful", "reward"], asks, { mapping: { human: "human" }, human_by_skill }).map(({ what, column, scale, scoreOf }) => [what.kind === "measure" && what.label, column, scale, scoreOf(line(0, asks, of(7, 8, 9)))]);
    // A column called like the one output may be what another model gave: it is not taken for a person's.
    expect(told(one)).toEqual([["Reward", "human", null, 7]]);
    expect(told(three)).toEqual([["helpful", "human_helpful", null, 7]]);
    expect(told(three, { output_1_helpful: "", output_2: "human" })).toEqual([["Output 2", "human", null, 8]]);
  });
});

describe("how numbers are spread", () => {
  const bins = (...values: number[]) => spreadOf(values)!.bins.map(({ low, high, count }) => [low, high, count]);
  it("counts them in ranges of one round width, from an edge to below the next", () => {
    // From -3 to 4 are 7, a tenth of which is 0.7: the next round width is 1.
    expect(bins(-3, -2.5, 0, 0.99, 4)).toEqual([[-3, -2, 2], [-2, -1, 0], [-1, 0, 0], [0, 1, 2], [1, 2, 0], [2, 3, 0], [3, 4, 0], [4, 5, 1]]);
    // 3 * 0.1 is a little more than 0.3 in binary, which belongs to the range that begins with it all the same.
    expect(bins(0.1, 0.3, 0.6, 1.1).filter(([, , count]) => count! > 0)).toEqual([[0.1, 0.2, 1], [0.3, 0.4, 1], [0.6, 0.7, 1], [1.1, 1.2, 1]]);
    const many = Array.from({ length: 1000 }, (_, i) => 100 * Math.sin(i));
    expect(spreadOf(many)!.bins.reduce((sum, { count }) => sum + count, 0)).toBe(1000);
    expect(spreadOf(many)!.bins.length).toBeLessThanOrEqual(12);
  });
  it("says lowest, median, mean and highest", () => {
    expect(spreadOf([4, -2, 1, 9, Number.NaN])).toMatchObject({ n: 4, lowest: -2, median: 2.5, mean: 3, highest: 9 });
    expect(spreadOf([5, 1, 2])).toMatchObject({ median: 2 });
  });
  it("has one range for equal numbers, and nothing for none", () => {
    expect(bins(2.5, 2.5)).toEqual([[2.5, 2.5, 2]]);
    expect(bins(0)).toEqual([[0, 0, 1]]);
    expect(spreadOf([Number.NaN])).toBeNull();
  });
  it("writes edges with as many decimals as the width has", () => {
    const text = (low: number, high: number) => [low, high].map((value) => edgeText(value, { low, high, count: 0 }));
    expect([text(-2, 0), text(0.2, 0.3), text(0.05, 0.1), text(2.5, 2.5)]).toEqual([["-2", "0"], ["0.2", "0.3"], ["0.05", "0.10"], ["2.500", "2.500"]]);
  });
});

it("goes on with its own rubrics as it has kept them, and with the built-in ones only if they are the same", () => {
  const own = rubric("points", [0, 50, 100]);
  const kept = [rubric("readability"), own, rubric("overall")];
  expect(askedToday(kept, [rubric("readability"), rubric("factuality"), rubric("overall")])).toEqual(kept);
  const reworded = { ...rubric("readability"), criterion: "another" };
  expect(askedToday(kept, [reworded, rubric("overall")])).toEqual([reworded, own, rubric("overall")]);
  expect(askedToday(kept, [])).toEqual([own]);
});

it("a batch is tied to engine, model, adapter and rubrics (P31)", () => {
  const judge = { engine: "1", model: "m", adapter: "a", asked: "options", rubrics: "r" };
  expect(differences(judge, { ...judge })).toEqual([]);
  expect(differences(judge, { engine: "2", model: "n", adapter: "", asked: "selene", rubrics: "s" })).toEqual(["model", "adapter", "asked", "rubrics", "engine"]);
});
