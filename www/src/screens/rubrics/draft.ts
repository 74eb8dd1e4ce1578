/** What is being edited, and what reading it came to: all pure. */
import type { EntryKind } from "../../library";
import type { Rubric, RubricOption } from "../../types";

/** One line of the reader's findings. */
export interface Fault {
  /** Counted from 1; null where the whole is meant. */
  line: number | null;
  column: number | null;
  message: string;
}

/** "file.toml:3:7: what is wrong": one fault per line of the message. */
export function faultsOf(message: string): Fault[] {
  return message
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const found = /^[^\n]*?:(\d+):(?:(\d+):)?\s*(.*)$/u.exec(line);
      return found ? { line: Number(found[1]), column: found[2] === undefined ? null : Number(found[2]), message: found[3]! } : { line: null, column: null, message: line };
    });
}

/** Where a fault stands in the source, in UTF-16 units: from its column to the end of its line. */
export function rangeOf(source: string, { line, column }: Pick<Fault, "line" | "column">): { from: number; to: number } {
  if (line === null) return { from: 0, to: 0 };
  let start = 0;
  for (let at = 1; at < line; at++) {
    const next = source.indexOf("\n", start);
    if (next < 0) return { from: source.length, to: source.length };
    start = next + 1;
  }
  const end = source.indexOf("\n", start);
  const to = end < 0 ? source.length : end;
  return { from: Math.min(to, start + Math.max(0, (column ?? 1) - 1)), to };
}

/** Whether a source is JSON; else it is TOML. */
export function formatOf(source: string): "toml" | "json" {
  return /^\s*[[{]/.test(source) && !/^\s*\[\[?[\w".-]+\]\]?\s*(#.*)?$/m.test(source.split("\n", 1)[0]!) ? "json" : "toml";
}

/** The rubrics with one of them changed. */
export function edited(rubrics: Rubric[], at: number, part: Partial<Rubric>): Rubric[] {
  return rubrics.map((rubric, place) => (place === at ? { ...rubric, ...part } : rubric));
}

/** Without what an empty field stands for: no weight, no condition. */
export function withOptional(rubric: Rubric, field: "weight" | "not_applicable", content: string): Rubric {
  const { [field]: _, ...rest } = rubric;
  const trimmed = content.trim();
  if (trimmed === "") return rest;
  return { ...rest, [field]: field === "weight" ? Number(trimmed) : content };
}

export function withOption(rubric: Rubric, at: number, part: Partial<RubricOption>): Rubric {
  return { ...rubric, options: rubric.options.map((option, place) => (place === at ? { ...option, ...part } : option)) };
}

/** A level above the highest, as far from it as the highest is from the one below. */
export function withLevel(rubric: Rubric): Rubric {
  const [last, before] = [rubric.options.at(-1), rubric.options.at(-2)];
  const value = last === undefined ? 1 : last.value + (before === undefined ? 1 : last.value - before.value);
  return { ...rubric, options: [...rubric.options, { label: String(value), value, description: null }] };
}

/** An id made of the name that none of the others has. */
export function idOf(name: string, taken: string[]): string {
  const stem = name.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "") || "rubric";
  let id = stem;
  for (let count = 2; taken.includes(id); count++) id = `${stem}_${count}`;
  return id;
}

/** What a link carries. */
export interface SharedEntry {
  kind: EntryKind;
  title: string;
  source: string;
}

/** Reads what a link held; null where it is not what a link of this screen holds. */
export function readShared(value: unknown): SharedEntry | null {
  if (typeof value !== "object" || value === null) return null;
  const { kind, title, source } = value as Partial<SharedEntry>;
  if ((kind !== "rubric" && kind !== "checklist") || typeof title !== "string" || typeof source !== "string" || source.trim() === "") return null;
  return { kind, title: title.slice(0, 200), source };
}
