/** How numbers without a scale are spread: counted in ranges of one round width. Pure. */

/** A number belongs to it from `low` to below `high`. */
export interface Bin {
  low: number;
  high: number;
  count: number;
}

export interface Spread {
  n: number;
  lowest: number;
  median: number;
  mean: number;
  highest: number;
  bins: Bin[];
}

/** About so many ranges. */
const RANGES = 10;

/** The smallest of 1, 2 and 5 times a power of ten that is not below. */
function roundWidth(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * power).find((width) => width >= least * (1 - 1e-9)) ?? 10 * power;
}

/** The `at`-th edge, without the traces of binary fractions that 3 * 0.1 has. */
const edge = (at: number, width: number) => Number((at * width).toPrecision(12));

/** Null where there is no number. Equal numbers have one range, without a width. */
export function spreadOf(values: number[]): Spread | null {
  const numbers = values.filter(Number.isFinite).sort((a, b) => a - b);
  const n = numbers.length;
  if (n === 0) return null;
  const [lowest, highest] = [numbers[0]!, numbers[n - 1]!];
  const median = (numbers[Math.floor((n - 1) / 2)]! + numbers[Math.floor(n / 2)]!) / 2;
  const spread = { n, lowest, median, mean: numbers.reduce((sum, value) => sum + value, 0) / n, highest };
  // Closer than the 32 bits of an output can tell apart.
  if (highest - lowest <= 1e-9 * Math.max(Math.abs(lowest), Math.abs(highest))) return { ...spread, bins: [{ low: lowest, high: highest, count: n }] };
  const width = roundWidth((highest - lowest) / RANGES);
  const placeOf = (value: number) => {
    const near = Math.floor(value / width);
    return value < edge(near, width) ? near - 1 : value >= edge(near + 1, width) ? near + 1 : near;
  };
  const first = placeOf(lowest);
  const bins = Array.from({ length: placeOf(highest) - first + 1 }, (_, i): Bin => ({ low: edge(first + i, width), high: edge(first + i + 1, width), count: 0 }));
  for (const value of numbers) bins[placeOf(value) - first]!.count += 1;
  return { ...spread, bins };
}

/** An edge with as many decimals as the ranges are wide. */
export function edgeText(value: number, { low, high }: Bin): string {
  const width = high - low;
  const decimals = width > 0 ? Math.max(0, -Math.floor(Math.log10(width) + 1e-9)) : 3;
  return decimals > 6 || Math.abs(value) >= 1e9 ? value.toPrecision(4) : value.toFixed(decimals);
}
