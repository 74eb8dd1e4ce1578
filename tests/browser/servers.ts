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
const base = Number(process.env["RETORT_TEST_PORT_BASE"] ?? 4373);
export const PORTS = { tiny: base, real: base + 1, adapted: base + 2 };

/** The adapters that the server on `PORTS.adapted` offers for the tiny model; the first is the default. */
export const ADAPTERS = [
  { name: "tone", title: "Tone", file: "adapter", description: "Hears the tone." },
  { name: "mood", title: "Mood", file: "adapter-2", description: "Hears the mood." },
];

const facts = (file: string): string =>
  `file = "${basename(file)}"\nbytes = ${statSync(file).size}\nsha256 = "${createHash("sha256").update(readFileSync(file)).digest("hex")}"\nlicence = "Apache-2.0"\n`;

/** Writes a registry that offers one model, with adapters or without, and gives the flags that make the server use it. */
export function writeRegistry(port: number, model: string, adapters: typeof ADAPTERS = []): string {
  const folder = fileURLToPath(new URL("./output", import.meta.url));
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/registry-${port}.toml`;
  const name = basename(model, ".gguf").toLowerCase().replace(/[^a-z0-9.-]+/g, "-");
  writeFileSync(
    file,
    `default = "${name}"\n\n[[model]]\nname = "${name}"\ntitle = "${name}"\n${facts(model)}description = "The model of this test run."\n` +
      (adapters[0] ? `adapter = "${adapters[0].name}"\n` : "") +
      adapters
        .map((adapter) => {
          const path = model.replace(/\.gguf$/, `-${adapter.file}.gguf`);
          return `\n[[adapter]]\nname = "${adapter.name}"\ntitle = "${adapter.title}"\n${facts(path)}description = "${adapter.description}"\nmodel = "${name}"\ncard = "${adapter.name}.md"\n`;
        })
        .join(""),
  );
  return `--registry "${file}" --model-dir "${dirname(model)}"`;
}
