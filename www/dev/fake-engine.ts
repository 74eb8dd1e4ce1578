/**
 * A stand-in for the wasm package with the same exports, for working on the page without building the engine.
 * It runs no model: its "scores" are made from the length of the texts. It never gets into a shipped build.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { parse, stringify } from "smol-toml";
import type {
  AdapterOptions, Agreement, AnnotateRequest, Annotated, AnnotationRecord, ByteSource, Checklist, ChecklistItem, ChecklistRequest, CompareRecord, CompareRequest,
  EngineInfo, Estimate, FitRequest, ItemVerdict, JudgeEvent, JudgeRecord, JudgeRequest, LoadOptions, LoadProgress, PairVerdict, Readout, Reward, RewardRecord, RewardRequest,
  Rubric, RubricVerdict,
  SkillId, StateRecord, StateRequest, Table, TokenProgress, Verdict, Vocabulary, WriteEvent, WriteItemsRequest, WrittenItems,
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
      tuning: null,
      model: {
        name: options.name, sha256: options.sha256 ?? null, architecture: "llama", parameters: 134_515_008, context_length: 2048,
        layers: 30, width: 576, quantization: "Q4_1", file_bytes: source.size,
        head: /reward/.test(options.name) ? { outputs: 1, labels: [] } : /classifier/.test(options.name) ? { outputs: 3, labels: ["helpful", "safe", "brief"] } : null,
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
    const items: ItemVerdict[] = [];
    for (const [index, item] of (request.checklist?.items ?? []).entries()) {
      const verdict = decide(item, request.response, index);
      items.push(verdict);
      on_event({ kind: "item", index, verdict });
    }
    const pace = Number(/pace=(\d+)/.exec(request.prompt)?.[1] ?? 40);
    for (const [index, rubric] of request.rubrics.entries()) {
      await sleep(pace);
      if (cancel.cancelled) break;
      on_event({ kind: "progress", done_tokens: Math.floor((total_tokens * (index + 1)) / request.rubrics.length), total_tokens });
      let written: string | null = null;
      if (request.form !== undefined) {
        written = `It holds ${characters} characters. [RESULT] 3`;
        for (const piece of written.split(/(?<= )/)) {
          await sleep(pace / 8);
          on_event({ kind: "writing", question: index, piece });
        }
      }
      const verdict: RubricVerdict = { rubric_id: rubric.id, rubric_name: rubric.name, rubric_sha256: hex(JSON.stringify(rubric)), verdict: score(rubric, characters, index, truncations.length > 0), ...(written !== null && { written }) };
      if (written !== null && verdict.verdict.kind === "scored") verdict.verdict = { ...verdict.verdict, expected: 3, mass: 1, method: "written" };
      verdicts.push(verdict);
      on_event({ kind: "verdict", index, verdict });
    }
    return {
      format: "retort.judgement/1", version: version(), task: "rubric_scores",
      input: { prompt_sha256: hex(request.prompt), response_sha256: hex(request.response), reference_sha256: request.reference === undefined ? null : hex(request.reference) },
      model: { name: this.about.model.name, sha256: this.about.model.sha256, adapter: this.about.adapter },
      backend: this.about.backend, device: this.about.device, seed: null, orders: [], verdicts, ...(request.form && { form: request.form }),
      ...(request.rubrics.some(({ weight }) => weight !== undefined) && { total: { kind: "unscored" as const, message: "The stand-in adds nothing up." } }),
      ...(request.annotation && { annotation: request.annotation }),
      ...(request.checklist && {
        checklist: { name: null, sha256: "", items, score: { score: null, verified: 0, judged: 0, not_applicable: 0, unscored: 0, verified_met: 0, judged_met: 0 } },
      }),
      notices: [], truncations,
      timings: { total_ms: Date.now() - started, tokens: total_tokens, tokens_reused: Math.floor(total_tokens * 0.7) },
      cancelled: cancel.cancelled,
    };
  }

  async annotate(request: AnnotateRequest, on_progress: (p: TokenProgress) => void, cancel: Cancel): Promise<AnnotationRecord> {
    for (let i = 0; i < 20 && !cancel.cancelled; i++) {
      await sleep(40);
      on_progress({ done_tokens: i * 10, total_tokens: 200 });
    }
    return {
      format: "retort.annotation/1", version: version(), task: "annotation", instruction_sha256: hex(request.instruction), words: null,
      annotation: { ...annotate(request.instruction).annotation, skills: ["insightfulness"], by: "model" },
      by_model: { model: { name: "", sha256: null, adapter: null }, backend: "cpu", device: "", seed: 0, cancelled: cancel.cancelled },
    };
  }

  async write_items(request: WriteItemsRequest, _on_event: (e: WriteEvent) => void, _cancel: Cancel): Promise<WrittenItems> {
    await sleep(100);
    return { dropped: [], truncations: [], cancelled: false, failure: null, notices: [], items: [{ id: "model-1", question: `Does it answer all ${request.instruction.length} characters?`, origin: "model" }] };
  }

  async reward(request: RewardRequest, on_progress: (p: TokenProgress) => void, cancel: Cancel): Promise<RewardRecord> {
    const { head } = this.about.model;
    if (head === null) throw new FakeError("no_head", "The loaded model has no head of its own.");
    if (request.responses.every((response) => response.length > 50_000)) throw new FakeError("too_long", "The text is longer than the model's context of 2048 tokens; shorten it.");
    const rewards: Reward[] = [];
    const pace = Number(/pace=(\d+)/.exec(request.prompt)?.[1] ?? 60);
    for (const [at, response] of request.responses.entries()) {
      await sleep(pace);
      on_progress({ done_tokens: at + 1, total_tokens: request.responses.length });
      rewards.push(cancel.cancelled ? { kind: "unscored", code: "cancelled", message: "Cancelled before this score was computed" } : { kind: "scored", outputs: Array.from({ length: head.outputs }, (_, output) => (response.length - 40) / 10 + output) });
    }
    return {
      format: "retort.reward/1", version: version(), task: "reward", input: { prompt_sha256: hex(request.prompt), responses_sha256: request.responses.map(hex) },
      model: { name: this.about.model.name, sha256: this.about.model.sha256, adapter: this.about.adapter }, backend: this.about.backend, device: this.about.device,
      labels: head.labels, rewards, notices: [], timings: { total_ms: 60, tokens: 10, tokens_reused: 0 }, cancelled: cancel.cancelled,
    };
  }

  async compare(request: CompareRequest, on_progress: (p: TokenProgress) => void, cancel: Cancel): Promise<CompareRecord> {
    const places = request.responses.map((_, i) => i);
    const pairs: PairVerdict[] = [];
    for (const [first, second] of places.flatMap((a) => places.slice(a + 1).map((b) => [a, b] as const))) {
      await sleep(60);
      if (cancel.cancelled) break;
      on_progress({ done_tokens: pairs.length * 100, total_tokens: 600 });
      // The longer wins, and whoever is shown first gets a little more.
      const gap = Math.tanh((request.responses[first]!.length - request.responses[second]!.length) / 80) / 3;
      const shown = [first, second].map((shown_first, i) => {
        const p = Math.min(0.98, Math.max(0.02, 0.5 + gap + (i === 0 ? 0.1 : -0.1)));
        return { shown_first, first: p, second: 1 - p, mass: 0.9 };
      });
      const probability_first = (shown[0]!.first + shown[1]!.first) / 2;
      const preferred = Math.abs(probability_first - 0.5) <= 0.01 ? null : probability_first > 0.5 ? first : second;
      pairs.push({ first, second, shown, verdict: { kind: "scored", preferred, probability_first, flipped: shown[0]!.first > 0.5 !== shown[1]!.first > 0.5 } });
    }
    return {
      format: "retort.comparison/1", version: version(), task: "pairwise",
      input: { prompt_sha256: hex(request.prompt), responses_sha256: request.responses.map(hex), responses_words: request.responses.map((one) => one.split(/\s+/).filter(Boolean).length), reference_sha256: request.reference === undefined ? null : hex(request.reference) },
      model: { name: this.about.model.name, sha256: this.about.model.sha256, adapter: this.about.adapter }, backend: this.about.backend, device: this.about.device,
      pairs, truncations: [], notices: [], timings: { total_ms: 60 * pairs.length, tokens: 600, tokens_reused: 300 }, cancelled: cancel.cancelled,
    };
  }

  async read_ahead(_request: JudgeRequest, _cancel: Cancel): Promise<void> {
    await sleep(20);
  }

  async states(request: StateRequest, _cancel: Cancel): Promise<StateRecord> {
    await sleep(30);
    const width = 8;
    const of = (salt: number) => Float32Array.from({ length: width }, (_, i) => Math.sin(request.response.length * (i + 1) * 0.01 + salt));
    return { model: { name: this.about.model.name, sha256: this.about.model.sha256, adapter: this.about.adapter }, layer: 15, width, mean: of(0), last: of(1), truncations: [] };
  }

  free(): void {}
}

/** Plain comma- or tab-separated lines, or JSON objects; the real one knows far more. */
export function read_table(bytes: Uint8Array, name: string): Table {
  const content = new TextDecoder().decode(bytes);
  const lines = content.split("\n").filter((line) => line.trim() !== "");
  const roles = (columns: string[]): Table["roles"] => {
    const find = (pattern: RegExp) => columns.find((column) => pattern.test(column));
    const found = { prompt: find(/^(prompt|instruction|question|input)/i), response: find(/^(response|output|answer)/i), reference: find(/^(reference|target)/i), human: find(/^(human|label|score|rating)/i), id: find(/^id$/i), domain: find(/^domain/i), difficulty: find(/^difficulty/i) };
    return Object.fromEntries(Object.entries(found).filter(([, column]) => column !== undefined));
  };
  if (/\.(jsonl?|ndjson)$/i.test(name)) {
    const faults: Table["faults"] = [];
    const objects = lines.flatMap((line, i) => {
      try {
        return [{ line: i + 1, object: JSON.parse(line) as Record<string, unknown> }];
      } catch (thrown) {
        faults.push({ line: i + 1, message: `${name}:${i + 1}: not JSON (${(thrown as Error).message}); the row was skipped` });
        return [];
      }
    });
    const columns = [...new Set(objects.flatMap(({ object }) => Object.keys(object)))];
    const cell = (value: unknown) => (value === undefined || value === null ? null : typeof value === "string" ? value : JSON.stringify(value));
    return { container: "jsonl", shape: null, columns, rows: objects.map(({ line, object }) => ({ line, values: columns.map((column) => cell(object[column])) })), faults, roles: roles(columns) };
  }
  const mark = /\.tsv$/i.test(name) ? "\t" : ",";
  const [head = "", ...rest] = lines;
  const columns = head.split(mark).map((column) => column.trim());
  return { container: mark === "," ? "csv" : "tsv", shape: null, columns, rows: rest.map((line, i) => ({ line: i + 2, values: columns.map((_, c) => line.split(mark)[c] ?? null) })), faults: [], roles: roles(columns) };
}

