/** Whether a radar chart of the results would tell the truth, and its figures. */
import type { Rubric, RubricVerdict } from "./types";

export interface RadarRow {
  rubric: Rubric;
  verdict: RubricVerdict | null;
}

export type Radar =
  | {
      kind: "chart";
      min: number;
      max: number;
      labels: string[];
      /** Null where there is no score (yet): a gap in the line, never a zero. */
      values: (number | null)[];
    }
  | { kind: "none"; why: "too_few" | "mixed_scales" };

/** A radar with fewer axes is a line or a point. */
export const LEAST_AXES = 3;

export function scaleOf(rubric: Pick<Rubric, "options">): { min: number; max: number } {
  const values = rubric.options.map((option) => option.value);
  return { min: Math.min(...values), max: Math.max(...values) };
}

/** One chart has one scale, so rubrics of different ranges get none (P17). */
export function radarOf(rows: RadarRow[]): Radar {
  if (rows.length < LEAST_AXES) return { kind: "none", why: "too_few" };
  const scales = rows.map((row) => scaleOf(row.rubric));
  const { min, max } = scales[0]!;
  if (scales.some((scale) => scale.min !== min || scale.max !== max)) return { kind: "none", why: "mixed_scales" };
  return {
    kind: "chart",
    min,
    max,
    labels: rows.map((row) => row.rubric.name),
    values: rows.map((row) => (row.verdict?.verdict.kind === "scored" ? row.verdict.verdict.expected : null)),
  };
}

/** Breaks a label into lines of about `width` characters, between words. */
export function wrapLabel(label: string, width = 14): string[] {
  const lines: string[] = [];
  for (const word of label.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
