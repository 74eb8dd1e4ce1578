/** Which quizzes were taken: kept in this browser, if it keeps anything. */
import { signal } from "@preact/signals";
import { isLesson, LESSONS } from "./lessons";
import type { LessonId } from "./lesson";

/** The most right answers so far, by lesson; absent where the quiz was not taken. */
export type Progress = Readonly<Partial<Record<LessonId, number>>>;

const KEY = "retort.learn";

export const progress = signal<Progress>({});
/** False where the browser refuses to store: progress then lasts as long as the page. */
export const kept = signal(true);

/** What was stored, with everything left out that no version of the page would have stored. */
export function readProgress(stored: string | null): Progress {
  let data: unknown = null;
  try {
    data = JSON.parse(stored ?? "null");
  } catch {
    // Somebody else's, or damaged.
  }
  if (typeof data !== "object" || data === null) return {};
  return Object.fromEntries(Object.entries(data).filter(([id, right]) => {
    const lesson = isLesson(id) && LESSONS.find((one) => one.id === id);
    return lesson && Number.isInteger(right) && right >= 0 && right <= lesson.quiz.length;
  }));
}

export function recallProgress(): void {
  try {
    progress.value = readProgress(localStorage.getItem(KEY));
  } catch {
    kept.value = false;
  }
}

export function setProgress(next: Progress): void {
  progress.value = next;
  try {
    if (Object.keys(next).length === 0) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    kept.value = false;
  }
}

/** The progress after a quiz: the best counts. */
export function withResult(before: Progress, lesson: LessonId, right: number): Progress {
  return { ...before, [lesson]: Math.max(before[lesson] ?? 0, right) };
}
