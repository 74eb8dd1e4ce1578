/// <reference lib="webworker" />
/**
 * The one worker that owns the model: it downloads, loads and judges, and reports in the messages of protocol.ts.
 *
 * Loads are run one after the other, and an engine is freed only after the judgement that uses it has ended.
 */
import init, {
  Cancel, Engine, Sha256, annotate, builtin_rubrics, generate_checklist, overall_rubric, read_checklist, read_rubrics, version, vocabulary,
  write_checklist,
} from "retort-engine";
import { hasRelaxedSimd } from "retort-engine/variant";
import wasmUrl from "retort-engine/wasm";
import relaxedUrl from "retort-engine/wasm-relaxed";
import { Refusals } from "../refusals";
import { text } from "../text";
import type { BackendChoice, JudgeRequest, TokenProgress, WriteEvent } from "../types";
import { RetortError, toFailure } from "./failure";
import type { Call, CallName, Calls, FromWorker, LoadStage, ModelCall, ModelSource, Origin, Preset, ToWorker } from "./protocol";
import { readRegistry } from "./registry";
import { BlobSource, type OwnedSource } from "./sources";
import { forgetModels, openPreset } from "./store";

declare const self: DedicatedWorkerGlobalScope;

/** Shared by every tab that has a model in memory, so that a tab can tell that it is not alone. */
const LOADED_LOCK = "retort-model-loaded";
/** Progress is posted at most this often; the page announces and draws no faster. */
const PROGRESS_EVERY_MS = 60;

const post = (message: FromWorker) => self.postMessage(message);

interface Loaded {
  engine: Engine;
  sources: OwnedSource[];
  release_lock: () => void;
}

let registryUrl = "";
/** Whether the engine's module could be started; nothing else is tried where it could not. */
let started: Promise<boolean> = Promise.resolve(false);
let presets: Promise<Preset[]> | null = null;
let loaded: Loaded | null = null;
let loading: { abort: AbortController; cancel: Cancel; done: Promise<void> } | null = null;
let judging: { run_id: number; cancel: Cancel; done: Promise<void> } | null = null;
/** A question to the model besides judging. */
let asking: { call_id: number; cancel: Cancel } | null = null;
/** Cancelled before their turn came. */
const unasked = new Set<number>();

countRequests();

self.addEventListener("message", (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  switch (message.type) {
    case "start":
      registryUrl = message.registry_url;
      started = start();
      break;
    case "load":
      void load(message.load_id, message.source, message.backend, message.tuning);
      break;
    case "cancel_load":
      cancelLoad();
      break;
    case "set_adapter":
      void setAdapter(message.adapter_id, message.file);
      break;
    case "judge":
      void judge(message.run_id, message.request);
      break;
    case "cancel_judge":
      if (judging?.run_id === message.run_id) judging.cancel.cancel();
      break;
    case "call":
      void answer(message.call_id, message.call);
      break;
    case "cancel_call":
      if (asking?.call_id === message.call_id) asking.cancel.cancel();
      else unasked.add(message.call_id);
      break;
    case "forget_models":
      void forget();
      break;
    case "ping":
      post({ type: "pong" });
      break;
  }
});

async function start(): Promise<boolean> {
  try {
    await init({ module_or_path: new URL(hasRelaxedSimd() ? relaxedUrl : wasmUrl, self.location.href) });
    post({ type: "ready", version: version(), rubrics: builtin_rubrics(), overall: overall_rubric(), vocabulary: vocabulary() });
    return true;
  } catch (thrown) {
    post({ type: "start_failed", error: { code: "engine_missing", message: toFailure(thrown).message } });
    return false;
  }
}

/** The page cannot see a worker's requests in its own timeline, so the worker counts and reports them. */
function countRequests(): void {
  let own = 0;
  let other = 0;
  const refusals = new Refusals();
  const report = () => post({ type: "requests", own, other, refused: refusals.count });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (new URL(entry.name).origin === self.location.origin) own += 1;
      else other += 1;
    }
    report();
  }).observe({ type: "resource", buffered: true });
  self.addEventListener("securitypolicyviolation", (event) => {
    refusals.add((event as SecurityPolicyViolationEvent).originalPolicy);
    report();
  });
}

function cancelLoad(): void {
  loading?.abort.abort();
  loading?.cancel.cancel();
}

