/** How far a run has come, in numbers and in words. */
import { isHard } from "./asks";
import { outcomeOf } from "./findings";
import type { ItemRow, Row, Run } from "./state";
import { text } from "./text";

export const isScored = (row: Row): boolean => row.verdict?.verdict.kind === "scored";
/** An item that does not apply is decided; one without a verdict is not. */
export const isDecided = (row: ItemRow): boolean => !["waiting", "unscored"].includes(outcomeOf(row.verdict).kind);

/** Of all questions of a run, the share that has an answer of any kind. */
export function shareArrived(run: Run): number {
  const all: { verdict: unknown }[] = [...run.rows, ...run.items, ...(run.overall ? [run.overall] : [])];
  return all.length === 0 ? 0 : all.filter((row) => row.verdict !== null).length / all.length;
}

/** "12 of 12 skills scored, 7 of 9 items decided", naming only what was asked for. */
export function progressOf(run: Run): string {
  const hard = run.items.filter(({ item }) => isHard(item));
  const list = run.items.filter(({ item }) => !isHard(item));
  const parts = [];
  if (run.rows.length > 0) parts.push(text.results.skillsScored(run.rows.filter(isScored).length, run.rows.length));
  if (list.length > 0) parts.push(text.results.itemsDecided(list.filter(isDecided).length, list.length));
  if (hard.length > 0) parts.push(text.results.questionsScored(hard.filter(isDecided).length, hard.length));
  if (run.overall) parts.push(text.results.overallScored(isScored(run.overall)));
  return parts.join(", ");
}

export function standingOf(run: Run): string {
  const say = { running: text.results.running, done: text.results.done, cancelled: text.results.cancelled, failed: text.results.stopped };
  return say[run.phase](progressOf(run));
}
