/** What a lesson is made of. Its words are in `text/learn/lessons.ts`. */
import type { Rubric, SkillId } from "../../types";

export type LessonId = "number" | "rubric" | "position" | "verbosity" | "checklist" | "reference" | "agreement" | "calibration" | "limits";

/** A text that the learner can change. */
export interface Field {
  name: string;
  label: string;
  value: string;
  /** May be empty. */
  optional?: boolean;
  /** 3 where it is absent. */
  rows?: number;
}

/** A change to the texts at one press. */
export type TextAction = { label: string } & (
  | { kind: "set"; fields: Record<string, string> }
  | { kind: "swap"; fields: [string, string] }
  /** `to` becomes the text of `from` between two others that add words and nothing else. */
  | { kind: "pad"; from: string; to: string; before: string; after: string }
);

/** One judgement of an experiment: which field is read as what. */
export interface Arm {
  name: string;
  prompt: string;
  response: string;
  reference?: string;
  /** Judged by the rubric in the fields rather than by skills. */
  rubric?: "original" | "edited";
}

export type Experiment =
  | { kind: "scores"; arms: Arm[]; skills: SkillId[] | "all"; overall: boolean; rubric?: Rubric }
  | { kind: "compare"; prompt: string; first: string; second: string }
  | { kind: "checklist"; prompt: string; response: string }
  | { kind: "ratings"; question: string; answers: string[]; ada: number[]; ben: number[] }
  | { kind: "calibration"; prompt: string; response: string; statements: { text: string; isTrue: boolean }[] };

export interface Option {
  text: string;
  right: boolean;
  /** Shown when it was chosen: why it is right or wrong. */
  why: string;
}

export interface Question {
  question: string;
  /** Exactly one is right. */
  options: Option[];
}

export interface Lesson {
  id: LessonId;
  title: string;
  /** What one can do after it, in one sentence. */
  aim: string;
  minutes: number;
  explain: string[];
  sources: string[];
  /** What to do, in a sentence or two. */
  task: string;
  fields: Field[];
  actions: TextAction[];
  experiment: Experiment;
  look: string[];
  honest: string;
  quiz: Question[];
}
