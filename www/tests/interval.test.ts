import { describe, expect, it } from "vitest";
import { formatSigned } from "../src/format";
import { middleOf, varianceOf } from "../src/interval";
import type { OptionProbability } from "../src/types";

const levels = (...probabilities: number[]): OptionProbability[] => probabilities.map((probability, i) => ({ label: String(i + 1), value: i + 1, probability }));

describe("the middle 80 %", () => {
  it.each([
    // Added up: 0.05, 0.15, 0.45, 0.85, 1. 10 % is reached on 2, 90 % on 5.
    [[0.05, 0.1, 0.3, 0.4, 0.15], 2, 5],
    // 0.02, 0.07, 0.17, 0.92, 1: 10 % on 3, 90 % on 4.
    [[0.02, 0.05, 0.1, 0.75, 0.08], 3, 4],
    // 0.95 of it on one level.
    [[0, 0.03, 0.95, 0.02, 0], 3, 3],
    // Exactly a tenth at each end: the tenth is reached on the end itself, nine tenths one below the other end.
    [[0.1, 0, 0.8, 0, 0.1], 1, 3],
    // Half and half at the ends.
    [[0.5, 0, 0, 0, 0.5], 1, 5],
  ])("of %j lies between %i and %i", (probabilities, low, high) => {
    expect(middleOf(levels(...probabilities))).toEqual({ low, high });
  });

  it("goes by value, whatever the order, and does not need a sum of exactly 1", () => {
    expect(middleOf([{ label: "fail", value: 0, probability: 0.05 }, { label: "good", value: 2, probability: 0.6 }, { label: "pass", value: 1, probability: 0.35 }])).toEqual({ low: 1, high: 2 });
    // 0.1 as the engine's 32 bits have it.
    expect(middleOf(levels(Math.fround(0.1) - 1e-8, 0.2, 0.7))).toEqual({ low: 1, high: 3 });
  });

  it("of nothing is nothing", () => {
    expect(middleOf([])).toBeNull();
    expect(middleOf(levels(0, 0))).toBeNull();
    expect(middleOf(levels(Number.NaN, 1))).toBeNull();
    expect(varianceOf([])).toBeNull();
  });
});

it("the variance is about the distribution's own mean", () => {
  // Mean 3, half a level on each side: (1 + 1) / 2 = 1.
  expect(varianceOf(levels(0, 0.5, 0, 0.5, 0))).toBeCloseTo(1, 12);
  // Mean 1.75; 0.25 · 0.75² + 0.75 · 0.25² = 0.1875.
  expect(varianceOf(levels(0.25, 0.75))).toBeCloseTo(0.1875, 12);
});

it("a movement has its sign, and none where it rounds to nothing", () => {
  expect([0.424, -0.126, 0.004, -0.004, 0].map(formatSigned)).toEqual(["+0.42", "−0.13", "0.00", "0.00", "0.00"]);
});
