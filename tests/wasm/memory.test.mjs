// What the engine takes of wasm memory, and that it gives it back. A process of its own: wasm memory never shrinks.

import assert from "node:assert/strict";
import { test } from "node:test";

import { file, instance, texts } from "./engine.mjs";

const { Cancel, Engine, builtin_rubrics, memory } = await instance();
const heap = () => memory.buffer.byteLength;
/** Wasm memory grows by whole pages. */
const PAGE = 65_536;

const load = (source, name) => Engine.load(source, { backend: "cpu", name }, () => {}, new Cancel());
const judge = (engine, rubrics) => engine.judge({ ...texts, rubrics }, () => {}, new Cancel());

test("P42: twenty load/unload cycles end where they began", { timeout: 600_000 }, async () => {
  const adapter = file("RETORT_TINY_MODEL", "adapter");
  const after = [];
  for (let cycle = 0; cycle < 20; cycle += 1) {
    const model = file("RETORT_TINY_MODEL");
    const engine = await load(model, "tiny.gguf");
    await engine.set_adapter(adapter, { name: "adapter.gguf" });
    await judge(engine, builtin_rubrics().slice(0, 2));
    engine.free();
    model.close();
    after.push(heap());
  }
  adapter.close();
  // The heap settles within the first cycles, as pieces find their places; a leak of any size would go on.
  assert.ok(after.slice(5).every((bytes) => bytes === after[4]), `heap after each cycle: ${after}`);
  assert.ok(after[4] - after[1] <= PAGE, `heap after each cycle: ${after}`);
});

// Last, since it takes the most.
test("the heap's peak is at most 1.3 times the model file", { timeout: 600_000 }, async () => {
  const model = file("RETORT_TEST_MODEL");
  const engine = await load(model, "model.gguf");
  const loaded = heap();
  const record = await judge(engine, builtin_rubrics());
  assert.equal(record.verdicts.length, 12);
  const shares = [loaded, heap()].map((bytes) => (bytes / model.size).toFixed(3));
  console.log(`heap: ${shares[0]} of the file after loading, ${shares[1]} after judging`);
  assert.ok(heap() <= 1.3 * model.size, `${heap()} bytes for a file of ${model.size} (${shares})`);
  engine.free();
  model.close();

  // A second model takes no more than the first.
  const before = heap();
  const again = file("RETORT_TEST_MODEL");
  const second = await load(again, "model.gguf");
  await judge(second, builtin_rubrics().slice(0, 1));
  assert.equal(heap(), before);
  second.free();
  again.close();
});
