/** What the screen holds and does: the working list, reading it with the model, fitting, and what is saved. */
import { batch, computed, signal } from "@preact/signals";
import type { EngineClient } from "../../engine";
import { all, put, remove, watch, StoreError, type Named } from "../../store";
import { calibrate as words } from "../../text/calibrate";
import type { Readout, Rubric, Table } from "../../types";
import type { Failure } from "../../worker/protocol";
import { EMPTY, add, change, fitRequest, keyOfEngine, labelled, unread, type Example, type Reading, type Saved, type Work } from "./labels";

/** Fitting draws folds and bootstrap samples; the same list gives the same readout. */
const SEED = 0;
const WORK_ID = "work";

type KeptWork = Named & { kind: "work"; work: Work };
type KeptSaved = Named & { kind: "saved"; saved: Saved };

export type Phase = { kind: "idle" } | { kind: "reading"; done: number; all: number } | { kind: "fitting" };

export const newId = (): string => crypto.randomUUID();

/** Saved readouts, shared with the Judge screen. */
export const saved = signal<Saved[]>([]);
let watched = false;

/** Reads the saved readouts once, and again whenever another tab changes them. */
export function watchSaved(): void {
  if (watched) return;
  watched = true;
  const read = async () => {
    const kept = await all<KeptWork | KeptSaved>("readouts").catch(() => []);
    const found = kept.flatMap((one) => (one.kind === "saved" ? [one.saved] : []));
    // What could only be kept in memory stays.
    const stored = new Set(found.map(({ id }) => id));
    saved.value = [...found, ...saved.value.filter(({ id }) => !stored.has(id) && unstored.has(id))].sort((a, b) => b.at - a.at);
  };
  void read();
  watch("readouts", () => void read());
}

/** Saved readouts that no store took. */
const unstored = new Set<string>();

export async function save(one: Saved): Promise<void> {
  unstored.add(one.id);
  saved.value = [one, ...saved.value.filter(({ id }) => id !== one.id)];
  await put<KeptSaved>("readouts", { id: one.id, kind: "saved", saved: one }).then(() => unstored.delete(one.id), () => undefined);
}

export async function forget(id: string): Promise<void> {
  unstored.delete(id);
  saved.value = saved.value.filter((one) => one.id !== id);
  await remove("readouts", id).catch(() => undefined);
}

export function aspectRubric(engine: EngineClient, aspect: string): Rubric | null {
  const { overall, builtin } = engine.state.value;
  return aspect === "overall" ? overall : (builtin.find(({ id }) => id === aspect) ?? null);
}

/** Reads one response with the loaded model: its own score by the aspect's rubric, and its state. */
export async function readExample(
  engine: EngineClient,
  texts: Pick<Example, "prompt" | "response" | "reference">,
  aspect: string,
  stamp: string,
  signal: AbortSignal,
): Promise<Reading> {
  const rubric = aspectRubric(engine, aspect);
  if (!rubric) throw { code: "not_ready", message: words.fit.waiting } satisfies Failure;
  const given = { prompt: texts.prompt, response: texts.response, ...(texts.reference !== null && { reference: texts.reference }) };
  const record = await engine.judgeApart({ ...given, rubrics: [rubric] }, { signal });
  if (record.cancelled) throw { code: "cancelled", message: words.fit.cancelled } satisfies Failure;
  const call = engine.call("states", given);
  const stop = () => call.cancel();
  signal.addEventListener("abort", stop);
  const state = await call.answer.finally(() => signal.removeEventListener("abort", stop));
  if (signal.aborted) throw { code: "cancelled", message: words.fit.cancelled } satisfies Failure;
  const verdict = record.verdicts[0]?.verdict;
  const values = rubric.options.map(({ value }) => value);
  const both = new Float32Array(2 * state.width);
  both.set(state.mean, 0);
  both.set(state.last, state.width);
  return {
    stamp,
    own: verdict?.kind === "scored" ? verdict.expected : null,
    own_min: Math.min(...values),
    own_max: Math.max(...values),
    layer: state.layer,
    model: state.model,
    state: both,
  };
}

