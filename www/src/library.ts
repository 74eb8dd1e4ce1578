/**
 * The rubrics and checklists that a person keeps on this device, each with its earlier versions.
 *
 * An entry is a file: its source is what counts, and everything else is read from it.
 */
import { signal } from "@preact/signals";
import { all, put, remove, watch, StoreError, type Named } from "./store";

export type EntryKind = "rubric" | "checklist";

export interface Version {
  /** Milliseconds since 1970. */
  at: number;
  source: string;
}

export interface Entry extends Named {
  kind: EntryKind;
  title: string;
  /** Newest first; never empty. */
  versions: Version[];
}

/** So many versions of one entry are kept. */
export const MAX_VERSIONS = 50;

/** By title. */
export const library = signal<Entry[]>([]);
/** Why the library is not kept, where it is not. */
export const unkept = signal<StoreError | null>(null);

/** What was asked for on the Judge screen, which takes it from here. */
export const wanted = signal<{ kind: EntryKind; title: string; source: string } | null>(null);

const byTitle = (entries: Entry[]) => [...entries].sort((a, b) => a.title.localeCompare(b.title) || a.id.localeCompare(b.id));

/** A new version in front of the others; the same source makes none. */
export function withVersion(versions: Version[], source: string, at: number): Version[] {
  return versions[0]?.source === source ? versions : [{ at, source }, ...versions].slice(0, MAX_VERSIONS);
}

/** A title that no other entry has: "Mine", "Mine (2)", "Mine (3)". */
export function freeTitle(title: string, taken: string[]): string {
  if (!taken.includes(title)) return title;
  for (let count = 2; ; count++) {
    const next = `${title} (${count})`;
    if (!taken.includes(next)) return next;
  }
}

let watched = false;

/** Reads what is stored, once, and again whenever another tab changes it. */
export function watchLibrary(): void {
  if (watched) return;
  watched = true;
  const read = async () => {
    try {
      const stored = await all<Entry>("rubrics");
      const ids = new Set(stored.map(({ id }) => id));
      library.value = byTitle([...stored, ...library.value.filter(({ id }) => !ids.has(id) && onlyHere.has(id))]);
    } catch (thrown) {
      unkept.value = thrown instanceof StoreError ? thrown : new StoreError("failed", String(thrown));
    }
  };
  void read();
  watch("rubrics", () => void read());
}

/** What no store took. */
const onlyHere = new Set<string>();

/** Keeps an entry in place of the one with its id. It is there at once; `unkept` says so where no store takes it. */
export async function keepEntry(entry: Entry): Promise<void> {
  onlyHere.add(entry.id);
  library.value = byTitle([...library.value.filter(({ id }) => id !== entry.id), entry]);
  try {
    await put<Entry>("rubrics", entry);
    onlyHere.delete(entry.id);
    unkept.value = null;
  } catch (thrown) {
    unkept.value = thrown instanceof StoreError ? thrown : new StoreError("failed", String(thrown));
  }
}

export async function dropEntry(id: string): Promise<void> {
  onlyHere.delete(id);
  library.value = library.value.filter((entry) => entry.id !== id);
  await remove("rubrics", id).catch(() => undefined);
}
