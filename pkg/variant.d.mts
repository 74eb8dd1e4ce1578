/** Whether relaxed SIMD can be used here, and computes correctly. `probe` is for tests. */
export function hasRelaxedSimd(probe?: (module: Uint8Array<ArrayBuffer>) => unknown): boolean;
/** The name, beside this file, of the wasm file to start `init` with. */
export function wasmFile(
  probe?: (module: Uint8Array<ArrayBuffer>) => unknown,
): "retort_relaxed_bg.wasm" | "retort_bg.wasm";
