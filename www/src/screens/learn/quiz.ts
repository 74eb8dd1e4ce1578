/** A quiz as one value. All pure. */
import type { Question } from "./lesson";

export interface Quiz {
  /** The chosen option's place, by question; null where none is chosen. */
  chosen: (number | null)[];
  /** Whether the answers were checked: they then stand, until the quiz is taken again. */
  checked: boolean;
}

export const fresh = (questions: Question[]): Quiz => ({ chosen: questions.map(() => null), checked: false });

export function choose(quiz: Quiz, question: number, option: number): Quiz {
  if (quiz.checked) return quiz;
  return { ...quiz, chosen: quiz.chosen.map((before, i) => (i === question ? option : before)) };
}

/** Places of the questions without an answer, counted from 1. */
export const unanswered = (quiz: Quiz): number[] => quiz.chosen.flatMap((option, i) => (option === null ? [i + 1] : []));

/** Checks the answers; the same quiz where one is missing. */
export const check = (quiz: Quiz): Quiz => (unanswered(quiz).length > 0 ? quiz : { ...quiz, checked: true });

export const rightOf = (quiz: Quiz, questions: Question[]): number =>
  questions.filter(({ options }, i) => options[quiz.chosen[i] ?? -1]?.right === true).length;
