// The wasm package under Node, on the CPU: the same engine as in the page's worker, without a browser.
//
// RETORT_TINY_MODEL and RETORT_TEST_MODEL name the model files; `cargo xtask test` sets both. Native results come
// from the retort command, so that native and wasm are held to the same numbers.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Cancel, Engine, Sha256, builtin_rubrics, initSync, read_rubrics } from "../../pkg/retort.js";

initSync({ module: readFileSync(new URL("../../pkg/retort_bg.wasm", import.meta.url)) });

const path = (variable) => {
  const value = process.env[variable];
  assert.ok(value, `set ${variable}, or run "cargo xtask test", which does`);
  return value;
};

const sourceOf = (bytes) => ({
  size: bytes.length,
  read(offset, into) {
    const part = bytes.subarray(offset, offset + into.length);
    into.set(part);
    return part.length;
  },
});

const load = (bytes, name = "model.gguf", cancel = new Cancel(), onProgress = () => {}) =>
  Engine.load(sourceOf(bytes), { backend: "cpu", name }, onProgress, cancel);

const native = (args) => {
  const cli = process.env.RETORT_CLI;
  const [command, first] = cli ? [cli, []] : ["cargo", ["run", "--quiet", "-p", "retort-cli", "--"]];
  return JSON.parse(execFileSync(command, [...first, "judge", "--json", "--backend", "cpu", ...args], { encoding: "utf8" }));
};

const judge = (engine, request, onEvent = () => {}, cancel = new Cancel()) => engine.judge(request, onEvent, cancel);

const texts = {
  prompt: "Which planet is closest to the Sun?",
  response: "Mercury is the closest planet to the Sun; it needs 88 days for one orbit.",
};

test("scores equal the native command's", { timeout: 600_000 }, async () => {
  for (const [variable, skills, tolerance] of [
    ["RETORT_TINY_MODEL", "all", 1e-3],
    ["RETORT_TEST_MODEL", "factuality,readability", 1e-3],
  ]) {
    const file = path(variable);
    const expected = native(["--model", file, "--skills", skills, "--prompt", texts.prompt, "--response", texts.response]);
    const engine = await load(readFileSync(file));
    const ids = expected.verdicts.map((verdict) => verdict.rubric_id);
    const rubrics = builtin_rubrics().filter((rubric) => ids.includes(rubric.id));
    const events = [];
    const record = await judge(engine, { ...texts, rubrics }, (event) => events.push(event));
    assert.equal(engine.info().backend, "cpu");
    assert.deepEqual(record.verdicts.map((verdict) => verdict.rubric_sha256), expected.verdicts.map((verdict) => verdict.rubric_sha256));
    record.verdicts.forEach(({ verdict }, index) => {
      const right = expected.verdicts[index].verdict;
      assert.equal(verdict.kind, right.kind);
      if (verdict.kind !== "scored") return;
      assert.ok(Math.abs(verdict.expected - right.expected) < tolerance, `${ids[index]}: ${verdict.expected} and ${right.expected}`);
      assert.ok(Math.abs(verdict.mass - right.mass) < tolerance);
    });
    assert.deepEqual(record.input, expected.input);
    const streamed = events.filter((event) => event.kind === "verdict");
    assert.deepEqual(streamed.map((event) => event.verdict), record.verdicts);
    assert.ok(events.some((event) => event.kind === "progress" && event.done_tokens === event.total_tokens));
    engine.free();
  }
});

test("cancelling keeps what was ready and leaves the engine usable", async () => {
  const engine = await load(readFileSync(path("RETORT_TINY_MODEL")));
  const cancel = new Cancel();
  const request = { ...texts, response: texts.response.repeat(20), rubrics: builtin_rubrics() };
  const record = await judge(engine, request, (event) => event.kind === "verdict" && event.index === 2 && cancel.cancel(), cancel);
  assert.equal(record.cancelled, true);
  assert.notEqual(record.verdicts[2].verdict.code, "cancelled");
  assert.equal(record.verdicts[11].verdict.kind, "unscored");
  assert.equal(record.verdicts[11].verdict.code, "cancelled");
  const again = await judge(engine, { ...texts, rubrics: builtin_rubrics() });
  assert.equal(again.cancelled, false);
});

test("files that are no models end in an error with a code", async () => {
  const tiny = readFileSync(path("RETORT_TINY_MODEL"));
  for (const [bytes, code] of [
    [new Uint8Array(), "not_gguf"],
    [new TextEncoder().encode("\x89PNG\r\n\x1a\n and so on"), "not_gguf"],
    [tiny.subarray(0, 600), "truncated_file"],
    [tiny.subarray(0, tiny.length - 1000), "truncated_file"],
  ]) {
    await assert.rejects(load(bytes), (error) => error.name === "RetortError" && error.code === code && error.message.includes("model.gguf"));
  }
});

test("what the page hands over is checked", async () => {
  const engine = await load(readFileSync(path("RETORT_TINY_MODEL")));
  await assert.rejects(judge(engine, { ...texts, rubrics: [] }), { code: "no_rubrics" });
  await assert.rejects(judge(engine, { ...texts, response: " ", rubrics: builtin_rubrics() }), { code: "empty" });
  await assert.rejects(judge(engine, { prompt: "x" }), { code: "data" });
  assert.throws(() => read_rubrics("name = 3", "mine.toml"), (error) => error.code === "invalid_rubric" && error.message.includes("mine.toml:1"));
});

test("SHA-256 piece by piece", () => {
  // FIPS 180-2, appendix B.1: the hash of "abc".
  const hash = new Sha256();
  hash.update(new TextEncoder().encode("a"));
  hash.update(new TextEncoder().encode("bc"));
  assert.equal(hash.finish_hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
