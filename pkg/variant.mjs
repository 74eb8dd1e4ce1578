// Which of the two wasm files this engine (of JavaScript) can run: they differ in the instructions that their
// kernels use, and in nothing else. One glue, retort.js, serves both.

/**
 * A module with one function `f` without parameters, written by hand after the WebAssembly specification. It takes
 * the instruction that the kernels use, i32x4.relaxed_dot_i8x16_i7x16_add_s (0xfd 0x113), of sixteen times -128,
 * sixteen times 127 and four times 5, and gives the first of the four results.
 */
const PROBE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // "\0asm", version 1
  0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7f, // types: one, [] -> [i32]
  0x03, 0x02, 0x01, 0x00, // functions: one, of that type
  0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00, // exports: "f", the first function
  0x0a, 0x18, 0x01, 0x16, 0x00, // code: one body of 22 bytes, without locals
  0x41, 0x80, 0x7f, 0xfd, 0x0f, // i32.const -128, i8x16.splat
  0x41, 0xff, 0x00, 0xfd, 0x0f, // i32.const 127, i8x16.splat
  0x41, 0x05, 0xfd, 0x11, // i32.const 5, i32x4.splat
  0xfd, 0x93, 0x02, // i32x4.relaxed_dot_i8x16_i7x16_add_s
  0xfd, 0x1b, 0x00, // i32x4.extract_lane 0
  0x0b, // end
]);
/** 4 × (-128 × 127) + 5. */
const ANSWER = -65019;

function run(bytes) {
  return WebAssembly.validate(bytes) ? new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.f() : null;
}

/**
 * Whether relaxed SIMD can be used here: whether the instruction is known, and gives the known answer. V8 before it
 * shipped it (behind a flag in Node 20) gives twice as much. `probe` is for tests.
 */
export function hasRelaxedSimd(probe = run) {
  try {
    return probe(PROBE) === ANSWER;
  } catch {
    return false;
  }
}

/** The name, beside this file, of the wasm file to start `init` with. */
export function wasmFile(probe) {
  return hasRelaxedSimd(probe) ? "retort_relaxed_bg.wasm" : "retort_bg.wasm";
}
