// The wasm package under Node, on the CPU: the same engine as in the page's worker, without a browser.
//
// RETORT_TINY_MODEL and RETORT_TEST_MODEL name the model files; `cargo xtask test` sets both. Native results come
// from the retort command, so that native and wasm are held to the same numbers.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";

import { hasRelaxedSimd, wasmFile } from "../../pkg/variant.mjs";
import { file, instance, path, sourceOf, texts } from "./engine.mjs";

const plain = await instance("retort_bg.wasm");
const { Cancel, Sha256, builtin_rubrics, read_rubrics } = plain;

const load = (bytes, name = "model.gguf", cancel = new Cancel(), onProgress = () => {}) =>
  plain.Engine.load(sourceOf(bytes), { backend: "cpu", name }, onProgress, cancel);

const native = (args) => {
  const cli = process.env.RETORT_CLI;
  const [command, first] = cli ? [cli, []] : ["cargo", ["run", "--quiet", "-p", "retort-cli", "--"]];
  return JSON.parse(execFileSync(command, [...first, ...args, "--json", "--backend", "cpu"], { encoding: "utf8" }));
};

const judge = (engine, request, onEvent = () => {}, cancel = new Cancel()) => engine.judge(request, onEvent, cancel);

test("the wasm file is chosen by what the engine of JavaScript can run, and runs correctly", () => {
  // 4 × (-128 × 127) + 5.
  assert.equal(wasmFile(() => -65019), "retort_relaxed_bg.wasm");
  // What an engine gives that takes bytes for unsigned, and one that adds the products twice.
  for (const wrong of [4 * 128 * 127 + 5, -130048, null]) assert.equal(wasmFile(() => wrong), "retort_bg.wasm");
  assert.equal(hasRelaxedSimd(() => { throw new Error("no WebAssembly here"); }), false);
  // The probe is right but for the one instruction: number 0x113, in LEB128 0x93 0x02. Another number is unknown to
  // any engine; the fixed-width v128.bitselect (0x52) takes as many operands, and of these gives the bits of 5 of
  // -128's and the others of 127's: 0x7f7f7f7f & ~5 | 0x80808080 & 5.
  hasRelaxedSimd((probe) => {
    const at = probe.length - 6;
    assert.deepEqual([...probe.slice(at, at + 2)], [0x93, 0x02]);
    const unknown = probe.slice();
    unknown.set([0xff, 0x03], at);
    assert.equal(WebAssembly.validate(unknown), false);
    const fixed = probe.slice();
    fixed.set([0xd2, 0x00], at);
    const { f } = new WebAssembly.Instance(new WebAssembly.Module(fixed)).exports;
    assert.equal(f(), (0x7f7f7f7f & ~5) | (0x80808080 & 5));
  });
});

test("the relaxed file gives the plain one's scores", { timeout: 600_000 }, async (context) => {
  // Node 20 knows the instructions but keeps them behind a flag, and its quick compiler gets them wrong (the probe
  // says so); its other one does not. Later ones just know them.
  if (!hasRelaxedSimd()) {
    setFlagsFromString("--no-liftoff");
    setFlagsFromString("--experimental-wasm-relaxed-simd");
  }
  if (!hasRelaxedSimd()) return context.skip("this Node cannot run relaxed SIMD");
  const relaxed = await instance("retort_relaxed_bg.wasm");
  const scores = [];
  for (const engine of [plain, relaxed]) {
    const model = file("RETORT_TEST_MODEL");
    const loaded = await engine.Engine.load(model, { backend: "cpu", name: "model.gguf" }, () => {}, new engine.Cancel());
    const rubrics = engine.builtin_rubrics().slice(0, 3);
    const record = await loaded.judge({ ...texts, rubrics }, () => {}, new engine.Cancel());
    scores.push(record.verdicts.map(({ verdict }) => verdict));
    loaded.free();
    model.close();
  }
  scores[0].forEach((verdict, index) => {
    assert.equal(verdict.kind, "scored");
    // The relaxed file's activations have 14 bits, and the plain one's 16.
    assert.ok(Math.abs(verdict.expected - scores[1][index].expected) < 0.02, `${verdict.expected} and ${scores[1][index].expected}`);
  });
});

