/**
 * A stand-in for the wasm package with the same exports, for working on the page without building the engine.
 * It runs no model: its "scores" are made from the length of the texts. It never gets into a shipped build.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { parse } from "smol-toml";
import type {
  AdapterOptions, ByteSource, EngineInfo, JudgeEvent, JudgeRecord, JudgeRequest, LoadOptions, LoadProgress, Rubric, RubricVerdict, Verdict,
} from "../src/types";

class FakeError extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
    this.name = "RetortError";
  }
}

const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
const hex = (text: string) => bytesToHex(sha256(new TextEncoder().encode(text)));

export default async function init(_module: unknown): Promise<void> {
  await sleep(30);
}

export class Cancel {
  cancelled = false;
  cancel(): void {
    this.cancelled = true;
  }
  free(): void {}
}

export class Sha256 {
  readonly #hash = sha256.create();
  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }
  finish_hex(): string {
    return bytesToHex(this.#hash.digest());
  }
  free(): void {}
}

export class Engine {
  private constructor(private readonly about: EngineInfo) {}

  static async load(sources: ByteSource | ByteSource[], options: LoadOptions, on_progress: (p: LoadProgress) => void, cancel: Cancel): Promise<Engine> {
    const [source] = [sources].flat();
    if (!source) throw new FakeError("data", "No file was given.");
    const head = new Uint8Array(4);
    if (source.size === 0) throw new FakeError("empty_file", `${options.name}: the file is empty. Choose a GGUF model file.`);
    const read = source.read(0, head);
    if (read < 4 || String.fromCharCode(...head) !== "GGUF") {
      throw new FakeError("not_gguf", `${options.name}: not a GGUF file (it begins with ${[...head].map((b) => b.toString(16).padStart(2, "0")).join(" ")}). Choose a file that ends in .gguf.`);
    }
    if (source.size < 1000) throw new FakeError("truncated_file", `${options.name}: the file ends after ${source.size} bytes. Download it again.`);
    const into = new Uint8Array(1 << 16);
    for (let at = 0; at < source.size; at += into.byteLength) {
      if (cancel.cancelled) throw new FakeError("cancelled", "Loading was cancelled.");
      source.read(at, into);
      on_progress({ stage: "weights", loaded_bytes: Math.min(source.size, at + into.byteLength), total_bytes: source.size });
      await sleep(10);
    }
    on_progress({ stage: "check", loaded_bytes: source.size, total_bytes: source.size });
    const gpu = options.backend !== "cpu" && "gpu" in navigator && (await (navigator as unknown as { gpu: { requestAdapter(): Promise<unknown> } }).gpu.requestAdapter()) !== null;
    if (options.backend === "gpu" && !gpu) throw new FakeError("no_gpu", "This browser offers no WebGPU adapter. Choose Automatic or CPU.");
    return new Engine({
      backend: gpu ? "gpu" : "cpu",
      reason: gpu
        ? "WebGPU is available and passed the self-check."
        : options.backend === "cpu" ? "The CPU was chosen." : "This browser offers no WebGPU adapter, so the CPU is used.",
      device: gpu ? "SwiftShader (fake)" : "wasm SIMD (fake)",
      model: {
        name: options.name, sha256: options.sha256 ?? null, architecture: "llama", parameters: 134_515_008, context_length: 2048,
        layers: 30, width: 576, quantization: "Q4_1", file_bytes: source.size, head: null,
      },
      adapter: null,
    });
  }

  info(): EngineInfo {
    return this.about;
  }

  async set_adapter(source: ByteSource | null, options?: AdapterOptions): Promise<void> {
    await sleep(20);
    if (source !== null && source.size < 100) throw new FakeError("wrong_adapter", `The adapter ${options?.name ?? ""} cannot be applied: it is too short.`);
    this.about.adapter = source === null ? null : {
      name: options?.name ?? "", sha256: options?.sha256 ?? null, title: options?.name ?? "", rank: 4, strength: options?.strength ?? 1,
    };
  }

  async judge(request: JudgeRequest, on_event: (e: JudgeEvent) => void, cancel: Cancel): Promise<JudgeRecord> {
    const started = Date.now();
    const characters = request.prompt.length + request.response.length;
    const total_tokens = Math.ceil(characters / 4) + 90 * request.rubrics.length;
    const limit = 6000;
    const truncations = request.response.length > limit
      ? [{ text: "response", kept_characters: limit, total_characters: request.response.length }]
      : [];
    if (request.prompt.length > 50_000) throw new FakeError("too_long", "The prompt alone is longer than the model's context of 2048 tokens. Shorten it.");
    on_event({ kind: "planned", questions: request.rubrics.length, truncations });
    const verdicts: RubricVerdict[] = [];
    const pace = Number(/pace=(\d+)/.exec(request.prompt)?.[1] ?? 40);
    for (const [index, rubric] of request.rubrics.entries()) {
      await sleep(pace);
      if (cancel.cancelled) break;
      on_event({ kind: "progress", done_tokens: Math.floor((total_tokens * (index + 1)) / request.rubrics.length), total_tokens });
      const verdict: RubricVerdict = { rubric_id: rubric.id, rubric_name: rubric.name, rubric_sha256: hex(JSON.stringify(rubric)), verdict: score(rubric, characters, index, truncations.length > 0) };
      verdicts.push(verdict);
      on_event({ kind: "verdict", index, verdict });
    }
    return {
      format: "retort.judgement/1", version: version(), task: "rubric_scores",
      input: { prompt_sha256: hex(request.prompt), response_sha256: hex(request.response), reference_sha256: request.reference === undefined ? null : hex(request.reference) },
      model: { name: this.about.model.name, sha256: this.about.model.sha256, adapter: this.about.adapter },
      backend: this.about.backend, device: this.about.device, seed: null, orders: [], verdicts, notices: [], truncations,
      timings: { total_ms: Date.now() - started, tokens: total_tokens, tokens_reused: Math.floor(total_tokens * 0.7) },
      cancelled: cancel.cancelled,
    };
  }

  free(): void {}
}

function score(rubric: Rubric, characters: number, index: number, truncated: boolean): Verdict {
  if (index === 8) return { kind: "unscored", code: "mass_too_low", message: "The model put only 3% of its probability on the offered scores." };
  const values = rubric.options.map((option) => option.value);
  const min = Math.min(...values);
  const max = Math.max(...values);
  const centre = min + (max - min) * (0.45 + 0.4 * Math.sin(characters + index * 1.7));
  const weights = values.map((value) => Math.exp(-((value - centre) ** 2) / (0.12 * (max - min + 1) ** 2 / 4)));
  const sum = weights.reduce((a, b) => a + b, 0);
  const distribution = rubric.options.map((option, i) => ({ label: option.label, value: option.value, probability: weights[i]! / sum }));
  return {
    kind: "scored", min, max, distribution, expected: distribution.reduce((e, o) => e + o.value * o.probability, 0),
    mass: 0.9 + 0.08 * Math.cos(index), method: "option_probabilities", truncated,
  };
}

const SKILLS: [string, Rubric["ability"], string][] = [
  ["Logical robustness", "logical_thinking", "Do the steps hold in general, without contradictions and with edge cases covered?"],
  ["Logical correctness", "logical_thinking", "Is the final answer right, where one right answer exists?"],
  ["Logical efficiency", "logical_thinking", "Is the reasoning free of redundant steps?"],
  ["Factuality", "background_knowledge", "Is the knowledge accurate and, where it matters, supported?"],
  ["Commonsense understanding", "background_knowledge", "Does it model the everyday world correctly?"],
  ["Comprehension", "problem_handling", "Does it meet every requirement of the instruction?"],
  ["Insightfulness", "problem_handling", "Does it offer a new view on known things?"],
  ["Completeness", "problem_handling", "Is the explanation sufficient in breadth and in depth?"],
  ["Metacognition", "problem_handling", "Does it know and say what it cannot know?"],
  ["Readability", "user_alignment", "Is it structured and coherent for a reader?"],
  ["Conciseness", "user_alignment", "Is it free of what the reader does not need?"],
  ["Harmlessness", "user_alignment", "Is it free of bias and of risk to people's safety?"],
];

export function builtin_rubrics(): Rubric[] {
  return SKILLS.map(([name, ability, criterion]) => ({
    id: name.toLowerCase().replaceAll(" ", "_"), name, ability, criterion, question: criterion,
    options: [1, 2, 3, 4, 5].map((value) => ({ label: String(value), value, description: `Level ${value}.` })),
  }));
}

export function read_rubrics(text: string, name: string): Rubric[] {
  let data: unknown;
  try {
    data = text.trimStart().startsWith("{") ? JSON.parse(text) : parse(text);
  } catch (thrown) {
    const line = (thrown as { line?: number }).line ?? 1;
    throw new FakeError("bad_rubric", `${name}:${line}:1: ${(thrown as Error).message.split("\n")[0]}`);
  }
  const list = (data as { rubric?: Partial<Rubric>[] }).rubric;
  if (!Array.isArray(list) || list.length === 0) throw new FakeError("bad_rubric", `${name}:1:1: no rubric found. Add a [[rubric]] table.`);
  return list.map((entry) => {
    if (typeof entry.name !== "string") throw new FakeError("bad_rubric", `${name}:1:1: rubric[0]: the field "name" is missing; add it`);
    return {
      id: entry.id ?? entry.name.toLowerCase().replaceAll(" ", "_"), name: entry.name, ability: null, criterion: entry.criterion ?? "", question: null,
      options: entry.options ?? (entry as { option?: Rubric["options"] }).option ?? [1, 2, 3, 4, 5].map((value) => ({ label: String(value), value, description: null })),
    };
  });
}

export function version(): string {
  return "0.1.0-fake";
}
