/** The page's side of the worker: starts it, talks to it, and notices when it dies. */
import { signal, type Signal } from "@preact/signals";
import { INITIAL, reduce, type Action, type State } from "./state";
import { text } from "./text";
import type { BackendChoice, JudgeRequest } from "./types";
import type { Call, CallName, Calls, Failure, FromWorker, ModelSource, ToWorker } from "./worker/protocol";

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
  #worker: Worker | null = null;
  #next_id = 1;
  #pending: JudgeRequest | null = null;
  #calls = new Map<number, PendingCall>();
  #unanswered = 0;

  constructor(private readonly registry_url: string) {
    setInterval(() => this.#watch(), PING_EVERY_MS);
  }

  /** Starts the worker and loads what the state names as the source. */
  start(): void {
    this.#worker?.terminate();
    this.#rejectCalls({ code: "worker_died", message: text.error.workerDied });
    const worker = new Worker(new URL("./worker/worker.ts", import.meta.url), { type: "module", name: "retort-engine" });
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

  load(source: ModelSource, backend: BackendChoice): void {
    const load_id = this.#next_id++;
    if (!this.#worker) return this.restartWith(source, backend);
    this.#dispatch({ type: "load_requested", load_id, source, backend });
    this.#send({ type: "load", load_id, source, backend, tuning: recallTuning() });
  }

  cancelLoad(): void {
    this.#send({ type: "cancel_load" });
  }

  /** Applies an adapter to the loaded model; null takes it away. */
  setAdapter(file: File | null): void {
    const adapter_id = this.#next_id++;
    this.#dispatch({ type: "adapter_requested", adapter_id, name: file?.name ?? null });
    this.#send({ type: "set_adapter", adapter_id, file });
  }

  /** Judges at once, or as soon as the model that is being loaded is ready. */
  judge(request: JudgeRequest): void {
    if (this.state.value.model.phase !== "ready") {
      this.#pending = request;
      this.#dispatch({ type: "queue_changed", queued: true });
      return;
    }
    const run_id = this.#next_id++;
    this.#dispatch({ type: "judge_requested", run_id, request });
    this.#send({ type: "judge", run_id, request });
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

  /** Asks the engine something; only what needs the model takes noticeable time. */
  call<Name extends CallName>(name: Name, give: Calls[Name]["give"], on_progress?: (done: number, total: number) => void): Asked<Name> {
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
    this.#unanswered = 0;
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
    if ("error" in message && message.error.code === "engine_crashed" && this.#worker) {
      this.#died(this.#worker, message.error.message);
    }
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
    for (const call of calls) call.reject(failure);
  }

  #watch(): void {
    const { model, run, stalled } = this.state.value;
    const busy = model.phase === "loading" || model.phase === "starting" || run?.phase === "running";
    if (!busy || !this.#worker) return;
    if (!stalled && this.#unanswered >= STALLED_AFTER_PINGS) this.#dispatch({ type: "stall_changed", stalled: true });
    this.#unanswered += 1;
    this.#send({ type: "ping" });
  }
}
