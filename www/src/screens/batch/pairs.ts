/** Which scores stand beside which of a person's columns. Pure. */
import { labelsOf } from "../../own-rubrics";
import { humanColumns } from "./mapping";
import { measuresOf, type Measure } from "./measures";
import { meanOf, OVERALL, type Line } from "./rows";
import type { Asks, Settings } from "./types";

export interface Pairing {
  /** The mean, the overall score, or one measure by its label. */
  what: { kind: "mean" } | { kind: "overall" } | { kind: "measure"; label: string };
  column: string;
  /** Of the scores. */
  scale: Measure["scale"];
  scoreOf: (line: Line) => number | null;
}

/** Whether there is something to compare one overall score with: of several outputs nobody knows which one it would be. */
export const hasOverall = ({ head }: Asks): boolean => head === undefined || head.outputs === 1;

/** Whether columns are asked for of each measure alone: the one output of a head has that of the overall score. */
export const hasOwnColumns = ({ head }: Asks): boolean => head === undefined || head.outputs > 1;

/** The mean and the overall score, or the one output of a head, with the column of one overall score, and each other measure with its own. */
export function pairingsOf(columns: string[], asks: Asks, settings: Pick<Settings, "mapping" | "human_by_skill">): Pairing[] {
  const pairings: Pairing[] = [];
  const { rubrics } = asks;
  const measures = measuresOf(asks);
  const labels = labelsOf(measures);
  const { human } = settings.mapping;
  const by = hasOwnColumns(asks) ? humanColumns(columns, measures, settings) : {};
  const ofMeasure = (place: number, what: Pairing["what"], column: string): Pairing =>
    ({ what, column, scale: measures[place]!.scale, scoreOf: (line) => line.cells[place]?.score ?? null });
  if (human !== undefined && columns.includes(human) && hasOverall(asks)) {
    const mean = meanOf(rubrics);
    if (mean) pairings.push({ what: { kind: "mean" }, column: human, scale: { min: mean.min, max: mean.max }, scoreOf: (line) => line.mean });
    const overall = rubrics.findIndex(({ id }) => id === OVERALL);
    if (overall >= 0 && by[OVERALL] !== human) pairings.push(ofMeasure(overall, { kind: "overall" }, human));
    if (asks.head) pairings.push(ofMeasure(0, { kind: "measure", label: labels[0]! }, human));
  }
  for (const [place, { id }] of measures.entries()) if (by[id] !== undefined) pairings.push(ofMeasure(place, { kind: "measure", label: labels[place]! }, by[id]));
  return pairings;
}

/** Whether a person's scores lie on the scale: else differences from them say nothing. */
export function onScale(human: (number | null)[], scale: Measure["scale"]): boolean {
  return scale !== null && human.every((value) => value === null || (value >= scale.min && value <= scale.max));
}
