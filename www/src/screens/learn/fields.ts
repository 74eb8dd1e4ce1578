/** The texts of a lesson as the learner has them: by name, all strings, so that a link can carry them. All pure. */
import { isLesson } from "./lessons";
import type { Field, Lesson, LessonId, TextAction } from "./lesson";

export type Fields = Readonly<Record<string, string>>;

/** What is chosen rather than typed: ratings and guesses. Empty where nothing is chosen yet. */
export const choicesOf = (lesson: Lesson): string[] =>
  lesson.experiment.kind === "ratings"
    ? lesson.experiment.answers.map((_, i) => `rating-${i + 1}`)
    : lesson.experiment.kind === "calibration" ? lesson.experiment.statements.map((_, i) => `guess-${i + 1}`) : [];

/** Probabilities, in percent, that a guess can have. */
export const GUESSES = [5, 20, 35, 50, 65, 80, 95];

export function prefilled(lesson: Lesson): Fields {
  return Object.fromEntries([...lesson.fields.map(({ name, value }) => [name, value] as const), ...choicesOf(lesson).map((name) => [name, ""] as const)]);
}

/** The first field that must not be empty and is. */
export function missingIn(lesson: Lesson, fields: Fields): Field | null {
  return lesson.fields.find(({ name, optional }) => optional !== true && (fields[name] ?? "").trim() === "") ?? null;
}

export function act(action: TextAction, fields: Fields): Fields {
  switch (action.kind) {
    case "set":
      return { ...fields, ...action.fields };
    case "swap": {
      const [a, b] = action.fields;
      return { ...fields, [a]: fields[b] ?? "", [b]: fields[a] ?? "" };
    }
    case "pad":
      return { ...fields, [action.to]: `${action.before} ${(fields[action.from] ?? "").trim()} ${action.after}` };
  }
}

/** What a link carries: only what differs from the prefilled texts. */
export interface Shared {
  v: 1;
  lesson: LessonId;
  fields: Record<string, string>;
}

export function toShared(lesson: Lesson, fields: Fields): Shared {
  const own = prefilled(lesson);
  const differs = Object.entries(fields).filter(([name, value]) => name in own && own[name] !== value);
  return { v: 1, lesson: lesson.id, fields: Object.fromEntries(differs) };
}

/** The texts that a link carries for this lesson, or null where it is not of this lesson or malformed. Strangers write links. */
export function fromShared(lesson: Lesson, shared: unknown): Fields | null {
  if (typeof shared !== "object" || shared === null) return null;
  const { v, lesson: id, fields } = shared as Partial<Record<keyof Shared, unknown>>;
  if (v !== 1 || typeof id !== "string" || !isLesson(id) || id !== lesson.id) return null;
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return null;
  const known = prefilled(lesson);
  const choices = choicesOf(lesson);
  const taken: Record<string, string> = { ...known };
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(known, name) || typeof value !== "string") return null;
    if (choices.includes(name) && !allowed(name, value)) return null;
    taken[name] = value;
  }
  return taken;
}

function allowed(choice: string, value: string): boolean {
  return value === "" || (choice.startsWith("rating-") ? ["1", "2", "3", "4", "5"] : GUESSES.map(String)).includes(value);
}
