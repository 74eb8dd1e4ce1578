/// <reference lib="webworker" />
/**
 * The one worker that owns the model: it downloads, loads and judges, and reports in the messages of protocol.ts.
 *
 * Loads are run one after the other, and an engine is freed only after the judgement that uses it has ended.
 */
import init, {
  Cancel, Engine, Sha256, agreement, annotate, apply_readout, builtin_rubrics, fit_readout, generate_checklist, overall_rubric, read_checklist,
  read_rubrics, read_table, version, vocabulary, write_checklist, write_rubrics,
  write_table,
} from "retort-engine";
import { hasRelaxedSimd } from "retort-engine/variant";
import wasmUrl from "retort-engine/wasm";
import relaxedUrl from "retort-engine/wasm-relaxed";
import { isKept } from "../kept";
import { Refusals } from "../refusals";
import { text } from "../text";
import type { JudgeRequest, TokenProgress, WriteEvent } from "../types";
import { RetortError, toFailure } from "./failure";
import { isModelCall } from "./protocol";
import type { AdapterChoice, Call, CallName, Calls, Failure, FromWorker, LoadStage, ModelCall, Offered, Origin, Preset, ToWorker } from "./protocol";
import type { Profile } from "./names";
import { readRegistry } from "./registry";
import { BlobSource, type OwnedSource } from "./sources";
import { deleteStored, discard, forgetModels, listStored, openPreset, openStored } from "./store";

declare const self: DedicatedWorkerGlobalScope;

/** Shared by every tab that has a model in memory, so that a tab can tell that it is not alone. */
const LOADED_LOCK = "retort-model-loaded";
/** Progress is posted at most this often; the page announces and draws no faster. */
const PROGRESS_EVERY_MS = 60;

const post = (message: FromWorker) => self.postMessage(message);

interface Loaded {
  engine: Engine;
  sources: OwnedSource[];
  /** Of the stored file that it is read from; null for a file of the person's own. */
  sha256: string | null;
  /** What the server offers for it; nothing for a file of the person's own. */
  adapters: Offered[];
  release_lock: () => void;
}

let registryUrl = "";
/** Whether the engine's module could be started; nothing else is tried where it could not. */
let started: Promise<boolean> = Promise.resolve(false);
let presets: Promise<Preset[]> | null = null;
let loaded: Loaded | null = null;
let loading: { abort: AbortController; cancel: Cancel; done: Promise<void>; sha256: string | null } | null = null;
let judging: { run_id: number; cancel: Cancel } | null = null;
/** A question to the model besides judging by rubrics. */
let asking: { call_id: number; cancel: Cancel } | null = null;
/** Runs and calls that were cancelled before their turn came; both take their numbers from one count. */
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
      void load(message);
      break;
    case "cancel_load":
      cancelLoad();
      break;
    case "set_adapter":
      void setAdapter(message.adapter_id, message.adapter);
      break;
    case "judge":
      void judge(message.run_id, message.request);
      break;
    case "cancel_judge":
      if (judging?.run_id === message.run_id) judging.cancel.cancel();
      else unasked.add(message.run_id);
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
    case "list_stored":
      void tellStored(null, null);
      break;
    case "delete_stored":
      void deleteOne(message.sha256);
      break;
    case "ping":
      post({ type: "pong" });
      break;
  }
});