export class Desk {
  readonly work = signal<Work>(EMPTY);
  /** Place of the response that is rated. */
  readonly at = signal(0);
  readonly phase = signal<Phase>({ kind: "idle" });
  readonly readout = signal<Readout | null>(null);
  /** What the readout was fitted to: it stays tied to that, whatever is loaded or chosen later. */
  #fitted: Pick<Saved, "aspect" | "key" | "model"> | null = null;
  /** Counts what a person changed. */
  #changes = 0;
  readonly trouble = signal<string | null>(null);
  /** Why the list is not kept. */
  readonly unkept = signal<StoreError | null>(null);
  /** Which of the labelled responses could not be read, and why. */
  readonly faults = signal<{ count: number; why: string } | null>(null);
  readonly table = signal<{ name: string; table: Table } | null>(null);
  readonly current = computed<Example | null>(() => this.work.value.examples[this.at.value] ?? null);
  #abort: AbortController | null = null;
  #loaded = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(readonly engine: EngineClient) {
    watchSaved();
    void all<KeptWork | KeptSaved>("readouts").then(
      (kept) => {
        const found = kept.find((one): one is KeptWork => one.kind === "work");
        // What was typed before the store answered is kept too.
        if (found) this.work.value = add(found.work, this.work.value.examples, newId).work;
        this.#loaded = true;
        if (this.work.value.examples.length > 0) this.#keep();
      },
      (thrown: unknown) => {
        this.#loaded = true;
        this.unkept.value = thrown instanceof StoreError ? thrown : new StoreError("failed", String(thrown));
      },
    );
  }

  /** The key under which readings of the loaded model count; null while none is ready. */
  stamp(): string | null {
    const { model, adapter } = this.engine.state.value;
    return model.phase === "ready" ? `${keyOfEngine(model.info, adapter.applied)} ${this.work.value.aspect}` : null;
  }

  set(work: Work): void {
    this.#changes += 1;
    batch(() => {
      this.work.value = work;
      if (this.at.value >= work.examples.length) this.at.value = Math.max(0, work.examples.length - 1);
      this.readout.value = null;
    });
    this.#keep();
  }

  #keep(): void {
    if (!this.#loaded || this.unkept.value?.trouble === "denied") return;
    // One write after the other, and of what is newest.
    this.#writing = this.#writing.then(() =>
      put<KeptWork>("readouts", { id: WORK_ID, kind: "work", work: this.work.value }).then(
        () => void (this.unkept.value = null),
        (thrown: unknown) => void (this.unkept.value = thrown instanceof StoreError ? thrown : new StoreError("failed", String(thrown))),
      ),
    );
  }

  cancel(): void {
    this.#abort?.abort();
  }

  /** Reads what has not been read, then fits. What was read stays, however it ends. */
  async run(): Promise<void> {
    const stamp = this.stamp();
    if (stamp === null || this.phase.value.kind !== "idle") return;
    const abort = new AbortController();
    this.#abort = abort;
    this.trouble.value = null;
    this.faults.value = null;
    const { model, adapter } = this.engine.state.value;
    if (model.phase !== "ready") return;
    const { applied } = adapter;
    const name = applied === null ? model.info.model.name : `${model.info.model.name} + ${applied.title}`;
    const todo = unread(this.work.value, stamp);
    const { aspect } = this.work.value;
    let failed = 0;
    let why = "";
    try {
      for (const [done, example] of todo.entries()) {
        this.phase.value = { kind: "reading", done, all: todo.length };
        try {
          const reading = await readExample(this.engine, example, aspect, stamp, abort.signal);
          this.work.value = change(this.work.value, example.id, { reading });
          this.#keep();
        } catch (thrown) {
          const { code, message } = thrown as Failure;
          if (abort.signal.aborted || ["cancelled", "worker_died", "not_ready", "only_head", "engine_crashed"].includes(code)) throw thrown;
          failed += 1;
          why = message;
        }
      }
      const request = fitRequest(this.work.value, stamp, SEED);
      if (failed > 0) this.faults.value = { count: failed, why };
      if (request === null) {
        this.trouble.value = words.fit.few(labelled(this.work.value).length - failed);
        return;
      }
      this.phase.value = { kind: "fitting" };
      const changes = this.#changes;
      const readout = await this.engine.call("fit_readout", request).answer;
      if (changes !== this.#changes || this.work.value.aspect !== aspect) {
        this.trouble.value = words.fit.changed;
        return;
      }
      this.#fitted = { aspect, key: keyOfEngine(model.info, applied), model: name };
      this.readout.value = readout;
    } catch (thrown) {
      this.trouble.value = abort.signal.aborted ? words.fit.cancelled : words.fit.failed((thrown as Failure).message);
    } finally {
      this.#abort = null;
      this.phase.value = { kind: "idle" };
    }
  }

  /** The readout that was fitted last, under a name. */
  async saveAs(name: string): Promise<Saved | null> {
    const readout = this.readout.value;
    if (readout === null || this.#fitted === null) return null;
    const one: Saved = { format: "retort.own-readout/1", id: newId(), name, at: Date.now(), ...this.#fitted, readout };
    await save(one);
    return one;
  }
}
