/** Means with intervals, by groups. All pure; what is drawn by chance is drawn from a seed. */
import type { Estimate } from "../../types";

/** Marsaglia's xorshift with 32 bits ("Xorshift RNGs", 2003): small, and the same everywhere. 0 to below 1. */
export function chance(seed: number): () => number {
  // Neighbouring seeds shall not give neighbouring sequences; and the state must not be 0.
  let state = Math.imul(seed + 1, 0x9e3779b1) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

export const RESAMPLES = 1000;
/** With more groups than this the interval is taken from the standard error, to which the bootstrap's has come close. */
export const MOST_RESAMPLED = 400;

/**
 * The mean with its 95 % interval: percentile bootstrap (Efron 1979) over groups, since rows of one prompt are not independent.
 * Null where there is nothing to take a mean of; the interval of a single group is its mean.
 */
export function meanWithInterval(values: number[], groups: (string | number)[], seed: number): Estimate {
  if (values.length === 0) return null;
  const sums = new Map<string | number, { sum: number; count: number }>();
  for (const [i, value] of values.entries()) {
    const group = sums.get(groups[i]!) ?? { sum: 0, count: 0 };
    group.sum += value;
    group.count += 1;
    sums.set(groups[i]!, group);
  }
  const parts = [...sums.values()];
  const value = values.reduce((sum, one) => sum + one, 0) / values.length;
  if (parts.length > MOST_RESAMPLED) {
    // Of a ratio of sums over groups: linearised (Cochran, Sampling Techniques, 6.3).
    const spread = parts.reduce((sum, part) => sum + (part.sum - value * part.count) ** 2, 0);
    const error = Math.sqrt((spread * parts.length) / (parts.length - 1)) / values.length;
    return { value, low: value - 1.96 * error, high: value + 1.96 * error };
  }
  const draw = chance(seed);
  const means = Float64Array.from({ length: RESAMPLES }, () => {
    let [sum, count] = [0, 0];
    for (let i = 0; i < parts.length; i++) {
      const part = parts[Math.floor(draw() * parts.length)]!;
      sum += part.sum;
      count += part.count;
    }
    return sum / count;
  }).sort();
  return { value, low: means[Math.floor(0.025 * RESAMPLES)]!, high: means[Math.ceil(0.975 * RESAMPLES) - 1]! };
}

export interface Bar {
  label: string;
  n: number;
  estimate: Estimate;
}

export interface Member {
  label: string;
  value: number;
  group: string | number;
}

/** One bar per label, in the given order of labels; labels without a value are left out. */
export function barsOf(members: Member[], labels: string[], seed: number): Bar[] {
  return labels.flatMap((label) => {
    const own = members.filter((member) => member.label === label);
    if (own.length === 0) return [];
    return [{ label, n: own.length, estimate: meanWithInterval(own.map(({ value }) => value), own.map(({ group }) => group), seed) }];
  });
}
