/**
 * Who leads among responses to one prompt, and whether it is clear. Pure: by rules, with no more than the figures support.
 *
 * Judged alone, a response is ahead by its mean place on the scales of those rubrics that all responses have a score for, and
 * clearly so where the difference exceeds the mean standard deviation of the rubrics' differences. As one model's errors go
 * together, they are not assumed to cancel out over the rubrics.
 *
 * Shown together, a response is ahead by its pairs won, ties counting a half (P21), and clearly so where it wins every one of
 * its pairs in both orders (P18).
 */
import { scoredOf } from "../../summary";
import type { Row } from "../../state";
import type { PairVerdict } from "../../types";

export type Standing =
  | { kind: "none" }
  /** `order`: the best first; `leader` is null where the first two are level. */
  | { kind: "ranked"; order: { id: string; value: number }[]; leader: string | null; clear: boolean };

export interface Alone {
  id: string;
  rows: Row[];
}

/** A mean closer than this is the same mean. */
const LEVEL = 1e-6;

export function aloneOf(entries: Alone[]): Standing & { skills: number } {
  const scored = entries.map(({ id, rows }) => ({ id, by: new Map(rows.flatMap((row) => scoredOf([row]).map((one) => [row.rubric.id, one] as const))) }));
  const shared = entries[0]?.rows.map(({ rubric }) => rubric.id).filter((rubric) => scored.every(({ by }) => by.has(rubric))) ?? [];
  if (entries.length < 2 || shared.length === 0) return { kind: "none", skills: 0 };
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const of = (id: string, rubric: string) => scored.find((one) => one.id === id)!.by.get(rubric)!;
  const order = scored.map(({ id, by }) => ({ id, value: mean(shared.map((rubric) => by.get(rubric)!.place)) })).sort((a, b) => b.value - a.value);
  const [best, ...others] = order;
  const level = others.some(({ value }) => best!.value - value <= LEVEL);
  const clear = !level && others.every(({ id, value }) =>
    best!.value - value > mean(shared.map((rubric) => Math.sqrt(of(best!.id, rubric).variance + of(id, rubric).variance))),
  );
  return { kind: "ranked", order, leader: level ? null : best!.id, clear, skills: shared.length };
}

/** `ids`: the responses in the order in which they were asked about. */
export function togetherOf(ids: string[], pairs: PairVerdict[]): Standing & { flipped: number; unscored: number; ties: number } {
  const points = new Map(ids.map((id) => [id, 0]));
  const count = { flipped: 0, unscored: 0, ties: 0 };
  let scored = 0;
  for (const { first, second, verdict } of pairs) {
    if (verdict.kind === "unscored") {
      count.unscored += 1;
      continue;
    }
    scored += 1;
    if (verdict.flipped) count.flipped += 1;
    if (verdict.preferred === null) count.ties += 1;
    for (const place of [first, second]) {
      const id = ids[place];
      if (id !== undefined) points.set(id, points.get(id)! + (verdict.preferred === null ? 0.5 : verdict.preferred === place ? 1 : 0));
    }
  }
  if (scored === 0) return { kind: "none", ...count };
  const order = [...points].map(([id, value]) => ({ id, value })).sort((a, b) => b.value - a.value);
  const [best, next] = order;
  const leader = best && next && best.value > next.value ? best.id : null;
  const place = leader === null ? -1 : ids.indexOf(leader);
  const won = pairs.filter(({ verdict }) => verdict.kind === "scored" && verdict.preferred === place && !verdict.flipped).length;
  return { kind: "ranked", order, leader, clear: leader !== null && won === ids.length - 1, ...count };
}

export type Lead =
  | { kind: "none" }
  | { kind: "level" }
  /** The two ways name different ones. */
  | { kind: "disagree"; alone: string; together: string }
  | { kind: "leads"; id: string; clear: boolean };

/** What both ways come to; it is clear only where each way that has figures is. */
export function leadOf(alone: Standing, together: Standing): Lead {
  const ways = [alone, together].filter((way) => way.kind === "ranked");
  if (ways.length === 0) return { kind: "none" };
  const [one, other] = ways.flatMap(({ leader }) => (leader === null ? [] : [leader]));
  if (one === undefined) return { kind: "level" };
  if (other !== undefined && other !== one) return { kind: "disagree", alone: one, together: other };
  return { kind: "leads", id: one, clear: ways.every(({ leader, clear }) => leader === one && clear) };
}

/** Of the pairs with a winner, in how many it is the longer one; pairs of the same length count in neither. */
export function longerPreferred(pairs: PairVerdict[], lengths: number[]): { longer: number; of: number } {
  let longer = 0;
  let of = 0;
  for (const { first, second, verdict } of pairs) {
    if (verdict.kind === "unscored" || verdict.preferred === null || lengths[first] === lengths[second]) continue;
    of += 1;
    if (verdict.preferred === (lengths[first]! > lengths[second]! ? first : second)) longer += 1;
  }
  return { longer, of };
}

/** A leader that is longer than every other by this factor may lead by its length. */
export const MUCH_LONGER = 1.2;

export function leadsByLength(leader: string, lengths: { id: string; length: number }[]): boolean {
  const own = lengths.find(({ id }) => id === leader)?.length ?? 0;
  return lengths.every(({ id, length }) => id === leader || own >= MUCH_LONGER * length);
}
