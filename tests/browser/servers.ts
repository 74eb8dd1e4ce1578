/** Which models the tests use, and where the servers that offer them listen. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const fromEnv = (name: string): string | null => {
  const value = process.env[name];
  return value ? resolve(root, value) : null;
};

/** RETORT_FAKE=1: the page with its stand-in engine, served by fake-server.mjs. */
export const FAKE = process.env["RETORT_FAKE"] === "1";
/** A GGUF of a few hundred kilobytes that the test run writes itself. */
export const TINY_MODEL = fromEnv("RETORT_TINY_MODEL");
/** The default model; without it the tests that need it are skipped, and say so. */
export const REAL_MODEL = fromEnv("RETORT_TEST_MODEL");
export const PORTS = { tiny: 4373, real: 4374 };

/** Writes a registry that offers one model, and gives the flags that make the server use it. */
export function writeRegistry(port: number, model: string): string {
  const folder = fileURLToPath(new URL("./output", import.meta.url));
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/registry-${port}.toml`;
  const sha256 = createHash("sha256").update(readFileSync(model)).digest("hex");
  const name = basename(model, ".gguf").toLowerCase().replace(/[^a-z0-9.-]+/g, "-");
  writeFileSync(
    file,
    `default = "${name}"\n\n[[model]]\nname = "${name}"\ntitle = "${name}"\nfile = "${basename(model)}"\nbytes = ${statSync(model).size}\nsha256 = "${sha256}"\n` +
      `licence = "Apache-2.0"\ndescription = "The model of this test run."\n`,
  );
  return `--registry "${file}" --model-dir "${dirname(model)}"`;
}
