/** Whether relaxed SIMD can be used here. `validate` is for tests. */
export function hasRelaxedSimd(validate?: (bytes: Uint8Array<ArrayBuffer>) => boolean): boolean;
/** The name, beside this file, of the wasm file to start `init` with. */
export function wasmFile(
  validate?: (bytes: Uint8Array<ArrayBuffer>) => boolean,
): "retort_relaxed_bg.wasm" | "retort_bg.wasm";
