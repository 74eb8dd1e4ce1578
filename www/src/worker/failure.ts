import { text } from "../text";
import type { Failure } from "./protocol";

/** An error of the page's own making, with a code that the page knows how to advise on. */
export class RetortError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "RetortError";
  }
}

/** Turns whatever was thrown into a code and a sentence. The engine's errors carry a `code` of their own. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Error) {
    const code = (thrown as Error & { code?: unknown }).code;
    if (typeof code === "string") return { code, message: thrown.message };
    if (thrown.name === "AbortError") return { code: "cancelled", message: text.failure.cancelled };
    if (thrown instanceof RangeError && /memory|allocation|array length/i.test(thrown.message)) {
      return { code: "out_of_memory", message: text.failure.memory(thrown.message) };
    }
    if (typeof WebAssembly !== "undefined" && thrown instanceof WebAssembly.RuntimeError) {
      return { code: "engine_crashed", message: text.failure.crashed(thrown.message) };
    }
    return { code: "unexpected", message: thrown.message || thrown.name };
  }
  return { code: "unexpected", message: String(thrown) };
}

/** Whether storage refused because it is full. */
export function isQuota(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "QuotaExceededError";
}
