// Comparisons, hidden states and readouts across the boundary of the wasm package, under Node.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { instance, path, sourceOf, texts } from "./engine.mjs";

const { Cancel, Engine, apply_readout, fit_readout } = await instance("retort_bg.wasm");

const load = () =>
  Engine.load(sourceOf(readFileSync(path("RETORT_TINY_MODEL"))), { backend: "cpu", name: "tiny.gguf" }, () => {}, new Cancel());

const native = (args) => {
  const cli = process.env.RETORT_CLI;
  const [command, first] = cli ? [cli, []] : ["cargo", ["run", "--quiet", "-p", "retort-cli", "--"]];
  try {
    return JSON.parse(execFileSync(command, [...first, ...args, "--json", "--backend", "cpu"], { encoding: "utf8" }));
  } catch (error) {
    // A pair that the tiny model leaves undecided ends the command with a 1; its record stands.
    return JSON.parse(error.stdout);
  }
};

test("responses are compared as the native command does", async () => {
  const engine = await load();
  const responses = [texts.response, "I do not know.", "Venus."];
  const seen = [];
  const record = await engine.compare({ prompt: texts.prompt, responses }, (progress) => seen.push(progress), new Cancel());
  const right = native([
    "compare", "--model", path("RETORT_TINY_MODEL"), "--prompt", texts.prompt,
    ...responses.flatMap((response) => ["--response", response]),
  ]);
  assert.equal(record.format, right.format);
  assert.deepEqual(record.input, right.input);
  assert.equal(record.pairs.length, 3);
  record.pairs.forEach((pair, index) => {
    const other = right.pairs[index];
    assert.deepEqual([pair.first, pair.second, pair.verdict.kind], [other.first, other.second, other.verdict.kind]);
    pair.shown.forEach((shown, order) => assert.ok(Math.abs(shown.first - other.shown[order].first) < 1e-3));
  });
  assert.equal(seen.at(-1).done_tokens, seen.at(-1).total_tokens);
  await assert.rejects(engine.compare({ prompt: "a", responses: ["b"] }, () => {}, new Cancel()), { code: "responses" });
  engine.free();
});

test("states are typed arrays of the model's width, the same each time but for rounding", async () => {
  const engine = await load();
  const { layers, width } = engine.info().model;
  const record = await engine.states(texts, new Cancel());
  assert.equal(record.layer, Math.ceil(layers / 2));
  assert.equal(record.width, width);
  for (const state of [record.mean, record.last]) {
    assert.ok(state instanceof Float32Array);
    assert.equal(state.length, width);
    assert.ok(state.every(Number.isFinite));
  }
  assert.equal(record.model.name, "tiny.gguf");
  // What is read again begins with what is remembered of the first time, so that a mean is summed up in other pieces.
  const again = await engine.states(texts, new Cancel());
  assert.deepEqual({ ...again, mean: null, last: null }, { ...record, mean: null, last: null });
  for (const of of ["mean", "last"]) again[of].forEach((value, at) => assert.ok(Math.abs(value - record[of][at]) < 1e-5, `${of}[${at}]`));
  const cancel = new Cancel();
  cancel.cancel();
  await assert.rejects(engine.states({ ...texts, response: "Another one." }, cancel), { code: "cancelled" });
  engine.free();
});

test("a readout is fitted, survives JSON and says the same", () => {
  // The label is in the first number of the state; the others are a fixed pattern that knows nothing of it.
  const examples = Array.from({ length: 30 }, (_, at) => {
    const label = 1 + (at % 5);
    const state = Float32Array.from({ length: 8 }, (_, place) => (place === 0 ? label : Math.sin(7 * at + place)));
    return { state, own: at % 3, label, group: `prompt ${at}` };
  });
  const model = { name: "tiny.gguf", sha256: null, adapter: null };
  const readout = fit_readout({ examples, layer: 2, model, min: 1, max: 5, seed: 1 });
  assert.equal(readout.format, "retort.readout/1");
  assert.deepEqual([readout.layer, readout.width, readout.n, readout.groups], [2, 4, 30, 30]);
  assert.deepEqual(readout.model, model);
  assert.deepEqual([readout.weights.length, readout.mean.length, readout.deviation.length], [9, 8, 8]);
  assert.equal(readout.helps, true);
  const saved = JSON.parse(JSON.stringify(readout));
  assert.deepEqual(saved, readout);
  const said = apply_readout(saved, examples[4].state, 1, 2);
  assert.ok(Math.abs(said - 5) < 0.5, `${said}`);
  assert.equal(apply_readout(readout, examples[4].state, 1), said);
  assert.throws(() => apply_readout(readout, examples[4].state, 1, 3), { code: "wrong_state" });
  assert.throws(() => apply_readout(readout, new Float32Array(3), 1), { code: "wrong_state" });
  assert.throws(() => fit_readout({ examples: examples.slice(0, 3), layer: 2, min: 1, max: 5, seed: 1 }), { code: "too_few_examples" });
  assert.throws(() => fit_readout({ examples: [{ ...examples[0], state: "none" }], layer: 2, min: 1, max: 5, seed: 1 }), { code: "data" });
});

test("two thousand numbers and two hundred examples take about a second", () => {
  const examples = Array.from({ length: 200 }, (_, at) => ({
    state: Float32Array.from({ length: 2000 }, (_, place) => Math.sin(at * 12.9898 + place * 78.233) * 43.5),
    own: at % 7,
    label: 1 + (at % 5),
    group: `prompt ${at}`,
  }));
  const start = performance.now();
  fit_readout({ examples, layer: 2, min: 1, max: 5, seed: 1 });
  // Loosely, since the machine may be busy: a fit in the primal form would take minutes.
  assert.ok(performance.now() - start < 15_000);
});