async function load(load_id: number, source: ModelSource, backend: BackendChoice, tuning?: string): Promise<void> {
  if (!(await started)) return;
  cancelLoad();
  const before = loading?.done;
  const abort = new AbortController();
  const cancel = new Cancel();
  const done = (async () => {
    await before;
    try {
      await unload();
      abort.signal.throwIfAborted();
      await loadNow(load_id, source, backend, tuning, abort.signal, cancel);
    } catch (thrown) {
      post({ type: "load_failed", load_id, error: toFailure(thrown) });
    } finally {
      cancel.free();
    }
  })();
  const mine = { abort, cancel, done };
  loading = mine;
  await done;
  if (loading === mine) loading = null;
}

/** A file that is read from cannot be deleted, so the model goes first. */
async function forget(): Promise<void> {
  cancelLoad();
  await loading?.done;
  await unload();
  post({ type: "models_forgotten", bytes: await forgetModels().catch(() => 0) });
}

async function unload(): Promise<void> {
  judging?.cancel.cancel();
  asking?.cancel.cancel();
  await judging?.done;
  await changing;
  loaded?.engine.free();
  for (const source of loaded?.sources ?? []) source.close();
  loaded?.release_lock();
  loaded = null;
}

async function loadNow(
  load_id: number,
  wanted: ModelSource,
  backend: BackendChoice,
  tuning: string | undefined,
  signal: AbortSignal,
  cancel: Cancel,
): Promise<void> {
  let name = wanted.kind === "file" ? wanted.files[0].name : (wanted.name ?? "");
  let title = name;
  let last = 0;
  let lastStage = "";
  const on_progress = (stage: LoadStage, loaded_bytes: number, total_bytes: number) => {
    const now = performance.now();
    if (stage === lastStage && loaded_bytes < total_bytes && now - last < PROGRESS_EVERY_MS) return;
    last = now;
    lastStage = stage;
    post({ type: "load_progress", load_id, name: title, stage, loaded_bytes, total_bytes });
  };

  let sources: OwnedSource[];
  let origin: Origin;
  let sha256: string | undefined;
  if (wanted.kind === "file") {
    sources = wanted.files.map((file) => new BlobSource(file, file.name));
    origin = "local";
  } else {
    const preset = await findPreset(wanted.name);
    name = preset.name;
    title = preset.title;
    sha256 = preset.sha256;
    on_progress("download", 0, preset.bytes);
    const opened = await openPreset({
      url: ownUrl(preset.url),
      preset,
      signal,
      new_hash: () => new Sha256(),
      on_progress,
      on_waiting: () => post({ type: "load_waiting", load_id }),
    });
    sources = [opened.source];
    origin = opened.origin;
  }

  try {
    signal.throwIfAborted();
    const other_tab = await anotherTabHasAModel();
    const engine = await Engine.load(
      sources,
      { backend, name, ...(sha256 !== undefined && { sha256 }), ...(tuning !== undefined && { tuning }) },
      (progress) => on_progress(progress.stage, progress.loaded_bytes, progress.total_bytes),
      cancel,
    );
    if (signal.aborted) {
      engine.free();
      signal.throwIfAborted();
    }
    loaded = { engine, sources, release_lock: holdLoadedLock() };
    post({ type: "loaded", load_id, info: engine.info(), origin, other_tab });
  } catch (thrown) {
    for (const source of sources) source.close();
    throw thrown;
  }
}

async function findPreset(name: string | null): Promise<Preset> {
  presets ??= fetchPresets();
  let all: Preset[];
  try {
    all = await presets;
  } catch (thrown) {
    presets = null;
    throw thrown;
  }
  post({ type: "presets", presets: all });
  const found = name === null ? (all.find((preset) => preset.default) ?? all[0]) : all.find((preset) => preset.name === name);
  if (!found) {
    throw new RetortError("no_preset", text.failure.noPreset(name));
  }
  return found;
}

async function fetchPresets(): Promise<Preset[]> {
  let response: Response;
  try {
    response = await fetch(registryUrl, { cache: "no-cache" });
  } catch (thrown) {
    throw new RetortError("no_registry", text.failure.noRegistry(toFailure(thrown).message));
  }
  if (!response.ok) throw new RetortError("no_registry", text.failure.noRegistry(text.failure.answered(response.status)));
  return readRegistry(await response.text());
}

/** Addresses in the registry are relative to it; one on another origin is refused before the policy refuses it. */
function ownUrl(url: string): string {
  const resolved = new URL(url, registryUrl);
  if (resolved.origin !== self.location.origin) {
    throw new RetortError("other_origin", text.failure.otherOrigin(resolved.origin));
  }
  return resolved.href;
}

