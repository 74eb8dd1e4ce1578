/** The lessons in their order. */
import { LESSONS } from "../../text/learn/lessons";
import type { Lesson, LessonId } from "./lesson";

export { LESSONS };

export function isLesson(name: string): name is LessonId {
  return LESSONS.some(({ id }) => id === name);
}

/** The lesson of that name with its neighbours, or null. */
export function lessonNamed(name: string): { lesson: Lesson; place: number; previous: Lesson | null; next: Lesson | null } | null {
  const at = LESSONS.findIndex(({ id }) => id === name);
  const lesson = LESSONS[at];
  return lesson ? { lesson, place: at + 1, previous: LESSONS[at - 1] ?? null, next: LESSONS[at + 1] ?? null } : null;
}
