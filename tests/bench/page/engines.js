/** Both engines behind the same few calls; each is loaded when it is first asked. */
import { LoggerWithoutDebug, Wllama } from "/wllama/index.js";

const retort = (() => {
  const worker = new Worker("retort-worker.js", { type: "module" });
  const waiting = [];
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.shift();
    if (data.error === undefined) resolve(data.answer);
    else reject(new Error(data.error));
  };
  worker.onerror = (event) => waiting.splice(0).forEach(({ reject }) => reject(new Error(`Retort's worker: ${event.message}`)));
  // The worker answers one message after the other, so answers come in the order of the questions.
  const call = (name) => (argument) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      worker.postMessage([name, argument]);
    });
  return { describe: call("describe"), judge: call("judge"), checklist: call("checklist") };
})();

const wllama = (() => {
  let blob;
  let engine;
  // One thread and no GPU; everything else is as it is for whoever says nothing, but for room for the prompts.
  const load = async () => {
    blob ??= await (await fetch("/model.gguf")).blob();
    await engine?.exit();
    const quiet = { ...LoggerWithoutDebug, log: () => {} };
    engine = new Wllama({ default: new URL("/wllama/wasm/wllama.wasm", location.href).href }, { logger: quiet, suppressNativeLog: true });
    await engine.loadModel([blob], { n_threads: 1, n_gpu_layers: 0, n_ctx: 2048, n_parallel: 1 });
  };
  const complete = (prompt) => engine.createCompletion({ prompt, max_tokens: 1, temperature: 0, logprobs: 20, cache_prompt: true });
  return {
    async describe() {
      if (!engine) await load();
      const { n_batch, n_ubatch, n_ctx } = engine.getLoadedContextInfo();
      return { engine: "wllama", threads: engine.getNumThreads(), n_batch, n_ubatch, n_ctx };
    },
    async complete({ prompts }) {
      // Loaded anew, since it finds earlier prompts again in a second cache that cannot be emptied. A few tokens of
      // something else let the browser compile what is hot, so that only computing is measured.
      await load();
      await complete("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20");
      const [computed, cached, answers] = [[], [], []];
      const start = performance.now();
      for (const prompt of prompts) {
        const { choices, timings } = await complete(prompt);
        answers.push(choices[0].text);
        computed.push(timings.prompt_n);
        cached.push(timings.cache_n);
      }
      return { seconds: (performance.now() - start) / 1000, computed, cached, answers };
    },
  };
})();

window.engines = { retort, wllama };
