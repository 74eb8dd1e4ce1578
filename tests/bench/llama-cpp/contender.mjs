/**
 * llama.cpp natively, through node-llama-cpp: its ready-made libraries come in a variant for each processor, so it is
 * measured as fast as it is for whoever installs it. Threads come from the variable LLAMA_THREADS (2).
 */
import { LlamaLogLevel, getLlama } from "node-llama-cpp";
import { answerLines, modelPath } from "../lines.mjs";

const threads = Number(process.env.LLAMA_THREADS ?? "2");
const path = modelPath();
let loaded;

async function load() {
  const llama = await getLlama({ gpu: false, build: "never", maxThreads: threads, logLevel: LlamaLogLevel.error });
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  // Physical batches of 512 and flash attention where it is supported are llama.cpp's own defaults.
  const context = await model.createContext({ contextSize: 4096, batchSize: 512, sequences: 1, threads });
  return { llama, context, sequence: context.getSequence() };
}

await answerLines({
  async describe() {
    const { llama, context } = (loaded ??= await load());
    const features = llama.systemInfo.replace(/ = 1/g, "").replace(/[\s|]+/g, " ").trim();
    return {
      engine: `llama.cpp ${llama.llamaCppRelease.release} (node-llama-cpp)`,
      features,
      threads: context.currentThreads,
      batch: context.batchSize,
      flash_attention: context.flashAttention,
    };
  },

  /** The tokens of a prompt, up to the first token that follows them: `{seconds, tokens, busy}`. */
  async prefill({ tokens }) {
    const { sequence } = (loaded ??= await load());
    await sequence.clearHistory();
    const processor = process.cpuUsage();
    const start = performance.now();
    for await (const _ of sequence.evaluate(tokens, { temperature: 0 })) break;
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(processor);
    if (sequence.nextTokenIndex < tokens.length) throw new Error(`only ${sequence.nextTokenIndex} of ${tokens.length} tokens were computed`);
    return { seconds, tokens: tokens.length, busy: (user + system) / 1e6 / seconds };
  },
});
// Its threads would keep the program alive.
process.exit(0);
