/** The library's rubric files as the engine reads them, for every screen where skills are chosen. */
import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import type { EngineClient } from "./engine";
import { library, watchLibrary, type Entry } from "./library";
import type { Shelved } from "./own-rubrics";
import type { Failure } from "./worker/protocol";

/** Of the engine, and not of the file: they say nothing of what was to be read. */
const NOT_THE_FILE = ["worker_died", "engine_crashed", "out_of_memory", "cancelled"];

const readings = signal<ReadonlyMap<string, Shelved["reading"]>>(new Map());
const asked = new Set<string>();

/** The title stands in the reader's messages, so that it belongs to what was read. */
const keyOf = ({ title, versions }: Entry) => `${title}\n${versions[0]!.source}`;

/** By title; the newest version of each. */
export const shelf: ReadonlySignal<Shelved[]> = computed(() =>
  library.value.filter(({ kind }) => kind === "rubric").map((entry) => ({ id: entry.id, title: entry.title, reading: readings.value.get(keyOf(entry)) ?? { kind: "waiting" } })));

const note = (key: string, reading: Shelved["reading"]) => (readings.value = new Map(readings.value).set(key, reading));

let watched = false;

/** Reads what the library holds, once, and what changes in it. */
export function watchShelf(engine: EngineClient): void {
  if (watched) return;
  watched = true;
  watchLibrary();
  // Nothing can be asked before the engine is there; when it has come back from a crash, its model's phase has changed.
  const standing = computed(() => (engine.state.value.vocabulary === null ? null : engine.state.value.model.phase));
  effect(() => {
    if (standing.value === null) return;
    for (const entry of library.value) if (entry.kind === "rubric") void read(engine, entry);
  });
}

async function read(engine: EngineClient, entry: Entry): Promise<void> {
  const key = keyOf(entry);
  if (asked.has(key)) return;
  asked.add(key);
  try {
    note(key, { kind: "read", rubrics: await engine.call("read_rubrics", { text: entry.versions[0]!.source, name: entry.title }).answer });
  } catch (thrown) {
    const { code, message } = thrown as Failure;
    if (NOT_THE_FILE.includes(code)) asked.delete(key);
    else note(key, { kind: "unreadable", message });
  }
}
