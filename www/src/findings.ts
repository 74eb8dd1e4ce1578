/** What became of a checklist's items, and the passages that show it. All pure. */
import type { ItemRow } from "./state";
import type { ItemVerdict } from "./types";

/** The one word for an item: what decided it, and how. */
export type Outcome =
  | { kind: "waiting" }
  | { kind: "met" | "not_met"; by: "code" }
  /** 0 to 1: the probability of yes, or (answer - 1) / 4 where the answer is 1 to 5. */
  | { kind: "judged"; by: "model"; value: number }
  | { kind: "not_applicable"; by: "code" | "model"; reason: string }
  | { kind: "unscored"; by: "model"; reason: string };

export function outcomeOf(verdict: ItemVerdict | null): Outcome {
  if (verdict === null) return { kind: "waiting" };
  if (verdict.by === "code") {
    const { finding } = verdict;
    return finding.verdict === "not_applicable"
      ? { kind: "not_applicable", by: "code", reason: finding.sentence }
      : { kind: finding.verdict, by: "code" };
  }
  const judged = verdict.verdict;
  if (judged.kind === "unscored") {
    return judged.code === "not_applicable"
      ? { kind: "not_applicable", by: "model", reason: judged.message }
      : { kind: "unscored", by: "model", reason: judged.message };
  }
  const value = (judged.expected - judged.min) / (judged.max - judged.min);
  // A scale without a range, or a figure that is none, says nothing: never a number in its place (P16).
  return Number.isFinite(value) ? { kind: "judged", by: "model", value } : { kind: "unscored", by: "model", reason: "" };
}

export interface Tally {
  /** 0 to 1, or null where nothing could be decided. */
  score: number | null;
  /** Items in all. */
  items: number;
  verified: number;
  judged: number;
  not_applicable: number;
  unscored: number;
  waiting: number;
  /** Verified and met, or judged above one half, whatever the weight. */
  found: number;
}

/**
 * The sum of weight times value over the decided items, divided by the sum of their positive weights, and cut to 0 to
 * 1: as the engine scores a checklist (retort-checklist's `score`). The page needs it for parts of a list, and before
 * the record is there. What does not apply or has no verdict is in no sum.
 */
export function tallyOf(rows: ItemRow[]): Tally {
  const tally: Tally = { score: null, items: rows.length, verified: 0, judged: 0, not_applicable: 0, unscored: 0, waiting: 0, found: 0 };
  let reached = 0;
  let reachable = 0;
  for (const { item, verdict } of rows) {
    const outcome = outcomeOf(verdict);
    const weight = item.weight ?? 1;
    let value: number | null = null;
    switch (outcome.kind) {
      case "met":
      case "not_met":
        tally.verified += 1;
        value = outcome.kind === "met" ? 1 : 0;
        break;
      case "judged":
        tally.judged += 1;
        value = outcome.value;
        break;
      default:
        tally[outcome.kind] += 1;
    }
    if (value === null) continue;
    if (value > 0.5) tally.found += 1;
    reached += weight * value;
    reachable += Math.max(weight, 0);
  }
  if (reachable > 0) tally.score = Math.min(1, Math.max(0, reached / reachable));
  return tally;
}

export interface Segment {
  text: string;
  marked: boolean;
}

/** Cuts a text where ranges begin and end. Overlapping and adjacent ranges become one; what lies outside is cut off. */
export function segmentsOf(text: string, ranges: readonly { start: number; end: number }[]): Segment[] {
  const sorted = ranges
    .map(({ start, end }) => ({ start: Math.max(0, start), end: Math.min(text.length, end) }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  const segments: Segment[] = [];
  let at = 0;
  for (let i = 0; i < sorted.length; ) {
    const { start } = sorted[i]!;
    let { end } = sorted[i]!;
    for (i += 1; i < sorted.length && sorted[i]!.start <= end; i++) end = Math.max(end, sorted[i]!.end);
    if (start > at) segments.push({ text: text.slice(at, start), marked: false });
    segments.push({ text: text.slice(start, end), marked: true });
    at = end;
  }
  if (at < text.length) segments.push({ text: text.slice(at), marked: false });
  return segments;
}
