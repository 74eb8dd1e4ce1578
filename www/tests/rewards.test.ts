import { describe, expect, it } from "vitest";
import { highestOf } from "../src/rewards";
import type { Reward } from "../src/types";

const of = (...outputs: number[]): Reward => ({ kind: "scored", outputs });
const none: Reward = { kind: "unscored", code: "too_long", message: "It is too long." };

describe("the highest of several rewards", () => {
  it("is said only where two have a number of one output", () => {
    expect(highestOf([of(-3), of(2.5), of(2.4)])).toEqual([1]);
    expect(highestOf([of(1), of(1), of(0)])).toEqual([0, 1]);
    expect(highestOf([of(1)])).toEqual([]);
    expect(highestOf([of(1), none])).toEqual([]);
    expect(highestOf([none, of(-1), of(-2)])).toEqual([1]);
    // Of several outputs it is not known which is good; of what is no number nothing is.
    expect(highestOf([of(1, 2), of(3, 4)])).toEqual([]);
    expect(highestOf([of(Number.NaN), of(1)])).toEqual([]);
  });
});
