/** A response cut into the pieces that are left out one by one, and what each of them does to a score. Pure. */
import { endsOf } from "./segment";
import type { Verdict } from "./types";

/** A passage of the response, in UTF-16 units. */
export interface Piece {
  start: number;
  end: number;
}

/** More would take longer than anybody waits: each piece is one judgement. */
export const MOST_PIECES = 24;

/**
 * Sentences as Unicode knows them (UAX 29), which ends one at every line break too. The pieces join up to the whole text. More
 * than `most` sentences are merged with their neighbours into pieces of about the same length.
 */
export function piecesOf(text: string, most = MOST_PIECES): Piece[] {
  return merged(sentencesOf(text), most);
}

function sentencesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  for (const end of endsOf(text, "sentence")) {
    const last = pieces.at(-1);
    // Blank lines belong to what stands before them; a number or a bullet belongs to its line.
    if (last && (text.slice(start, end).trim() === "" || /^\s*(?:\d{1,3}[.)]|[-*•])\s*$/.test(text.slice(last.start, last.end)))) last.end = end;
    else pieces.push({ start, end });
    start = end;
  }
  return pieces;
}

function merged(sentences: Piece[], most: number): Piece[] {
  if (sentences.length <= most) return sentences;
  const pieces: Piece[] = [];
  const whole = sentences.at(-1)!.end;
  let at = 0;
  while (at < sentences.length) {
    const { start } = sentences[at]!;
    const left = most - pieces.length;
    const wanted = (whole - start) / left;
    let { end } = sentences[at++]!;
    // As many sentences as come closest to an equal share, the last piece taking all that is left.
    while (at < sentences.length && (left === 1 || sentences[at]!.end - start - wanted < wanted - (end - start))) end = sentences[at++]!.end;
    pieces.push({ start, end });
  }
  return pieces;
}

export function without(text: string, { start, end }: Piece): string {
  return text.slice(0, start) + text.slice(end);
}

/** What became of one piece. */
export type Movement =
  | { kind: "waiting" }
  /** `moved`: the score with the piece less the score without it, so that a piece which helps is above 0. */
  | { kind: "scored"; without: number; moved: number; sign: "raises" | "lowers" | "hardly" }
  | { kind: "unscored"; message: string };

/** Movements below this share of the scale are called none: on a scale from 1 to 5 it is 0.05. */
export const HARDLY = 1 / 80;

export function movementOf(whole: Verdict, left: Verdict): Movement {
  if (whole.kind === "unscored") return { kind: "unscored", message: whole.message };
  if (left.kind === "unscored") return { kind: "unscored", message: left.message };
  const moved = whole.expected - left.expected;
  if (!Number.isFinite(moved)) return { kind: "unscored", message: "" };
  const sign = Math.abs(moved) < HARDLY * (whole.max - whole.min) ? "hardly" : moved > 0 ? "raises" : "lowers";
  return { kind: "scored", without: left.expected, moved, sign };
}

/** The places of those that raise and lower it most; null where none does. */
export function strongest(movements: Movement[]): { raises: number | null; lowers: number | null } {
  let raises: number | null = null;
  let lowers: number | null = null;
  const moved = (at: number | null) => {
    const one = at === null ? undefined : movements[at];
    return one?.kind === "scored" ? one.moved : 0;
  };
  for (const [i, one] of movements.entries()) {
    if (one.kind !== "scored") continue;
    if (one.sign === "raises" && one.moved > moved(raises)) raises = i;
    if (one.sign === "lowers" && one.moved < moved(lowers)) lowers = i;
  }
  return { raises, lowers };
}
