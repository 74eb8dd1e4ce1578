/**
 * What the figures of a run come to in plain words, by rules. Pure: statements here, their words in `text.summary`.
 *
 * Two skills are told apart only where the difference of their expectations exceeds the standard deviation of that difference,
 * √(σ₁² + σ₂²), with σ² the variance of each skill's distribution over its levels: the model's own doubt about the two. Whatever
 * is closer is called the same. Scales of different ranges are compared by the place on the scale, 0 to 1 (P14, P17).
 */
import { outcomeOf } from "./findings";
import { middleOf, varianceOf } from "./interval";
import type { ItemRow, Row, Run } from "./state";
import type { JudgeRecord, Truncation } from "./types";

export type Statement =
  /** Not one skill has a score. */
  | { kind: "no_scores" }
  /** One skill alone has a score. */
  | { kind: "one_score"; name: string; score: number; min: number; max: number }
  /** No two skills can be told apart; scores only where all have one scale. */
  | { kind: "alike"; count: number; range: { lowest: number; highest: number; max: number } | null }
  | { kind: "extremes"; strongest: string[]; weakest: string[]; between: number }
  /** `wide`: how many skills have their middle 80 % over half the scale or more. */
  | { kind: "sureness"; level: "sure" | "mixed" | "unsure"; wide: number; count: number }
  /** The scores were written by the judge. */
  | { kind: "written" }
  /** The model would rather have answered something else. */
  | { kind: "low_mass"; names: string[] }
  | { kind: "not_applicable"; names: string[] }
  | { kind: "unscored"; names: string[] }
  | { kind: "not_reached"; count: number; cancelled: boolean }
  /** What code found not to be so, as the items ask it; with a weight below 0 it is what was found and should not be there. */
  | { kind: "verified"; met: number; not_met: string[]; against: string[] }
  | { kind: "judged_items"; likely: number; count: number }
  | { kind: "cut"; truncations: Truncation[] }
  | { kind: "calibration"; calibration: "applied" | "off" | "none" };

/** Below it, most of the probability went to what is no answer. */
const LOW_MASS = 0.5;

interface Scored {
  name: string;
  /** Place on the scale, 0 to 1, and its variance on that scale. */
  place: number;
  variance: number;
  score: number;
  min: number;
  max: number;
  mass: number;
  /** Of a score that was written nothing is known of how sure it is. */
  written: boolean;
  /** The middle 80 % cover half the scale or more. */
  wide: boolean;
}

export function scoredOf(rows: Row[]): Scored[] {
  return rows.flatMap(({ rubric, verdict: given }) => {
    const verdict = given?.verdict;
    if (verdict?.kind !== "scored") return [];
    const { expected: score, min, max, mass } = verdict;
    const range = max - min;
    const variance = varianceOf(verdict.distribution);
    const middle = middleOf(verdict.distribution);
    // What has no range or no distribution cannot be compared.
    if (!(range > 0) || !Number.isFinite(score) || variance === null || middle === null) return [];
    return [{
      name: rubric.name, place: (score - min) / range, variance: variance / range ** 2, score, min, max, mass, written: verdict.method === "written",
      wide: (middle.high - middle.low) / range >= 0.5,
    }];
  });
}

/** Whether the difference of two is more than the model's doubt about it. */
export function differ(a: Pick<Scored, "place" | "variance">, b: Pick<Scored, "place" | "variance">): boolean {
  return Math.abs(a.place - b.place) > Math.sqrt(a.variance + b.variance);
}

export function summaryOf(run: Pick<Run, "rows" | "items" | "phase" | "truncations" | "record">): Statement[] {
  return [
    ...ofSkills(run.rows),
    ...ofMissing(run),
    ...ofItems(run.items),
    ...(run.truncations.length > 0 ? [{ kind: "cut" as const, truncations: run.truncations }] : []),
    ...ofCalibration(run.record),
  ];
}

function ofSkills(rows: Row[]): Statement[] {
  if (rows.length === 0) return [];
  const scored = scoredOf(rows).sort((a, b) => b.place - a.place);
  const [best] = scored;
  const worst = scored.at(-1);
  if (!best || !worst) return [{ kind: "no_scores" }];
  const wide = scored.filter((one) => one.wide).length;
  const low = scored.filter(({ mass }) => mass < LOW_MASS).map(({ name }) => name);
  const statements: Statement[] = [];
  if (scored.length === 1) {
    statements.push({ kind: "one_score", name: best.name, score: best.score, min: best.min, max: best.max });
  } else if (!differ(best, worst)) {
    const one = scored.every(({ min, max }) => min === best.min && max === best.max);
    statements.push({ kind: "alike", count: scored.length, range: one ? { lowest: worst.score, highest: best.score, max: best.max } : null });
  } else {
    // Who is like the best and unlike the worst is strong; who is like both or like neither is between.
    const strongest = scored.filter((one) => !differ(one, best) && differ(one, worst));
    const weakest = scored.filter((one) => !differ(one, worst) && differ(one, best)).reverse();
    statements.push({
      kind: "extremes", strongest: strongest.map(({ name }) => name), weakest: weakest.map(({ name }) => name),
      between: scored.length - strongest.length - weakest.length,
    });
  }
  if (scored.every(({ written }) => written)) return [...statements, { kind: "written" }];
  statements.push({
    kind: "sureness", level: wide === 0 ? "sure" : wide * 2 > scored.length ? "unsure" : "mixed", wide, count: scored.length,
  });
  if (low.length > 0) statements.push({ kind: "low_mass", names: low });
  return statements;
}

function ofMissing({ rows, phase }: Pick<Run, "rows" | "phase">): Statement[] {
  const without = (applicable: boolean) => rows.flatMap(({ rubric, verdict }) =>
    verdict?.verdict.kind === "unscored" && (verdict.verdict.code !== "not_applicable") === applicable ? [rubric.name] : [],
  );
  const [na, unscored] = [without(false), without(true)];
  const missing = phase === "running" ? 0 : rows.filter(({ verdict }) => verdict === null).length;
  return [
    ...(na.length > 0 ? [{ kind: "not_applicable" as const, names: na }] : []),
    ...(unscored.length > 0 ? [{ kind: "unscored" as const, names: unscored }] : []),
    ...(missing > 0 ? [{ kind: "not_reached" as const, count: missing, cancelled: phase === "cancelled" }] : []),
  ];
}

function ofItems(items: ItemRow[]): Statement[] {
  const statements: Statement[] = [];
  let met = 0;
  let likely = 0;
  let judged = 0;
  const not_met: string[] = [];
  const against: string[] = [];
  for (const { item, verdict } of items) {
    const outcome = outcomeOf(verdict);
    const negative = (item.weight ?? 1) < 0;
    if (outcome.kind === "met" && negative) against.push(item.question);
    else if (outcome.kind === "not_met" && !negative) not_met.push(item.question);
    else if (outcome.kind === "met" || outcome.kind === "not_met") met += 1;
    else if (outcome.kind === "judged" && item.answer !== "one_to_five" && !negative) {
      judged += 1;
      if (outcome.value > 0.5) likely += 1;
    }
  }
  if (met + not_met.length + against.length > 0) statements.push({ kind: "verified", met, not_met, against });
  if (judged > 0) statements.push({ kind: "judged_items", likely, count: judged });
  return statements;
}

function ofCalibration(record: JudgeRecord | null): Statement[] {
  if (!record || record.form !== undefined) return [];
  const scored = record.verdicts.some(({ verdict }) => verdict.kind === "scored");
  return scored ? [{ kind: "calibration", calibration: record.calibration ?? "none" }] : [];
}
