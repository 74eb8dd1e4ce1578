/** How two texts differ, word by word. Pure; it pauses between its steps, so that two long texts block nothing. */
import { diffArrays } from "diff";
import { endsOf } from "../../segment";

export interface Difference {
  kind: "same" | "removed" | "added";
  text: string;
}

export interface Differences {
  /** What is not removed makes up the second text; what is not added makes up the first, but for its spaces, which are the second’s. */
  pieces: Difference[];
  /** Some passages differ so much that they are shown as a whole. */
  coarse: boolean;
  /** Words only in the first, and only in the second. */
  removed: number;
  added: number;
}

/** A step that has not found the differences by then is given up for a coarser one. */
const STEP_MS = 30;
/** Longer passages are not looked at word by word. */
const MOST_WORDS = 4000;

const same = (left: string, right: string) => left.trim() === right.trim();

/** First by lines, then each passage that differs by sentences, and at last by words. */
export async function differencesOf(first: string, second: string, pause: () => Promise<void> = breathe): Promise<Differences> {
  const differences: Differences = { pieces: [], coarse: false, removed: 0, added: 0 };
  for (const change of await refined([{ removed: first, added: second }], linesOf, pause)) {
    if ("same" in change) {
      push(differences.pieces, "same", change.same);
      continue;
    }
    for (const finer of await refined([change], (text) => tokensOf(text, "sentence"), pause)) {
      if ("same" in finer) {
        push(differences.pieces, "same", finer.same);
        continue;
      }
      const words = [wordsIn(finer.removed), wordsIn(finer.added)];
      const byWord = words[0]! + words[1]! <= MOST_WORDS ? compared(tokensOf(finer.removed, "word"), tokensOf(finer.added, "word")) : null;
      await pause();
      if (byWord === null) differences.coarse = true;
      for (const one of byWord ?? [finer]) {
        if ("same" in one) {
          push(differences.pieces, "same", one.same);
          continue;
        }
        push(differences.pieces, "removed", one.removed);
        push(differences.pieces, "added", one.added);
        differences.removed += byWord ? wordsIn(one.removed) : words[0]!;
        differences.added += byWord ? wordsIn(one.added) : words[1]!;
      }
    }
  }
  return differences;
}

type Change = { same: string } | { removed: string; added: string };

/** Divides passages that differ where both sides have parts; what cannot be divided in time stays as it is. */
async function refined(changes: { removed: string; added: string }[], partsOf: (text: string) => string[], pause: () => Promise<void>): Promise<Change[]> {
  const found: Change[] = [];
  for (const change of changes) {
    const finer = change.removed === "" || change.added === "" ? null : compared(partsOf(change.removed), partsOf(change.added));
    found.push(...(finer ?? [change]));
    await pause();
  }
  return found;
}

function compared(first: string[], second: string[]): Change[] | null {
  const parts = diffArrays(first, second, { comparator: same, timeout: STEP_MS });
  if (!parts) return null;
  const changes: Change[] = [];
  for (const { value, added, removed } of parts) {
    const text = value.join("");
    const last = changes.at(-1);
    if (!added && !removed) changes.push({ same: text });
    else if (last && !("same" in last)) {
      if (added) last.added += text;
      else last.removed += text;
    } else changes.push(added ? { removed: "", added: text } : { removed: text, added: "" });
  }
  return changes;
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** Words or sentences, each with the spaces behind it. */
function tokensOf(text: string, granularity: "word" | "sentence"): string[] {
  const tokens: string[] = [];
  let start = 0;
  for (const end of endsOf(text, granularity)) {
    const token = text.slice(start, end);
    if (tokens.length > 0 && token.trim() === "") tokens[tokens.length - 1] += token;
    else tokens.push(token);
    start = end;
  }
  return tokens;
}

function wordsIn(text: string): number {
  let words = 0;
  let start = 0;
  for (const end of endsOf(text, "word")) {
    if (/[\p{L}\p{N}]/u.test(text.slice(start, end))) words += 1;
    start = end;
  }
  return words;
}

function push(pieces: Difference[], kind: Difference["kind"], text: string): void {
  if (text === "") return;
  const last = pieces.at(-1);
  if (last?.kind === kind) last.text += text;
  else pieces.push({ kind, text });
}

/** Lets typing and painting come in between; a timer and not an animation frame, which a hidden tab never gets (P43). */
function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
