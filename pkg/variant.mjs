// Which of the two wasm files this engine (of JavaScript) can run: they differ in the instructions that their
// kernels use, and in nothing else. One glue, retort.js, serves both.

/**
 * A module with one function from nothing to a vector, written by hand after the WebAssembly specification:
 * three vectors of zeros, and i32x4.relaxed_dot_i8x16_i7x16_add_s (0xfd 0x113) of them.
 */
const PROBE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // "\0asm", version 1
  0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, // types: one, [] -> [v128]
  0x03, 0x02, 0x01, 0x00, // functions: one, of that type
  0x0a, 0x13, 0x01, 0x11, 0x00, // code: one body of 17 bytes, without locals
  0x41, 0x00, 0xfd, 0x0f, // i32.const 0, i8x16.splat
  0x41, 0x00, 0xfd, 0x0f,
  0x41, 0x00, 0xfd, 0x0f,
  0xfd, 0x93, 0x02, // i32x4.relaxed_dot_i8x16_i7x16_add_s
  0x0b, // end
]);

/** Whether relaxed SIMD can be used here. `validate` is for tests. */
export function hasRelaxedSimd(validate = (bytes) => WebAssembly.validate(bytes)) {
  try {
    return validate(PROBE);
  } catch {
    return false;
  }
}

/** The name, beside this file, of the wasm file to start `init` with. */
export function wasmFile(validate) {
  return hasRelaxedSimd(validate) ? "retort_relaxed_bg.wasm" : "retort_bg.wasm";
}
