/** Retort as in the page: in a worker, on the CPU. */
import init, { Cancel, Engine, annotate, builtin_rubrics, generate_checklist, version } from "/pkg/retort.js";
import { wasmFile } from "/pkg/variant.mjs";

const bytes = (async () => {
  await init({ module_or_path: new URL(`/pkg/${wasmFile()}`, self.location.href) });
  return new Uint8Array(await (await fetch("/model.gguf")).arrayBuffer());
})();

async function load() {
  const file = await bytes;
  const source = {
    size: file.length,
    read(offset, into) {
      const part = file.subarray(offset, offset + into.length);
      into.set(part);
      return part.length;
    },
  };
  return Engine.load(source, { backend: "cpu", name: "model.gguf" }, () => {}, new Cancel());
}

const calls = {
  async describe() {
    const engine = await load();
    const { device, model } = engine.info();
    engine.free();
    return { engine: "retort", version: version(), device: `${device} (${wasmFile()})`, parameters: model.parameters, quantization: model.quantization };
  },

  /** A judgement by the first `rubrics` built-in rubrics, with nothing in the cache: a new engine each time. */
  async judge({ prompt, response, rubrics, wording }) {
    const all = builtin_rubrics();
    const engine = await load();
    try {
      const request = { prompt, response, wording, rubrics: Array.from({ length: rubrics }, (_, index) => all[index % all.length]) };
      const start = performance.now();
      const record = await engine.judge(request, () => {}, new Cancel());
      const seconds = (performance.now() - start) / 1000;
      const odd = record.verdicts.find(({ verdict }) => verdict.kind !== "scored" && !["outside_options", "not_applicable"].includes(verdict.code));
      if (odd) throw new Error(`${odd.rubric_id} was not judged: ${odd.verdict.message}`);
      if (record.truncations.length > 0) throw new Error("the texts do not fit into the model's context");
      if (record.timings.tokens_reused > 0) throw new Error(`${record.timings.tokens_reused} tokens were in the cache already`);
      return { seconds, tokens: record.timings.tokens };
    } finally {
      engine.free();
    }
  },

  /** A checklist without a model, several times, since a browser's clock is coarse: the seconds of one. */
  async checklist({ instruction }) {
    await bytes;
    const times = 10;
    let items = 0;
    const start = performance.now();
    for (let time = 0; time < times; time++) {
      const { skills } = annotate(instruction).annotation;
      items = generate_checklist({ instruction, skills, form: "full" }).items.length;
    }
    return { seconds: (performance.now() - start) / 1000 / times, items };
  },
};

let before = Promise.resolve();
onmessage = ({ data: [name, argument] }) => {
  before = before.then(async () => {
    try {
      postMessage({ answer: await calls[name](argument ?? {}) });
    } catch (error) {
      postMessage({ error: error instanceof Error ? error.message : String(error) });
    }
  });
};
