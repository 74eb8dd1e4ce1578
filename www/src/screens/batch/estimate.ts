/** How long the rest of a batch takes, from what the rows before it took. Pure. */

export interface Load {
  /** Of prompt, response and reference together. */
  characters: number;
  questions: number;
}

/** What a rubric adds to each question, in characters: about ninety tokens. */
const PER_QUESTION = 350;
/** Older rows say little of how busy the machine is now. */
const LATEST = 30;

const work = ({ characters, questions }: Load) => characters + PER_QUESTION * questions;

/** Milliseconds that the rest will take; null before anything was measured. */
export function timeLeft(measured: (Load & { ms: number })[], rest: Load[]): number | null {
  const latest = measured.filter((one) => one.questions > 0).slice(-LATEST);
  const done = latest.reduce((sum, one) => sum + work(one), 0);
  const took = latest.reduce((sum, { ms }) => sum + ms, 0);
  if (done <= 0) return null;
  return (took / done) * rest.reduce((sum, one) => sum + work(one), 0);
}