test("scores equal the native command's", { timeout: 600_000 }, async () => {
  for (const [variable, skills, tolerance] of [
    ["RETORT_TINY_MODEL", "all", 1e-3],
    ["RETORT_TEST_MODEL", "factuality,readability", 1e-3],
  ]) {
    const model = path(variable);
    const expected = native(["judge", "--model", model, "--skills", skills, "--prompt", texts.prompt, "--response", texts.response]);
    const engine = await load(readFileSync(model));
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

test("what was read ahead is not read again, and changes no score", async () => {
  const tiny = readFileSync(path("RETORT_TINY_MODEL"));
  const engine = await load(tiny);
  const request = { ...texts, rubrics: builtin_rubrics() };
  await engine.read_ahead(request, new Cancel());
  const record = await judge(engine, request);
  const cold = await judge(await load(tiny), request);
  // The texts were there and the questions were not; the processor's sums are the same in whatever parts they come.
  assert.ok(record.timings.tokens_reused > record.input.response_words, `${record.timings.tokens_reused} tokens`);
  assert.equal(cold.timings.tokens_reused, 0);
  assert.equal(record.timings.tokens + record.timings.tokens_reused, cold.timings.tokens);
  assert.deepEqual(record.verdicts, cold.verdicts);
  const cancel = new Cancel();
  cancel.cancel();
  await assert.rejects(engine.read_ahead({ ...request, response: "Another one." }, cancel), { code: "cancelled" });
  await assert.rejects(engine.read_ahead({ ...request, response: " " }, new Cancel()), { code: "empty" });
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

test("a split model is its parts in their order", async () => {
  const parts = [1, 2, 3].map((part) => file("RETORT_TINY_MODEL", `0000${part}-of-00003`));
  const open = (sources) => plain.Engine.load(sources, { backend: "cpu", name: "split" }, () => {}, new Cancel());
  const whole = await load(readFileSync(path("RETORT_TINY_MODEL")));
  const joined = await open(parts);
  const rubrics = builtin_rubrics().slice(0, 2);
  const [a, b] = [await judge(whole, { ...texts, rubrics }), await judge(joined, { ...texts, rubrics })];
  assert.deepEqual(a.verdicts, b.verdicts);
  assert.equal(joined.info().model.file_bytes, parts.reduce((sum, part) => sum + part.size, 0));
  const refused = (sources, ...words) =>
    assert.rejects(open(sources), (error) => error.code === "split_model" && words.every((word) => error.message.includes(word)));
  await refused([parts[0], parts[2]], "00002-of-00003.gguf", "missing");
  await refused(parts[1], "00001-of-00003.gguf", "missing");
  await refused([parts[0], parts[2], parts[1]], "is part 3 of 3 and was given as part 2");
  await assert.rejects(open([]), { code: "data" });
  for (const part of parts) part.close();
});

test("an adapter is applied, recorded, and taken away", async () => {
  const engine = await load(readFileSync(path("RETORT_TINY_MODEL")));
  const adapter = file("RETORT_TINY_MODEL", "adapter");
  const foreign = file("RETORT_TINY_MODEL", "foreign");
  const rubrics = builtin_rubrics().slice(0, 2);
  const base = await judge(engine, { ...texts, rubrics });
  assert.equal(base.model.adapter, null);
  assert.equal(engine.info().adapter, null);

  const sha256 = "0".repeat(64);
  await engine.set_adapter(adapter, { name: "a.gguf", sha256, strength: 0.5 });
  assert.deepEqual(engine.info().adapter, { name: "a.gguf", sha256, title: "Tiny random adapter", rank: 4, strength: 0.5 });
  const adapted = await judge(engine, { ...texts, rubrics });
  assert.deepEqual(adapted.model.adapter, { name: "a.gguf", sha256, strength: 0.5 });
  assert.notDeepEqual(adapted.verdicts, base.verdicts);

  // What cannot be applied leaves the one that is.
  const wrong = (source, code, word) =>
    assert.rejects(engine.set_adapter(source, { name: "b.gguf" }), (error) => error.code === code && error.message.includes(word));
  await wrong(foreign, "wrong_adapter", '"qwen2"');
  await wrong(sourceOf(readFileSync(path("RETORT_TINY_MODEL"))), "wrong_adapter", "load it as a model");
  await wrong(sourceOf(new Uint8Array(9)), "not_gguf", "b.gguf");
  await assert.rejects(engine.set_adapter(adapter, { name: "b.gguf", strength: Infinity }), { code: "wrong_adapter" });
  await assert.rejects(engine.set_adapter(adapter), { code: "data" });
  assert.deepEqual((await judge(engine, { ...texts, rubrics })).verdicts, adapted.verdicts);
  await assert.rejects(load(readFileSync(path("RETORT_TINY_MODEL", "adapter"))), (error) => error.code === "unsupported" && error.message.includes("an adapter in place of a model"));

  await engine.set_adapter(null);
  const again = await judge(engine, { ...texts, rubrics });
  assert.equal(again.model.adapter, null);
  assert.deepEqual(again.verdicts, base.verdicts);
  adapter.close();
  foreign.close();
});

test("an adapter's calibration is applied as the native command does it", async () => {
  const [model, adapter] = [path("RETORT_TINY_MODEL"), path("RETORT_TINY_MODEL", "calibrated")];
  const args = ["judge", "--model", model, "--adapter", adapter, "--skills", "all", "--prompt", texts.prompt, "--response", texts.response];
  const [expected, plain] = [native(args), native([...args, "--no-calibration"])];
  assert.deepEqual([expected.calibration, plain.calibration], ["applied", "off"]);
  const engine = await load(readFileSync(model));
  await engine.set_adapter(sourceOf(readFileSync(adapter)), { name: "a.gguf" });
  const record = await judge(engine, { ...texts, rubrics: builtin_rubrics() });
  assert.equal(record.calibration, "applied");
  let scored = 0;
  record.verdicts.forEach(({ verdict }, index) => {
    const right = expected.verdicts[index].verdict;
    assert.equal(verdict.kind, right.kind);
    if (verdict.kind !== "scored") return;
    assert.equal(verdict.method, "calibrated_option_probabilities");
    assert.ok(Math.abs(verdict.expected - right.expected) < 1e-3, `${verdict.expected} and ${right.expected}`);
    // The comparison could fail: as the model gives them, probabilities are others.
    const other = plain.verdicts[index].verdict;
    if (other.kind === "scored" && Math.abs(verdict.expected - other.expected) > 1e-2) scored += 1;
  });
  assert.ok(scored > 0, "no score shows that it was applied");
  // At another strength than it was fitted at there is none.
  await engine.set_adapter(sourceOf(readFileSync(adapter)), { name: "a.gguf", strength: 0.5 });
  assert.equal((await judge(engine, { ...texts, rubrics: builtin_rubrics().slice(0, 1) })).calibration, undefined);
  engine.free();
});

test("a reward model scores as the native command does", async () => {
  const model = file("RETORT_TINY_MODEL", "reward");
  const engine = await plain.Engine.load(model, { backend: "cpu", name: "reward.gguf" }, () => {}, new Cancel());
  assert.deepEqual(engine.info().model.head, { outputs: 1, labels: [] });
  const responses = [texts.response, "I do not know."];
  const seen = [];
  const record = await engine.reward({ prompt: texts.prompt, responses }, (progress) => seen.push(progress), new Cancel());
  const right = native([
    "reward", "--model", path("RETORT_TINY_MODEL", "reward"), "--prompt", texts.prompt,
    ...responses.flatMap((response) => ["--response", response]),
  ]);
  assert.equal(record.format, right.format);
  assert.deepEqual(record.input, right.input);
  record.rewards.forEach((reward, index) => {
    assert.equal(reward.kind, "scored");
    assert.ok(Math.abs(reward.outputs[0] - right.rewards[index].outputs[0]) < 1e-3);
  });
  assert.equal(seen.at(-1).done_tokens, seen.at(-1).total_tokens);
  const plainModel = await load(readFileSync(path("RETORT_TINY_MODEL")));
  assert.equal(plainModel.info().model.head, null);
  await assert.rejects(plainModel.reward({ prompt: "a", responses: ["b"] }, () => {}, new Cancel()), { code: "no_head" });
  await assert.rejects(engine.reward({ prompt: "a" }, () => {}, new Cancel()), { code: "data" });
  model.close();
});

test("SHA-256 piece by piece", () => {
  // FIPS 180-2, appendix B.1: the hash of "abc".
  const hash = new Sha256();
  hash.update(new TextEncoder().encode("a"));
  hash.update(new TextEncoder().encode("bc"));
  assert.equal(hash.finish_hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