export function write_table(table: Table, container: Table["container"]): string {
  if (container === "jsonl") return table.rows.map((row) => `${JSON.stringify(Object.fromEntries(table.columns.map((column, i) => [column, row.values[i] ?? null])))}\n`).join("");
  if (container === "json") return JSON.stringify(table.rows.map((row) => Object.fromEntries(table.columns.map((column, i) => [column, row.values[i] ?? null]))));
  const mark = container === "tsv" ? "\t" : ",";
  return [table.columns, ...table.rows.map((row) => row.values)].map((values) => `${values.map((value) => (value === null ? "" : /["\n,\t]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(mark)}\n`).join("");
}

export function agreement(first: (number | null)[], second: (number | null)[], _groups: string[] | null, _seed: number): Agreement {
  const pairs = first.flatMap((a, i) => (a !== null && second[i] != null ? [[a, second[i]!] as const] : []));
  const estimate = (value: number): Estimate => (pairs.length > 2 ? { value, low: value - 0.2, high: value + 0.2 } : null);
  const error = pairs.reduce((sum, [a, b]) => sum + Math.abs(a - b), 0) / Math.max(1, pairs.length);
  return { n: pairs.length, left_out: first.length - pairs.length, pearson: estimate(0.5), spearman: estimate(0.45), kendall: estimate(0.3), mean_error: estimate(error), alpha: estimate(0.4) };
}

