/** The arithmetic of the lessons that the engine does not do. All pure. */
import type { JudgeRecord, RubricVerdict } from "../../types";

/** How two raters agree on whole ratings. */
export interface Kappa {
  n: number;
  /** Share of equal ratings. */
  same: number;
  /** Share of equal ratings that chance gives, by how often each rater uses each rating. */
  chance: number;
  /** (same − chance) / (1 − chance), Cohen 1960; null where chance alone gives full agreement. */
  kappa: number | null;
}

/** Null where nothing was rated by both. */
export function kappaOf(first: (number | null)[], second: (number | null)[]): Kappa | null {
  const pairs = first.flatMap((a, i) => {
    const b = second[i] ?? null;
    return a === null || b === null ? [] : [[a, b] as const];
  });
  const n = pairs.length;
  if (n === 0) return null;
  const same = pairs.filter(([a, b]) => a === b).length / n;
  const ratings = new Set(pairs.flat());
  let chance = 0;
  for (const rating of ratings) chance += (pairs.filter(([a]) => a === rating).length / n) * (pairs.filter(([, b]) => b === rating).length / n);
  return { n, same, chance, kappa: ratings.size === 1 ? null : (same - chance) / (1 - chance) };
}

export interface Guess {
  /** Probability that was said, 0 to 1. */
  said: number;
  isTrue: boolean;
}

/** All guesses that said the same. */
export interface Bin {
  said: number;
  count: number;
  /** Of `count`. */
  came: number;
}

/** One bin per probability that was said, lowest first; none that is empty. */
export function binsOf(guesses: Guess[]): Bin[] {
  const bins = new Map<number, Bin>();
  for (const { said, isTrue } of guesses) {
    const bin = bins.get(said) ?? { said, count: 0, came: 0 };
    bin.count += 1;
    if (isTrue) bin.came += 1;
    bins.set(said, bin);
  }
  return [...bins.values()].sort((a, b) => a.said - b.said);
}

/** Mean squared distance between what was said and what was true (Brier 1950, for one of two outcomes): 0 to 1. Null without guesses. */
export function brierOf(bins: Bin[]): number | null {
  const n = total(bins);
  if (n === 0) return null;
  return bins.reduce((sum, { said, count, came }) => sum + came * (1 - said) ** 2 + (count - came) * said ** 2, 0) / n;
}

/** Expected calibration error (Guo et al. 2017, section 2): mean distance between said and came true, weighed by count. Null without guesses. */
export function calibrationErrorOf(bins: Bin[]): number | null {
  const n = total(bins);
  if (n === 0) return null;
  return bins.reduce((sum, { said, count, came }) => sum + count * Math.abs(said - came / count), 0) / n;
}

const total = (bins: Bin[]) => bins.reduce((sum, { count }) => sum + count, 0);

/** Words, as people count them: runs of letters in between white space. */
export const wordsOf = (text: string) => text.match(/\S+/gu)?.length ?? 0;

export const verdictOf = (record: JudgeRecord | null, rubric: string): RubricVerdict["verdict"] | null =>
  record?.verdicts.find(({ rubric_id }) => rubric_id === rubric)?.verdict ?? null;

/** The expected score, or null where there is none. */
export function scoreOf(verdict: RubricVerdict["verdict"] | null): number | null {
  return verdict?.kind === "scored" && Number.isFinite(verdict.expected) ? verdict.expected : null;
}

/** Mean, least and most of the figures that are there; null without any. */
export function spreadOf(scores: (number | null)[]): { mean: number; low: number; high: number } | null {
  const there = scores.filter((score) => score !== null);
  if (there.length === 0) return null;
  return { mean: there.reduce((a, b) => a + b, 0) / there.length, low: Math.min(...there), high: Math.max(...there) };
}
