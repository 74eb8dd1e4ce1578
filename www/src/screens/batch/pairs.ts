/** Which scores stand beside which of a person's columns. Pure. */
import { labelsOf } from "../../own-rubrics";
import { scaleOf } from "../../radar";
import type { Rubric } from "../../types";
import { humanColumns } from "./mapping";
import { meanOf, OVERALL, type Line } from "./rows";
import type { Settings } from "./types";

export interface Pairing {
  /** The mean, the overall score, or a rubric by its label. */
  what: { kind: "mean" } | { kind: "overall" } | { kind: "rubric"; label: string };
  column: string;
  /** Of the scores. */
  min: number;
  max: number;
  scoreOf: (line: Line) => number | null;
}

/** The mean and the overall score with the column of one overall score, and each rubric with its own. */
export function pairingsOf(columns: string[], rubrics: Rubric[], settings: Pick<Settings, "mapping" | "human_by_skill">): Pairing[] {
  const pairings: Pairing[] = [];
  const { human } = settings.mapping;
  const by = humanColumns(columns, rubrics, settings);
  const ofRubric = (place: number, what: Pairing["what"], column: string): Pairing =>
    ({ what, column, ...scaleOf(rubrics[place]!), scoreOf: (line) => line.cells[place]?.score ?? null });
  if (human !== undefined && columns.includes(human)) {
    const mean = meanOf(rubrics);
    if (mean) pairings.push({ what: { kind: "mean" }, column: human, min: mean.min, max: mean.max, scoreOf: (line) => line.mean });
    const overall = rubrics.findIndex(({ id }) => id === OVERALL);
    if (overall >= 0 && by[OVERALL] !== human) pairings.push(ofRubric(overall, { kind: "overall" }, human));
  }
  const labels = labelsOf(rubrics);
  for (const [place, { id }] of rubrics.entries()) if (by[id] !== undefined) pairings.push(ofRubric(place, { kind: "rubric", label: labels[place]! }, by[id]));
  return pairings;
}

/** Whether a person's scores lie on the scale: else differences from them say nothing. */
export function onScale(human: (number | null)[], { min, max }: Pick<Pairing, "min" | "max">): boolean {
  return human.every((value) => value === null || (value >= min && value <= max));
}