export function fit_readout(request: FitRequest): Readout {
  const n = request.examples.length;
  if (n < 4) throw new FakeError("too_few", `${n} examples are too few to fit anything to; rate at least 12.`);
  const d = request.examples[0]!.state.length;
  const labels = request.examples.map(({ label }) => label);
  return {
    format: "retort.readout/1", version: version(), layer: 15, width: d / 2, min: request.min, max: request.max, weights: [labels.reduce((a, b) => a + b, 0) / n, ...Array<number>(d).fill(0)],
    mean: Array<number>(d).fill(0), deviation: Array<number>(d).fill(1), lambda: 1, blend: 0.5, own: { slope: 1, intercept: 0 }, stretch: { slope: 1, intercept: 0 }, seed: request.seed, n,
    groups: new Set(request.examples.map(({ group }) => group)).size, before: agreement(labels, labels, null, 0), after: agreement(labels, labels, null, 0), helps: n >= 12,
    gain: { value: 0.1, low: 0.02, high: 0.2 }, warnings: n < 12 ? [`${n} examples are few; rate at least 12.`] : [],
  };
}

export function apply_readout(readout: Readout, _state: Float32Array, own: number | null): number {
  return Math.min(readout.max, Math.max(readout.min, (readout.weights[0]! + (own ?? readout.weights[0]!)) / 2));
}

