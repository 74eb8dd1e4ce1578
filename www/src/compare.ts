/** The ways to judge as one mean each, to be seen side by side. Pure. */
import { tallyOf } from "./findings";
import { isSkill } from "./own-rubrics";
import type { ItemRow, Row, Run } from "./state";

export interface Mean {
  /** On the scale from `min` to `max`; null where nothing is scored (yet). */
  mean: number | null;
  max: number;
  scored: number;
  all: number;
}

/** The mean of FLASK's skills, which share one scale. Rubrics of one's own may have another, so they are left out. */
export function skillsMean(rows: Row[]): Mean {
  const skills = rows.filter((row) => isSkill(row.rubric.id));
  const scores = skills.flatMap((row) => (row.verdict?.verdict.kind === "scored" ? [row.verdict.verdict.expected] : []));
  return {
    mean: scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length,
    max: 5,
    scored: scores.length,
    all: skills.length,
  };
}

/** Of answers from 1 to 5, the mean is 1 + 4 times the checklist's score, so that weights count here too. */
export function hardMean(rows: ItemRow[]): Mean {
  const { score, verified, judged } = tallyOf(rows);
  return { mean: score === null ? null : 1 + 4 * score, max: 5, scored: verified + judged, all: rows.length };
}

export function overallMean(row: Row): Mean {
  const verdict = row.verdict?.verdict;
  const max = Math.max(...row.rubric.options.map((option) => option.value));
  return { mean: verdict?.kind === "scored" ? verdict.expected : null, max, scored: verdict?.kind === "scored" ? 1 : 0, all: 1 };
}

/** The ways that a run has, where there are two to compare. */
export function meansOf(run: Run, questions: ItemRow[]): { way: "skills" | "hard" | "overall"; mean: Mean }[] {
  const skills = skillsMean(run.rows);
  const ways = [
    ...(skills.all > 0 ? [{ way: "skills" as const, mean: skills }] : []),
    ...(questions.length > 0 ? [{ way: "hard" as const, mean: hardMean(questions) }] : []),
    ...(run.overall ? [{ way: "overall" as const, mean: overallMean(run.overall) }] : []),
  ];
  return ways.length > 1 ? ways : [];
}
