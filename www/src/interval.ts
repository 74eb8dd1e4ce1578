/** How wide a distribution over a rubric's levels lies. Pure. */
import type { OptionProbability } from "./types";

export interface Interval {
  low: number;
  high: number;
}

/** Sums of probabilities are exact to about 1e-7, since the engine computes them in 32 bits. */
const SLACK = 1e-6;

/**
 * Where the middle 80 % lie: from the level at which the probabilities, added up from below, reach 10 % to the one at which
 * they reach 90 %. As levels are few, more than 80 % may lie there, never less. Null where there is no distribution.
 */
export function middleOf(distribution: OptionProbability[], share = 0.8): Interval | null {
  const sorted = [...distribution].sort((a, b) => a.value - b.value);
  const sum = sorted.reduce((total, { probability }) => total + probability, 0);
  if (!(sum > 0) || !Number.isFinite(sum)) return null;
  const at = (reached: number): number => {
    let below = 0;
    for (const { value, probability } of sorted) {
      below += probability / sum;
      if (below >= reached - SLACK) return value;
    }
    return sorted.at(-1)!.value;
  };
  return { low: at((1 - share) / 2), high: at((1 + share) / 2) };
}

/** The variance about the distribution's own mean; null where there is no distribution. */
export function varianceOf(distribution: OptionProbability[]): number | null {
  const sum = distribution.reduce((total, { probability }) => total + probability, 0);
  if (!(sum > 0) || !Number.isFinite(sum)) return null;
  const mean = distribution.reduce((total, { value, probability }) => total + value * probability, 0) / sum;
  return distribution.reduce((total, { value, probability }) => total + (value - mean) ** 2 * probability, 0) / sum;
}