function decide(item: ChecklistItem, response: string, index: number): ItemVerdict {
  const base = { item_id: item.id, question: item.question, origin: item.origin, skill: item.skill ?? null, weight: item.weight ?? 1, answer: item.answer ?? "yes_no" };
  if (item.constraint) {
    const most = Number(item.constraint["most"]);
    const words = [...response.matchAll(/\S+/g)];
    const beyond = words.slice(most).map((word) => ({ start: word.index, end: word.index + word[0].length }));
    return {
      ...base, by: "code",
      finding: { verdict: words.length <= most ? "met" : "not_met", count: words.length, sentence: `${words.length} words; at most ${most} were asked for`, evidence: beyond.length > 0 ? beyond : words.map((word) => ({ start: word.index, end: word.index + word[0].length })) },
    };
  }
  if (item.condition && index % 2 === 1) return { ...base, by: "model", verdict: { kind: "unscored", code: "not_applicable", message: `It does not hold that ${item.condition}.` } };
  const labels = item.answer === "one_to_five" ? ["1", "2", "3", "4", "5"] : ["no", "yes"];
  const rubric = { options: labels.map((label, i) => ({ label, value: labels.length === 5 ? i + 1 : i, description: null })) } as Rubric;
  return { ...base, by: "model", verdict: score(rubric, response.length + 3 * index, 0, false) };
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
      id: entry.id ?? entry.name.toLowerCase().replaceAll(" ", "_"), name: entry.name, ability: null, criterion: entry.criterion ?? "", question: entry.question ?? null,
      ...(entry.weight !== undefined && { weight: entry.weight }), ...(entry.not_applicable !== undefined && { not_applicable: entry.not_applicable }),
      options: entry.options ?? (entry as { option?: Rubric["options"] }).option ?? [1, 2, 3, 4, 5].map((value) => ({ label: String(value), value, description: null })),
    };
  });
}

export function write_rubrics(rubrics: Rubric[], format: "toml" | "json"): string {
  for (const rubric of rubrics) if (rubric.name.trim() === "") throw new FakeError("invalid_rubric", "a rubric has no name; give it one");
  return format === "json" ? `${JSON.stringify({ rubric: rubrics }, null, 1)}\n` : stringify({ rubric: rubrics.map((rubric) => Object.fromEntries(Object.entries(rubric).filter(([, value]) => value !== null))) });
}

export function overall_rubric(): Rubric {
  return {
    id: "overall", name: "Overall quality", ability: null, criterion: "How good is the response as a whole?", question: null,
    options: [1, 2, 3, 4, 5].map((value) => ({ label: String(value), value, description: `Level ${value}.` })),
  };
}

const id = (name: string) => name.toLowerCase().replaceAll(" ", "_");

