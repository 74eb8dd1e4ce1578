/** What may honestly be said of an agreement. Pure. */
import type { Agreement } from "../../types";

export type Reading = "few" | "undefined" | "none" | "against" | "weak" | "moderate" | "strong";

/** Fewer pairs than this carry no sentence about how well two columns agree. */
export const LEAST_PAIRS = 20;

/** By Spearman's rho: what its interval excludes is said, and the words for its size go by its lower end. */
export function readingOf({ n, spearman }: Agreement): Reading {
  if (n < LEAST_PAIRS) return "few";
  if (spearman === null) return "undefined";
  if (spearman.high < 0) return "against";
  if (spearman.low <= 0) return "none";
  return spearman.low < 0.3 ? "weak" : spearman.low < 0.6 ? "moderate" : "strong";
}