async function anotherTabHasAModel(): Promise<boolean> {
  try {
    const { held } = await navigator.locks.query();
    return held?.some((lock) => lock.name === LOADED_LOCK) ?? false;
  } catch {
    return false;
  }
}

function holdLoadedLock(): () => void {
  let release = () => {};
  const until = new Promise<void>((resolve) => (release = resolve));
  void navigator.locks?.request(LOADED_LOCK, { mode: "shared" }, () => until).catch(() => {});
  return release;
}

/** The engine is busy while it judges or changes its adapter; whoever comes next waits. */
let changing: Promise<void> = Promise.resolve();

async function setAdapter(adapter_id: number, file: File | null): Promise<void> {
  const before = changing;
  changing = (async () => {
    await before;
    await judging?.done;
    if (!loaded) {
      post({ type: "adapter_failed", adapter_id, error: { code: "not_ready", message: text.failure.notReady } });
      return;
    }
    const { engine } = loaded;
    try {
      if (file === null) {
        await engine.set_adapter(null);
      } else {
        const source = new BlobSource(file, file.name);
        await engine.set_adapter(source, { name: file.name, sha256: hashOf(source) });
      }
      post({ type: "adapter_set", adapter_id, adapter: engine.info().adapter });
    } catch (thrown) {
      post({ type: "adapter_failed", adapter_id, error: toFailure(thrown) });
    }
  })();
  await changing;
}

async function answer(call_id: number, call: Call): Promise<void> {
  try {
    if (!(await started)) throw new RetortError("engine_missing", text.failure.notStarted);
    const get = call.name === "ask_annotation" || call.name === "ask_items" ? await ask(call_id, call) : answerNow(call);
    post({ type: "answered", call_id, get });
  } catch (thrown) {
    post({ type: "call_failed", call_id, error: toFailure(thrown) });
  }
}

function answerNow(call: Exclude<Call, ModelCall>): Calls[CallName]["get"] {
  switch (call.name) {
    case "read_rubrics":
      return read_rubrics(call.give.text, call.give.name);
    case "annotate":
      return annotate(call.give.instruction);
    case "generate_checklist":
      return generate_checklist(call.give);
    case "read_checklist":
      return read_checklist(call.give.text, call.give.name);
    case "write_checklist":
      return write_checklist(call.give.checklist, call.give.format);
  }
}

/** Waits until the model is free, then asks it. */
function ask(call_id: number, call: ModelCall): Promise<Calls[ModelCall["name"]]["get"]> {
  const before = changing;
  const answered = (async () => {
    await before;
    await judging?.done;
    if (unasked.delete(call_id)) throw new RetortError("cancelled", text.failure.cancelled);
    if (!loaded) throw new RetortError("not_ready", text.failure.notReady);
    const cancel = new Cancel();
    asking = { call_id, cancel };
    const progress = (done: number, total: number) => post({ type: "call_progress", call_id, done, total });
    try {
      return call.name === "ask_annotation"
        ? await loaded.engine.annotate(call.give, ({ done_tokens, total_tokens }: TokenProgress) => progress(done_tokens, total_tokens), cancel)
        : await loaded.engine.write_items(call.give, (event: WriteEvent) => event.kind === "progress" && progress(event.done, event.total), cancel);
    } finally {
      asking = null;
      cancel.free();
    }
  })();
  changing = answered.then(() => undefined, () => undefined);
  return answered;
}

/** An adapter has some megabytes, so that this takes a moment. */
function hashOf(source: OwnedSource): string {
  const hash = new Sha256();
  const piece = new Uint8Array(1 << 20);
  try {
    for (let at = 0; at < source.size; at += piece.byteLength) {
      const part = piece.subarray(0, Math.min(piece.byteLength, source.size - at));
      source.read(at, part);
      hash.update(part);
    }
    return hash.finish_hex();
  } finally {
    hash.free();
  }
}

async function judge(run_id: number, request: JudgeRequest): Promise<void> {
  await changing;
  if (!loaded || judging) {
    post({ type: "judge_failed", run_id, error: { code: "not_ready", message: text.failure.notReady } });
    return;
  }
  const { engine } = loaded;
  const cancel = new Cancel();
  const done = (async () => {
    try {
      const record = await engine.judge(request, (event) => post({ type: "judge_event", run_id, event }), cancel);
      post({ type: "judged", run_id, record });
    } catch (thrown) {
      post({ type: "judge_failed", run_id, error: toFailure(thrown) });
    }
  })();
  judging = { run_id, cancel, done };
  await done;
  judging = null;
  cancel.free();
}
