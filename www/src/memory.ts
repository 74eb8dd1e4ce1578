/** How much memory a model will take, before it is loaded. All pure. */

/**
 * The weights take 1.07 of the file in the engine's memory (measured on the default model, BENCHMARKS.md, "Memory"): the
 * layouts that the kernels read are a little larger than the file's.
 */
const WEIGHTS = 1.07;
/**
 * Keys and values of a judgement, where the model's shape is not known: what a judgement by twelve skills adds for the default
 * model (1.24 less 1.07 of the file, same place). Larger models need a smaller share, because weights grow faster than width.
 */
const CACHE = 0.17;
/** A number of the cache takes one byte, and each 32 of them share a scale of four. */
const CACHE_BYTES = 1 + 4 / 32;
/** How many tokens a judgement is reckoned to hold at once. */
const TOKENS = 4096;

/** What the size of the key/value cache follows from. */
export interface Shape {
  layers: number;
  /** Key/value heads times the size of a head. */
  kv_width: number;
}

/** WebAssembly's memory has 32-bit addresses: four gibibytes, for the weights and everything else. */
export const WASM_LIMIT = 4 * 2 ** 30;

/** Bytes of memory that a model file of this size will take while it judges. */
export function memoryFor(file_bytes: number, shape?: Shape): number {
  const cache = shape ? 2 * shape.layers * shape.kv_width * TOKENS * CACHE_BYTES : CACHE * file_bytes;
  return Math.round(WEIGHTS * file_bytes + cache);
}

/**
 * Whether it will fit. `too_large`: not into WebAssembly's memory, so that only a GPU could hold it; `tight`: more than half of
 * the device's memory, where the browser says how much that is (it never says more than a few gibibytes).
 */
export function fitOf(needed: number, device_gib: number | undefined): "fine" | "tight" | "too_large" {
  if (needed > WASM_LIMIT) return "too_large";
  return device_gib !== undefined && needed > (device_gib * 2 ** 30) / 2 ? "tight" : "fine";
}

/** The device's memory in gibibytes, where the browser says it. */
export function deviceMemory(): number | undefined {
  return (navigator as Navigator & { deviceMemory?: number }).deviceMemory;
}
