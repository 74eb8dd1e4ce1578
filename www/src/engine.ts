/** The page's side of the worker: starts it, talks to it, and notices when it dies. */
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { isForm, profileOf } from "./profile";
import { INITIAL, reduce, stillOf, type Action, type State, type Still } from "./state";
import { text } from "./text";
import type { BackendChoice, JudgeEvent, JudgeRecord, JudgeRequest } from "./types";
import { startWorker } from "./worker/start";
import type { Profile } from "./worker/names";
import { isModelCall, type AdapterChoice, type Call, type CallName, type Calls, type Failure, type FromWorker, type ModelSource, type ToWorker } from "./worker/protocol";
import workerUrl from "./worker/worker.ts?worker&url";

const PING_EVERY_MS = 10_000;
/** So many questions in a row without an answer are told to the person: a minute in a visible tab (P35). */
const STALLED_AFTER_PINGS = 6;

const TUNING_KEY = "retort.gpu-tuning";

/** What was measured on this browser's GPU, so that the next start need not measure again. Storage may be denied. */
function recallTuning(): string | undefined {
  try {
    return localStorage.getItem(TUNING_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

function keepTuning(tuning: string): void {
  try {
    localStorage.setItem(TUNING_KEY, tuning);
  } catch {
    // The next start measures again.
  }
}

const ADAPTER_KEY = "retort.adapter";
const NO_ADAPTER = "none";

/** Why a model with a head of its own cannot judge by rubrics. */
const ONLY_HEAD: Failure = { code: "only_head", message: text.failure.onlyHead };

/** The adapter that was chosen last on this browser: an offered one or none. A file of one's own cannot be kept. */
function recallAdapter(): AdapterChoice {
  let name: string | null = null;
  try {
    name = localStorage.getItem(ADAPTER_KEY);
  } catch {
    // Storage is denied: the model's own default.
  }
  return name === NO_ADAPTER ? { kind: "none" } : { kind: "preset", name };
}

function keepAdapter(choice: AdapterChoice): void {
  if (choice.kind === "file") return;
  const name = choice.kind === "none" ? NO_ADAPTER : choice.name;
  try {
    if (name === null) localStorage.removeItem(ADAPTER_KEY);
    else localStorage.setItem(ADAPTER_KEY, name);
  } catch {
    // The next visit begins with the default again.
  }
}

/** A judgement beside the one that the page shows: of a batch, a lesson, a comparison. */
interface Apart {
  resolve: (record: JudgeRecord) => void;
  reject: (failure: Failure) => void;
  on_event: ((event: JudgeEvent) => void) | undefined;
}

interface PendingCall {
  resolve: (get: Calls[CallName]["get"]) => void;
  reject: (failure: Failure) => void;
  on_progress: ((done: number, total: number) => void) | undefined;
}

/** A call on its way. */
export interface Asked<Name extends CallName> {
  /** Rejects with a `Failure`. */
  answer: Promise<Calls[Name]["get"]>;
  cancel: () => void;
}

export class EngineClient {
  readonly state: Signal<State> = signal(INITIAL);
  #still: Still | null = null;
  /** For what shows nothing of a run: a judgement sends a message for each of its steps. */
  readonly still: ReadonlySignal<Still> = computed(() => (this.#still = stillOf(this.state.value, this.#still)));
  #worker: Worker | null = null;
  #next_id = 1;
  /** Whether the model has read what may be asked next. */
  readonly ahead = signal<"none" | "reading" | "read">("none");
  #pending: JudgeRequest | null = null;
  #ahead: Asked<"read_ahead"> | null = null;
  #calls = new Map<number, PendingCall>();
  #apart = new Map<number, Apart>();
  #unanswered = 0;

  constructor(private readonly registry_url: string) {
    this.state.value = { ...INITIAL, choice: recallAdapter() };
    setInterval(() => this.#watch(), PING_EVERY_MS);
  }

  /** Starts the worker and loads what the state names as the source. */
  start(): void {
    this.#worker?.terminate();
    this.#rejectCalls({ code: "worker_died", message: text.error.workerDied });
    const worker = startWorker(workerUrl, "retort-engine");
    this.#worker = worker;
    this.#unanswered = 0;
    worker.addEventListener("message", (event: MessageEvent<FromWorker>) => this.#receive(event.data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#died(worker, event.message ? `${text.error.workerDied} (${event.message})` : text.error.workerDied);
    });
    worker.addEventListener("messageerror", () => this.#died(worker, text.error.notWorker));
    this.#send({ type: "start", registry_url: this.registry_url });
    const { source, backend } = this.state.value;
    this.load(source, backend);
  }

  restart(): void {
    this.#pending = null;
    this.#dispatch({ type: "worker_restarted" });
    this.start();
  }

  load(source: ModelSource, backend: BackendChoice, adapter: AdapterChoice = this.#adapterFor(source)): void {
    const load_id = this.#next_id++;
    this.stopReading();
    if (!this.#worker) return this.restartWith(source, backend);
    this.#dispatch({ type: "load_requested", load_id, source, backend, adapter });
    this.#send({ type: "load", load_id, source, backend, adapter, tuning: recallTuning() });
  }

  /** An adapter file is for one model: with another one goes what was chosen before. */
  #adapterFor(source: ModelSource): AdapterChoice {
    const { choice, source: before } = this.state.value;
    return choice.kind === "file" && source !== before ? recallAdapter() : choice;
  }

  cancelLoad(): void {
    this.#send({ type: "cancel_load" });
  }

  /**
   * Changes the adapter of the loaded model; where none is loaded, because its adapter could not be had, loads the model
   * with this one.
   */
  setAdapter(adapter: AdapterChoice): void {
    const { model, source, backend } = this.state.value;
    if (model.phase !== "ready") return this.load(source, backend, adapter);
    this.stopReading();
    const adapter_id = this.#next_id++;
    this.#dispatch({ type: "adapter_requested", adapter_id, adapter });
    this.#send({ type: "set_adapter", adapter_id, adapter });
  }

  /**
   * Lets the model read what may soon be asked, so that its scores come sooner. Whatever else is asked of the model stops it first, and
   * what was read until then stays read.
   */
  readAhead(request: JudgeRequest): void {
    this.stopReading();
    const { model, run, queued } = this.state.value;
    if (model.phase !== "ready" || run?.phase === "running" || queued || this.#apart.size > 0 || profileOf(this.state.value) !== "options") return;
    const asked = this.call("read_ahead", request);
    this.#ahead = asked;
    this.ahead.value = "reading";
    const end = (how: "none" | "read") => {
      if (this.#ahead !== asked) return;
      this.#ahead = null;
      this.ahead.value = how;
    };
    // What stands in its way is said when the request itself is made.
    asked.answer.then(() => end("read"), () => end("none"));
  }

  stopReading(): void {
    this.#ahead?.cancel();
    this.#ahead = null;
    this.ahead.value = "none";
  }

  /** Judges at once, or as soon as the model that is being loaded is ready. */
  judge(request: JudgeRequest): void {
    this.stopReading();
    if (this.state.value.model.phase !== "ready") {
      this.#pending = request;
      this.#dispatch({ type: "queue_changed", queued: true });
      return;
    }
    const run_id = this.#next_id++;
    this.#dispatch({ type: "judge_requested", run_id, request });
    // A judgement may have been asked for before it was known what is being loaded.
    if (profileOf(this.state.value) === "head") return this.#dispatch({ type: "judge_failed", run_id, error: ONLY_HEAD });
    this.#send({ type: "judge", run_id, request: this.#asked(request) });
  }

  /** How the loaded model is asked from now on, whatever is known of it. */
  askBy(profile: Profile): void {
    this.#dispatch({ type: "profile_chosen", profile });
  }

  /** A judge that writes is asked to, wherever the request comes from. */
  #asked(request: JudgeRequest): JudgeRequest {
    const profile = profileOf(this.state.value);
    return isForm(profile) ? { ...request, form: profile } : request;
  }

  unqueue(): void {
    this.#pending = null;
    this.#dispatch({ type: "queue_changed", queued: false });
  }

  cancelJudge(): void {
    const { run } = this.state.value;
    if (run?.phase !== "running") return;
    this.#dispatch({ type: "cancel_requested" });
    this.#send({ type: "cancel_judge", run_id: run.run_id });
  }

  /**
   * Judges without showing it in the page's own results; it waits its turn behind whatever uses the model. A judgement that
   * was cancelled in its midst resolves, and its record says so; one that was cancelled before rejects with the code "cancelled".
   */
  judgeApart(request: JudgeRequest, { signal, on_event }: { signal?: AbortSignal; on_event?: (event: JudgeEvent) => void } = {}): Promise<JudgeRecord> {
    this.stopReading();
    if (signal?.aborted) return Promise.reject<JudgeRecord>({ code: "cancelled", message: text.failure.cancelled } satisfies Failure);
    if (this.state.value.model.phase !== "ready") {
      return Promise.reject<JudgeRecord>({ code: "not_ready", message: text.failure.notReady } satisfies Failure);
    }
    if (profileOf(this.state.value) === "head") {
      return Promise.reject<JudgeRecord>(ONLY_HEAD);
    }
    const run_id = this.#next_id++;
    const cancel = () => this.#send({ type: "cancel_judge", run_id });
    signal?.addEventListener("abort", cancel);
    const judged = new Promise<JudgeRecord>((resolve, reject) => {
      this.#apart.set(run_id, { resolve, reject, on_event });
      this.#send({ type: "judge", run_id, request: this.#asked(request) });
    });
    return judged.finally(() => signal?.removeEventListener("abort", cancel));
  }

  /** Asks the engine something; only what needs the model takes noticeable time. */
  call<Name extends CallName>(name: Name, give: Calls[Name]["give"], on_progress?: (done: number, total: number) => void): Asked<Name> {
    if (name !== "read_ahead" && isModelCall({ name, give } as Call)) this.stopReading();
    const call_id = this.#next_id++;
    const cancel = () => {
      if (this.#calls.has(call_id)) this.#send({ type: "cancel_call", call_id });
    };
    if (!this.#worker) {
      const failure: Failure = { code: "worker_died", message: text.advice["worker_died"]! };
      return { answer: Promise.reject<Calls[Name]["get"]>(failure), cancel };
    }
    const answer = new Promise<Calls[Name]["get"]>((resolve, reject) => {
      // The worker answers a call by what its name promises.
      this.#calls.set(call_id, { resolve: resolve as PendingCall["resolve"], reject, on_progress });
      this.#send({ type: "call", call_id, call: { name, give } as Call });
    });
    return { answer, cancel };
  }

  forgetModels(): void {
    this.#send({ type: "forget_models" });
  }

  /** Asks what is stored; the answer comes as `state.stored`. */
  listStored(): void {
    this.#send({ type: "list_stored" });
  }

  deleteStored(sha256: string): void {
    this.#send({ type: "delete_stored", sha256 });
  }

  dismissError(): void {
    this.#dispatch({ type: "error_dismissed" });
  }

  /** After a death: a new worker that loads something else. */
  restartWith(source: ModelSource, backend: BackendChoice): void {
    this.state.value = { ...this.state.value, source, backend };
    this.restart();
  }

  #send(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #dispatch(message: FromWorker | Action): void {
    this.state.value = reduce(this.state.value, message);
  }

  #receive(message: FromWorker): void {
    if (message.type === "loaded" && message.info.tuning) keepTuning(message.info.tuning);
    const { adapter } = this.state.value;
    if (message.type === "adapter_set" && message.adapter_id === adapter.adapter_id && adapter.asked) keepAdapter(adapter.asked);
    this.#unanswered = 0;
    if ("run_id" in message && this.#receiveApart(message)) return;
    if (this.state.value.stalled) this.#dispatch({ type: "stall_changed", stalled: false });
    switch (message.type) {
      case "answered":
        this.#calls.get(message.call_id)?.resolve(message.get);
        this.#calls.delete(message.call_id);
        break;
      case "call_failed":
        this.#calls.get(message.call_id)?.reject(message.error);
        this.#calls.delete(message.call_id);
        break;
      case "call_progress":
        this.#calls.get(message.call_id)?.on_progress?.(message.done, message.total);
        break;
    }
    this.#dispatch(message);
    const { model, queued } = this.state.value;
    if (!queued) this.#pending = null;
    if (model.phase === "ready" && this.#pending) {
      const request = this.#pending;
      this.#pending = null;
      this.judge(request);
    }
    // A trap inside wasm leaves its memory in an unknown state: nothing more is asked of that worker.
    if ("error" in message && message.error?.code === "engine_crashed" && this.#worker) {
      this.#died(this.#worker, message.error.message);
    }
  }

  /** Whether the message was of a judgement apart. */
  #receiveApart(message: Extract<FromWorker, { run_id: number }>): boolean {
    const apart = this.#apart.get(message.run_id);
    if (!apart) return false;
    if (message.type === "judge_event") {
      apart.on_event?.(message.event);
      return true;
    }
    this.#apart.delete(message.run_id);
    if (message.type === "judged") {
      apart.resolve(message.record);
      return true;
    }
    apart.reject(message.error);
    // What a crash means for the worker is seen to where every other message goes.
    return message.error.code !== "engine_crashed";
  }

  #died(worker: Worker, message: string): void {
    if (worker !== this.#worker) return;
    worker.terminate();
    this.#worker = null;
    this.#pending = null;
    const failure: Failure = { code: "worker_died", message };
    this.#rejectCalls(failure);
    this.#dispatch({ type: "worker_died", message });
  }

  #rejectCalls(failure: Failure): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    const apart = [...this.#apart.values()];
    this.#apart.clear();
    for (const one of [...calls, ...apart]) one.reject(failure);
  }

  #watch(): void {
    const { model, run, stalled } = this.state.value;
    const busy = model.phase === "loading" || model.phase === "starting" || run?.phase === "running" || this.#apart.size + this.#calls.size > 0;
    if (!busy || !this.#worker) return;
    if (!stalled && this.#unanswered >= STALLED_AFTER_PINGS) this.#dispatch({ type: "stall_changed", stalled: true });
    this.#unanswered += 1;
    this.#send({ type: "ping" });
  }
}
