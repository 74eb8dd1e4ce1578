import { describe, expect, it } from "vitest";
import { MOST_PIECES, movementOf, piecesOf, strongest, without, type Movement } from "../src/sentences";
import { endsOf } from "../src/segment";
import type { Verdict } from "../src/types";

const cut = (text: string, most?: number) => piecesOf(text, most).map(({ start, end }) => text.slice(start, end));
const scored = (expected: number): Verdict => ({ kind: "scored", expected, min: 1, max: 5, distribution: [], mass: 1, method: "option_probabilities", truncated: false });

describe("the pieces of a response", () => {
  it("are its sentences", () => {
    expect(cut("Light is red. Is it? Yes!")).toEqual(["Light is red. ", "Is it? ", "Yes!"]);
    expect(cut("空は青い。夕方は赤い。")).toEqual(["空は青い。", "夕方は赤い。"]);
    expect(cut("السماء زرقاء. والغروب أحمر؟ نعم.")).toHaveLength(3);
  });

  it("keep blank lines with what stands before them, and numbers with their line", () => {
    expect(cut("One.\n\n\nTwo.")).toEqual(["One.\n\n\n", "Two."]);
    expect(cut("1. First\n2. Second\n")).toEqual(["1. First\n", "2. Second\n"]);
  });

  it.each([[1], [2], [7], [24]])("are at most %i and join up to the whole", (most) => {
    const text = Array.from({ length: 100 }, (_, i) => `Sentence ${"x".repeat(1 + (i * 37) % 90)} ends.`).join(" ");
    const pieces = cut(text, most);
    expect(pieces).toHaveLength(most);
    expect(pieces.join("")).toBe(text);
    // About equal: none is more than twice its share, as the longest sentence is far shorter than that.
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan((2 * text.length) / most);
  });

  it("of a very long text are no more than of a short one", () => {
    // In one go, without its own windows, the segmenter would take a time that grows with the square of the length.
    expect(piecesOf("A short one. ".repeat(8000))).toHaveLength(MOST_PIECES);
  });

  it("of nothing are none", () => {
    expect(piecesOf("")).toEqual([]);
  });

  it("leave the rest when one is left out", () => {
    const text = "One. Two. Three.";
    expect(piecesOf(text).map((piece) => without(text, piece))).toEqual(["Two. Three.", "One. Three.", "One. Two. "]);
  });
});

describe("segments", () => {
  it("are the same by windows as in one go", () => {
    // Sentences of many lengths, one of them longer than a window, in two scripts and with pairs of surrogates.
    const text = Array.from({ length: 60 }, (_, i) => `${i === 20 ? "very long ".repeat(450) : ""}Satz ${"ab ".repeat((i * 7) % 23)}hört auf. 空は青い。🙂🙂 `).join("");
    for (const granularity of ["word", "sentence"] as const) {
      const whole = [...new Intl.Segmenter(undefined, { granularity }).segment(text)].map(({ index, segment }) => index + segment.length);
      expect(endsOf(text, granularity)).toEqual(whole);
    }
    expect(endsOf("", "word")).toEqual([]);
  });
});

describe("how a score moves", () => {
  it("is the score with the piece less the score without it", () => {
    // 3.5 with it, 3 without it: it raises the score by a half.
    expect(movementOf(scored(3.5), scored(3))).toEqual({ kind: "scored", without: 3, moved: 0.5, sign: "raises" });
    expect(movementOf(scored(3), scored(3.25))).toMatchObject({ moved: -0.25, sign: "lowers" });
    // A hundredth of the unit is less than 4 / 80 = 0.05.
    expect(movementOf(scored(3), scored(3.01))).toMatchObject({ sign: "hardly" });
  });

  it("is unknown where either has no score: never a zero (P8)", () => {
    const none: Verdict = { kind: "unscored", code: "mass_too_low", message: "Too little." };
    expect(movementOf(scored(3), none)).toEqual({ kind: "unscored", message: "Too little." });
    expect(movementOf(none, scored(3))).toEqual({ kind: "unscored", message: "Too little." });
    expect(movementOf(scored(Number.NaN), scored(3)).kind).toBe("unscored");
  });

  it("is strongest in one piece each way, or in none", () => {
    const by = (...moved: (number | null)[]): Movement[] => moved.map((one) => (one === null ? { kind: "waiting" } : movementOf(scored(3), scored(3 - one))));
    expect(strongest(by(0.2, null, 0.6, -0.1, -0.4))).toEqual({ raises: 2, lowers: 4 });
    expect(strongest(by(0.01, -0.02, null))).toEqual({ raises: null, lowers: null });
  });
});
