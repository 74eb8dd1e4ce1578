/** The results as rows of a table: made, filtered, searched, sorted. All pure. */
import { meanScale, type Scale } from "../../own-rubrics";
import { batchText as words } from "../../text/batch";
import type { Annotation, JudgeRecord, RewardRecord, Rubric } from "../../types";
import type { Asks, BatchResult, Outcome } from "./types";

/** What a row has of one measure, or why it has nothing. */
export type Cell = { score: number; why: null } | { score: null; why: string | null };

export interface Line {
  /** Its place in the file. */
  index: number;
  state: "waiting" | "judged" | "failed";
  /** One per measure of the batch; `why` is null where it was not asked. */
  cells: Cell[];
  /** Mean of the scores that `meanOf` names; null where none of them was scored. */
  mean: number | null;
  /** 0 to 1. */
  checklist: number | null;
  /** Why it could not be judged. */
  why: string | null;
  /** Ids. */
  domain: string | null;
  difficulty: string | null;
  /** How many questions were asked. */
  questions: number;
  ms: number | null;
}

export const OVERALL = "overall";

/** The rubrics that make up a row's mean: those of one scale, without the overall one; null where there is no such mean (P17). */
export const meanOf = (rubrics: Rubric[]): Scale | null => meanScale(rubrics, [OVERALL]);

export function mean(values: number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function waitingLine(index: number, asks: Asks): Line {
  return { index, state: "waiting", cells: Array.from({ length: asks.head?.outputs ?? asks.rubrics.length }, () => ({ score: null, why: null })), mean: null, checklist: null, why: null, domain: null, difficulty: null, questions: 0, ms: null };
}

/** What came of a row that was asked. Of a head, nothing but numbers is a result (P16): else the row can be tried again. */
export function outcomeOf(record: JudgeRecord | RewardRecord): Outcome {
  if (record.format === "retort.judgement/1") return { kind: "judged", record };
  const [reward] = record.rewards;
  if (reward?.kind === "unscored") return { kind: "failed", code: reward.code, message: reward.message };
  const numbers = reward !== undefined && reward.outputs.length > 0 && reward.outputs.every(Number.isFinite);
  return numbers ? { kind: "rewarded", record } : { kind: "failed", code: "no_number", message: words.noNumber };
}

/** What the table shows of a result. */
export function lineOf({ index, outcome, annotation, ms }: Omit<BatchResult, "batch">, asks: Asks): Line {
  const line = { ...waitingLine(index, asks), ...placeOf(annotation), ms };
  if (outcome.kind === "failed") return { ...line, state: "failed", why: outcome.message };
  if (outcome.kind === "rewarded") {
    const [reward] = outcome.record.rewards;
    const cells = line.cells.map((_, at): Cell => {
      if (reward?.kind !== "scored") return { score: null, why: reward?.message ?? "" };
      const value = reward.outputs[at];
      return value !== undefined && Number.isFinite(value) ? { score: value, why: null } : { score: null, why: words.noNumber };
    });
    return { ...line, state: "judged", cells, questions: 1 };
  }
  const { rubrics } = asks;
  const { verdicts, checklist } = outcome.record;
  const cells = rubrics.map(({ id }): Cell => {
    const verdict = verdicts.find(({ rubric_id }) => rubric_id === id)?.verdict;
    if (verdict === undefined) return { score: null, why: null };
    // A figure that is none is no score (P16).
    if (verdict.kind === "scored") return Number.isFinite(verdict.expected) ? { score: verdict.expected, why: null } : { score: null, why: "" };
    return { score: null, why: verdict.message };
  });
  const scores = (meanOf(rubrics)?.places ?? []).flatMap((place) => cells[place]!.score ?? []);
  return { ...line, state: "judged", cells, mean: mean(scores), checklist: checklist?.score.score ?? null, questions: verdicts.length + (checklist?.items.length ?? 0) };
}

function placeOf(annotation: Annotation | null): Pick<Line, "domain" | "difficulty"> {
  return { domain: annotation?.domains[0]?.domain ?? null, difficulty: annotation?.difficulty ?? null };
}

export type SortBy = { by: "index" | "state" | "mean" | "checklist" } | { by: "cell"; at: number };
export type Sort = SortBy & { down: boolean };

export type Show = "all" | "judged" | "unscored" | "failed" | "waiting";

/** Whether the row belongs to what is shown. `unscored`: judged, but with something that has no score. */
export function belongs(line: Line, show: Show): boolean {
  if (show === "all") return true;
  if (show === "unscored") return line.state === "judged" && line.cells.some(({ why }) => why !== null);
  return line.state === show;
}

const STATES: Line["state"][] = ["waiting", "failed", "judged"];

function valueOf(line: Line, sort: Sort): number | null {
  switch (sort.by) {
    case "index":
      return line.index;
    case "state":
      return STATES.indexOf(line.state);
    case "mean":
      return line.mean;
    case "checklist":
      return line.checklist;
    case "cell":
      return line.cells[sort.at]?.score ?? null;
  }
}

/** In order; rows without the figure come last, whichever way, and equal ones keep the file's order. */
export function sorted(lines: Line[], sort: Sort): Line[] {
  return [...lines].sort((a, b) => {
    const [x, y] = [valueOf(a, sort), valueOf(b, sort)];
    if (x === null || y === null) return x === y ? a.index - b.index : x === null ? 1 : -1;
    return (sort.down ? y - x : x - y) || a.index - b.index;
  });
}

/** Whether every word of the query stands somewhere in the row. `query` as `plainWords` gives it. */
export function hasWords(values: (string | null)[], query: string[]): boolean {
  if (query.length === 0) return true;
  const texts = values.map((value) => (value ?? "").normalize("NFC").toLowerCase());
  return query.every((word) => texts.some((one) => one.includes(word)));
}

export function plainWords(query: string): string[] {
  return query.normalize("NFC").toLowerCase().split(/\s+/).filter((word) => word !== "");
}