export function vocabulary(): Vocabulary {
  const domain = (name: string, subdomains: string[], variant: "general" | "maths" | "coding" = "general") => ({ id: id(name), name, subdomains, variant });
  return {
    skills: SKILLS.map(([name, ability]) => ({ id: id(name) as SkillId, name, ability: ability! })),
    domains: [
      domain("Language", ["poetry", "literature"]), domain("Culture", ["art", "sports", "music", "food"]), domain("Natural Science", ["physics", "biology"]),
      domain("Math", ["statistics"], "maths"), domain("Coding", [], "coding"),
    ],
    difficulties: (["Simple lifestyle", "Advanced lifestyle", "Formal education", "Major level", "Expert level"]).map((name, i) => ({
      id: id(name) as Vocabulary["difficulties"][number]["id"], level: i + 1, name,
      definitions: { general: `${name}: general.`, maths: `${name}: maths.`, coding: `${name}: coding.` },
    })),
  };
}

export function annotate(instruction: string): Annotated {
  const evidence = [...instruction.matchAll(/sky|explain|name/gi)].map((found) => ({
    range: { start: found.index, end: found.index + found[0].length }, words: found[0], weight: 1,
    ...(/sky/i.test(found[0])
      ? { for: "domain" as const, what: { domain: "natural_science", subdomain: null }, reason: "is a word of nature" }
      : { for: "skill" as const, what: "completeness" as const, reason: "asks for an explanation" }),
  }));
  return {
    annotation: {
      skills: instruction.trim() === "" ? [] : ["comprehension", "completeness", "readability"],
      domains: /sky/i.test(instruction) ? [{ domain: "natural_science", subdomain: "physics" }] : [],
      difficulty: instruction.trim() === "" ? null : "formal_education", by: "code",
    },
    evidence, domain_scores: [], skill_scores: [], difficulty_estimate: 3,
  };
}

export function generate_checklist({ instruction, reference, skills, form }: ChecklistRequest): Checklist {
  const items: ChecklistItem[] = [];
  const sentences = instruction.split(/(?<=[.?!])\s+/).filter((one) => one.trim() !== "");
  if (form === "hard") {
    for (const skill of skills) items.push({ id: `hard-${skill}`, question: `How well does the response show ${skill.replaceAll("_", " ")} compared with the reference?`, origin: "skill", skill, answer: "one_to_five" });
    return { items };
  }
  for (const found of instruction.matchAll(/at most (\d+) words/gi)) {
    items.push({ id: `constraint-${items.length + 1}`, question: `Is the response at most ${found[1]} words long?`, origin: "constraint", constraint: { kind: "count", most: Number(found[1]) }, passage: found[0] });
  }
  for (const one of sentences) {
    const when = /^if ([^,]+), /i.exec(one);
    items.push({ id: `request-${items.length + 1}`, question: `Does the response do this: “${one.replaceAll("\n", " ")}”?`, origin: "request", passage: one, ...(when?.[1] && { condition: when[1] }) });
  }
  for (const one of reference?.split(/(?<=[.?!])\s+/) ?? []) items.push({ id: `reference-${items.length + 1}`, question: `Does the response say that ${one}`, origin: "reference", passage: one });
  for (const skill of skills) items.push({ id: `skill-${skill}`, question: `Does the response show ${skill.replaceAll("_", " ")}?`, origin: "skill", skill });
  return { items };
}

export function read_checklist(text: string, name: string): { checklist: Checklist; warnings: string[] } {
  try {
    const data = (text.trimStart().startsWith("{") ? JSON.parse(text) : parse(text)) as { item?: ChecklistItem[]; items?: ChecklistItem[] };
    const items = data.item ?? data.items;
    if (!items?.length) throw new Error("no item found");
    return { checklist: { items: items.map((item, i) => ({ ...item, id: item.id ?? `item-${i + 1}`, origin: item.origin ?? "person" })) }, warnings: [] };
  } catch (thrown) {
    throw new FakeError("bad_checklist", `${name}:${(thrown as { line?: number }).line ?? 1}:1: ${(thrown as Error).message.split("\n")[0]}`);
  }
}

export function write_checklist(checklist: Checklist, format: "toml" | "json"): string {
  for (const [i, item] of checklist.items.entries()) {
    if (item.weight !== undefined && !(Math.abs(item.weight) > 0)) throw new FakeError("bad_checklist", `items[${i}].weight: not a weight; give a number other than 0`);
  }
  return format === "json" ? JSON.stringify(checklist) : stringify({ item: checklist.items });
}

export function version(): string {
  return "0.1.0-fake";
}