async function start(): Promise<boolean> {
  try {
    await init({ module_or_path: new URL(hasRelaxedSimd() ? relaxedUrl : wasmUrl, import.meta.url) });
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
      // data: and blob: addresses are made in the page and go nowhere.
      if (!/^https?:/.test(entry.name) || isKept(entry)) continue;
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

type Load = Extract<ToWorker, { type: "load" }>;

async function load(wanted: Load): Promise<void> {
  if (!(await started)) return;
  cancelLoad();
  const before = loading?.done;
  const abort = new AbortController();
  const cancel = new Cancel();
  const done = (async () => {
    await before;
    const step: Step = { place: "model" };
    try {
      await unload();
      abort.signal.throwIfAborted();
      await loadNow(wanted, step, abort.signal, cancel);
    } catch (thrown) {
      post({ type: "load_failed", load_id: wanted.load_id, place: step.place, error: toFailure(thrown) });
    } finally {
      cancel.free();
    }
  })();
  const mine = { abort, cancel, done, sha256: wanted.source.kind === "stored" ? wanted.source.sha256 : null };
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

async function tellStored(freed: number | null, error: Failure | null): Promise<void> {
  post({ type: "stored", files: await listStored().catch(() => []), freed, error });
}

/** The model that is read from the file goes first; a load is cancelled only if it reads that file. */
async function deleteOne(sha256: string): Promise<void> {
  try {
    if (loading?.sha256 === sha256) {
      cancelLoad();
      await loading.done;
    }
    if (loaded?.sha256 === sha256) {
      await unload();
      post({ type: "unloaded" });
    }
    await tellStored(await deleteStored(sha256), null);
  } catch (thrown) {
    await tellStored(null, toFailure(thrown));
  }
}

/** While the model goes, whoever still waits for it is told so rather than served. */
let unloading = false;

async function unload(): Promise<void> {
  judging?.cancel.cancel();
  asking?.cancel.cancel();
  unloading = true;
  await changing;
  unloading = false;
  loaded?.engine.free();
  for (const source of loaded?.sources ?? []) source.close();
  loaded?.release_lock();
  loaded = null;
}

/** What is being loaded at the moment, so that a failure can be told of the right thing. */
interface Step {
  place: "model" | "adapter";
}

async function loadNow(
  { load_id, source: wanted, backend, adapter: choice, tuning }: Load,
  step: Step,
  signal: AbortSignal,
  cancel: Cancel,
): Promise<void> {
  let name = wanted.kind === "file" ? wanted.files[0].name : wanted.kind === "preset" ? (wanted.name ?? "") : "";
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

  const on_waiting = () => post({ type: "load_waiting", load_id });
  const preset = wanted.kind === "preset" ? await findPreset(wanted.name) : wanted.kind === "stored" ? await offeredAs(wanted.sha256) : null;
  const adapters = preset?.adapters ?? [];
  // First, because it is small: if it cannot be had, nobody waits for a large model only to hear that.
  const offered = chosen(adapters, choice);
  step.place = "adapter";
  if (offered) title = offered.title;
  const adapter = await openAdapter(offered, choice, {
    signal,
    on_progress: (loaded_bytes, total_bytes) => on_progress("adapter", loaded_bytes, total_bytes),
    on_waiting,
  });
  step.place = "model";

  let sources: OwnedSource[];
  let origin: Origin;
  let sha256: string | undefined;
  let profile: Profile | null = null;
  if (wanted.kind === "file") {
    sources = wanted.files.map((file) => new BlobSource(file, file.name));
    origin = "local";
  } else if (wanted.kind === "stored") {
    const { source, marker } = await openStored(wanted.sha256, { signal, new_hash: () => new Sha256(), on_progress });
    name = marker.name ?? preset?.name ?? text.failure.unnamed(wanted.sha256.slice(0, 12));
    title = marker.title ?? preset?.title ?? name;
    sha256 = wanted.sha256;
    profile = marker.profile ?? null;
    sources = [source];
    origin = "cached";
  } else {
    // Typescript does not see that a preset was found; a model that is not offered has thrown above.
    if (!preset) throw new RetortError("no_preset", text.failure.noPreset(wanted.name));
    name = preset.name;
    title = preset.title;
    sha256 = preset.sha256;
    on_progress("download", 0, preset.bytes);
    const opened = await openPreset({
      url: ownUrl(preset.url),
      preset,
      kind: "model",
      in_memory: true,
      signal,
      new_hash: () => new Sha256(),
      on_progress,
      on_waiting,
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
    try {
      step.place = "adapter";
      if (adapter) await engine.set_adapter(adapter.source, { name: adapter.name, sha256: adapter.sha256 });
    } catch (thrown) {
      engine.free();
      throw thrown;
    }
    loaded = { engine, sources, sha256: sha256 ?? null, adapters, release_lock: holdLoadedLock() };
    post({ type: "loaded", load_id, info: engine.info(), origin, other_tab, profile });
  } catch (thrown) {
    for (const source of sources) source.close();
    throw thrown;
  } finally {
    adapter?.source.close();
  }
}

/** The offered adapter that a choice means; null for none and for a file. */
function chosen(adapters: Offered[], choice: AdapterChoice): Offered | null {
  if (choice.kind !== "preset") return null;
  return adapters.find((adapter) => adapter.name === choice.name) ?? adapters.find((adapter) => adapter.default) ?? null;
}

interface OpenAdapter {
  source: OwnedSource;
  name: string;
  sha256: string;
}

interface Following {
  signal: AbortSignal;
  on_progress: (loaded_bytes: number, total_bytes: number) => void;
  on_waiting: () => void;
}

/** Opens an adapter, whose every byte is hashed before it is used. */
async function openAdapter(offered: Offered | null, choice: AdapterChoice, following: Following): Promise<OpenAdapter | null> {
  if (!offered) {
    if (choice.kind !== "file") return null;
    const source = new BlobSource(choice.file, choice.file.name);
    return { source, name: choice.file.name, sha256: hashOf(source) };
  }
  const { name, sha256 } = offered;
  const open = () =>
    openPreset({
      url: ownUrl(offered.url),
      preset: offered,
      kind: "adapter",
      in_memory: true,
      signal: following.signal,
      new_hash: () => new Sha256(),
      on_progress: (_stage, loaded_bytes, total_bytes) => following.on_progress(loaded_bytes, total_bytes),
      on_waiting: following.on_waiting,
    });
  following.on_progress(0, offered.bytes);
  let opened = await open();
  if (opened.origin === "cached" && hashOf(opened.source) !== sha256) {
    opened.source.close();
    await discard(sha256);
    opened = await open();
  }
  return { source: opened.source, name, sha256 };
}

/** What the server offers under this hash, if it can be asked: a stored model gets the adapters that were made for it. */
async function offeredAs(sha256: string): Promise<Preset | null> {
  try {
    await findPreset(null);
    return (await presets)?.find((preset) => preset.sha256 === sha256) ?? null;
  } catch {
    return null;
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

async function setAdapter(adapter_id: number, choice: AdapterChoice): Promise<void> {
  const before = changing;
  changing = (async () => {
    await before;
    if (!loaded || unloading) {
      post({ type: "adapter_failed", adapter_id, error: { code: "not_ready", message: text.failure.notReady } });
      return;
    }
    const { engine, adapters } = loaded;
    let last = 0;
    try {
      const adapter = await openAdapter(chosen(adapters, choice), choice, {
        signal: new AbortController().signal,
        on_progress: (loaded_bytes, total_bytes) => {
          const now = performance.now();
          if (loaded_bytes < total_bytes && now - last < PROGRESS_EVERY_MS) return;
          last = now;
          post({ type: "adapter_progress", adapter_id, loaded_bytes, total_bytes });
        },
        on_waiting: () => {},
      });
      try {
        if (adapter) await engine.set_adapter(adapter.source, { name: adapter.name, sha256: adapter.sha256 });
        else await engine.set_adapter(null);
      } finally {
        adapter?.source.close();
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
    const get = isModelCall(call) ? await ask(call_id, call) : answerNow(call);
    post({ type: "answered", call_id, get });
  } catch (thrown) {
    post({ type: "call_failed", call_id, error: toFailure(thrown) });
  }
}

function answerNow(call: Exclude<Call, ModelCall>): Calls[CallName]["get"] {
  switch (call.name) {
    case "read_rubrics":
      return read_rubrics(call.give.text, call.give.name);
    case "write_rubrics":
      return write_rubrics(call.give.rubrics, call.give.format);
    case "annotate":
      return annotate(call.give.instruction);
    case "generate_checklist":
      return generate_checklist(call.give);
    case "read_checklist":
      return read_checklist(call.give.text, call.give.name);
    case "write_checklist":
      return write_checklist(call.give.checklist, call.give.format);
    case "read_table":
      return read_table(call.give.bytes, call.give.name);
    case "write_table":
      return write_table(call.give.table, call.give.container);
    case "agreement":
      return agreement(call.give.first, call.give.second, call.give.groups, call.give.seed);
    case "fit_readout":
      return fit_readout(call.give);
    case "apply_readout":
      return apply_readout(call.give.readout, call.give.state, call.give.own);
  }
}

/** Waits until the model is free, then asks it. */
function ask(call_id: number, call: ModelCall): Promise<Calls[ModelCall["name"]]["get"]> {
  const before = changing;
  const answered = (async () => {
    await before;
    if (unasked.delete(call_id)) throw new RetortError("cancelled", text.failure.cancelled);
    if (!loaded || unloading) throw new RetortError("not_ready", text.failure.notReady);
    const cancel = new Cancel();
    asking = { call_id, cancel };
    const progress = (done: number, total: number) => post({ type: "call_progress", call_id, done, total });
    try {
      const on_tokens = ({ done_tokens, total_tokens }: TokenProgress) => progress(done_tokens, total_tokens);
      switch (call.name) {
        case "ask_annotation":
          return await loaded.engine.annotate(call.give, on_tokens, cancel);
        case "ask_items":
          return await loaded.engine.write_items(call.give, (event: WriteEvent) => event.kind === "progress" && progress(event.done, event.total), cancel);
        case "compare":
          return await loaded.engine.compare(call.give, on_tokens, cancel);
        case "read_ahead":
          return await loaded.engine.read_ahead(call.give, cancel);
        case "reward":
          return await loaded.engine.reward(call.give, on_tokens, cancel);
        case "states":
          return await loaded.engine.states(call.give, cancel);
      }
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

/** Judgements wait for each other, and for whatever else uses the model. */
async function judge(run_id: number, request: JudgeRequest): Promise<void> {
  const before = changing;
  const done = (async () => {
    await before;
    if (unasked.delete(run_id)) {
      post({ type: "judge_failed", run_id, error: { code: "cancelled", message: text.failure.cancelled } });
      return;
    }
    if (!loaded || unloading) {
      post({ type: "judge_failed", run_id, error: { code: "not_ready", message: text.failure.notReady } });
      return;
    }
    const cancel = new Cancel();
    judging = { run_id, cancel };
    try {
      const record = await loaded.engine.judge(request, (event) => post({ type: "judge_event", run_id, event }), cancel);
      post({ type: "judged", run_id, record });
    } catch (thrown) {
      post({ type: "judge_failed", run_id, error: toFailure(thrown) });
    } finally {
      judging = null;
      cancel.free();
    }
  })();
  changing = done;
  await done;
}
