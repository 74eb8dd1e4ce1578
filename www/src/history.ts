/** What is kept of judgements on this device: the one place that other screens give their results to. */
import { signal, type ReadonlySignal } from "@preact/signals";
import { allTaken, headOf } from "./store/kept";
import { tell, troubleOf, using, watch, type StoreTrouble } from "./store";
import type { CompareRecord, JudgeRecord, RewardRecord } from "./types";

/** Everything that was judged, and what came of it. */
export type Kept = {
  /** Unique; sorts by time. */
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  prompt: string;
  reference: string | null;
} & (
  | { kind: "judgement"; response: string; record: JudgeRecord }
  | { kind: "rewards"; responses: string[]; record: RewardRecord }
  | { kind: "comparison"; responses: string[]; record: CompareRecord; profiles: JudgeRecord[] }
);

type Without<T> = T extends unknown ? Omit<T, "id" | "at"> : never;
export type ToKeep = Without<Kept>;

const INCOGNITO_KEY = "retort.incognito";
const LIMIT_KEY = "retort.history-limit";
export const DEFAULT_LIMIT = 200_000_000;

/** Storage may be denied: then nothing was said. */
function recall(storage: "localStorage" | "sessionStorage", key: string): string | null {
  try {
    return globalThis[storage]?.getItem(key) ?? null;
  } catch {
    return null;
  }
}

function note(storage: "localStorage" | "sessionStorage", key: string, value: string | null): void {
  try {
    if (value === null) globalThis[storage].removeItem(key);
    else globalThis[storage].setItem(key, value);
  } catch {
    // It holds for as long as the page is open.
  }
}

/** While it is on, nothing is kept. Remembered for this tab only. */
export const incognito = signal(recall("sessionStorage", INCOGNITO_KEY) === "on");

export function setIncognito(on: boolean): void {
  incognito.value = on;
  note("sessionStorage", INCOGNITO_KEY, on ? "on" : null);
}

function recallLimit(): number | null {
  const bytes = Number(recall("localStorage", LIMIT_KEY));
  return Number.isFinite(bytes) && bytes > 0 ? bytes : null;
}

const limit = signal(recallLimit() ?? DEFAULT_LIMIT);
/** How many bytes the history may take: the person's own guard, well before the browser's (P53). */
export const historyLimit: ReadonlySignal<number> = limit;

export function setHistoryLimit(bytes: number): void {
  limit.value = bytes;
  note("localStorage", LIMIT_KEY, String(bytes));
}

/** Why results are not kept, as far as the last attempt knows. `limit`: the history has reached its own limit. */
export const notKept = signal<{ why: StoreTrouble | "limit"; count: number } | null>(null);

/** What the history takes, so that not every entry asks for it; null where somebody else changed it. */
let taken: number | null = null;
watch("history", () => (taken = null));

let latest = { at: 0, count: 0 };

/** Unique, and in the order of time as text too, also within one millisecond. */
export function newId(at: number): string {
  latest = { at, count: latest.at === at ? latest.count + 1 : 0 };
  const chance = crypto.getRandomValues(new Uint32Array(2));
  return `${String(at).padStart(14, "0")}-${String(latest.count).padStart(4, "0")}-${[...chance].map((part) => part.toString(16).padStart(8, "0")).join("")}`;
}

let turn: Promise<void> = Promise.resolve();

/** Keeps a result; does nothing where the person wants nothing kept or the browser stores nothing. Never throws. */
export function keep(entry: ToKeep): Promise<void> {
  if (incognito.value) return Promise.resolve();
  const at = Date.now();
  // One after the other, so that each sees what the one before it took.
  turn = turn.then(() => put({ ...entry, id: newId(at), at }));
  return turn;
}

async function put(kept: Kept): Promise<void> {
  const missed = (why: StoreTrouble | "limit") => (notKept.value = { why, count: (notKept.value?.count ?? 0) + 1 });
  try {
    const head = headOf(kept);
    const before = taken ?? (await allTaken());
    // Another tab may have set it since.
    limit.value = recallLimit() ?? limit.value;
    if (before + head.bytes > limit.value) return void missed("limit");
    await using(async (db) => {
      const work = db.transaction(["kept", "heads"], "readwrite");
      await Promise.all([work.objectStore("kept").put(kept), work.objectStore("heads").put(head), work.done]);
    });
    notKept.value = null;
    tell("history");
    taken = before + head.bytes;
  } catch (thrown) {
    missed(troubleOf(thrown).trouble);
  }
}
