// What the tests share: the engine under Node, and model files that are read in place.

import assert from "node:assert/strict";
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { basename } from "node:path";

import { wasmFile } from "../../pkg/variant.mjs";

let instances = 0;

/** A new instance of the engine with memory of its own, from the wasm file that suits this Node or the one named. */
export async function instance(name = wasmFile()) {
  // Another address is another module to Node.
  const engine = await import(`../../pkg/retort.js?${(instances += 1)}`);
  const { memory } = engine.initSync({ module: readFileSync(new URL(`../../pkg/${name}`, import.meta.url)) });
  return { ...engine, memory };
}

/** The path in an environment variable; `beside` names one of the files that tiny-gguf writes beside the model. */
export function path(variable, beside) {
  const value = process.env[variable];
  assert.ok(value, `set ${variable}, or run "cargo xtask test", which does`);
  return beside === undefined ? value : value.replace(/\.gguf$/, `-${beside}.gguf`);
}

/** A file that is read in place, so that only the engine's own memory counts. */
export function file(variable, beside) {
  const name = path(variable, beside);
  const handle = openSync(name);
  return {
    name: basename(name),
    size: fstatSync(handle).size,
    read: (offset, into) => readSync(handle, into, 0, into.length, offset),
    close: () => closeSync(handle),
  };
}

export const sourceOf = (bytes, name) => ({
  name,
  size: bytes.length,
  read(offset, into) {
    const part = bytes.subarray(offset, offset + into.length);
    into.set(part);
    return part.length;
  },
});

export const texts = {
  prompt: "Which planet is closest to the Sun?",
  response: "Mercury is the closest planet to the Sun; it needs 88 days for one orbit.",
};
