/** One lesson as the learner has it during a visit: texts, choices, quiz, and what the model said. It outlives going to another lesson. */
import { effect, signal } from "@preact/signals";
import type { EngineClient } from "../../engine";
import { announcement } from "../../live";
import { learnText } from "../../text/learn";
import type { CompareRecord, ItemVerdict, JudgeEvent, Verdict } from "../../types";
import type { Failure } from "../../worker/protocol";
import { prefilled, type Fields } from "./fields";
import type { Lesson } from "./lesson";
import { stepsOf, type JudgeStep, type Step } from "./plan";
import { fresh } from "./quiz";

/** What came of one judgement; filled while it runs. */
export interface Judged {
  step: JudgeStep;
  /** One per rubric of the request. */
  verdicts: (Verdict | null)[];
  items: ItemVerdict[];
  truncated: boolean;
}

export interface Outcome {
  /** The texts that it belongs to. */
  of: Fields;
  judged: Judged[];
  comparison: CompareRecord | null;
}

export type Run =
  | { phase: "idle" }
  | { phase: "waiting" }
  | { phase: "running" | "cancelling"; done: number; total: number }
  | { phase: "done"; scored: number; total: number }
  | { phase: "cancelled" }
  | { phase: "failed"; why: string };

export const isBusy = ({ phase }: Run) => phase === "waiting" || phase === "running" || phase === "cancelling";

export class Session {
  readonly fields;
  /** Grows when texts were changed by something other than typing: fields are then made anew. */
  readonly version = signal(0);
  readonly run = signal<Run>({ phase: "idle" });
  readonly outcome = signal<Outcome | null>(null);
  readonly quiz;
  #abort: AbortController | null = null;

  constructor(readonly lesson: Lesson) {
    this.fields = signal<Fields>(prefilled(lesson));
    this.quiz = signal(fresh(lesson.quiz));
  }

  type(name: string, value: string): void {
    this.fields.value = { ...this.fields.value, [name]: value };
  }

  replace(fields: Fields): void {
    this.fields.value = fields;
    this.version.value += 1;
  }

  cancel(): void {
    const { value } = this.run;
    if (value.phase === "running") this.run.value = { ...value, phase: "cancelling" };
    this.#abort?.abort();
  }

  /** Asks the model what the lesson asks, as soon as there is one. Does nothing while that is going on. Never throws. */
  async start(engine: EngineClient): Promise<void> {
    if (isBusy(this.run.value)) return;
    const abort = new AbortController();
    this.#abort = abort;
    try {
      if (engine.state.value.model.phase !== "ready") {
        this.run.value = { phase: "waiting" };
        announcement.value = learnText.run.waiting;
        await modelReady(engine, abort.signal);
      }
      await this.#ask(engine, abort.signal);
    } catch (thrown) {
      const failure = thrown as Partial<Failure>;
      if (abort.signal.aborted || failure.code === "cancelled") this.#end({ phase: "cancelled" }, learnText.run.cancelled);
      else {
        const why = failure.message ?? String(thrown);
        this.#end({ phase: "failed", why }, learnText.run.failed(why));
      }
    }
  }

  #end(run: Run, said: string): void {
    this.run.value = run;
    announcement.value = said;
  }

  async #ask(engine: EngineClient, stop: AbortSignal): Promise<void> {
    const of = this.fields.value;
    const steps = stepsOf(this.lesson, of, engine.state.value);
    this.outcome.value = { of, judged: [], comparison: null };
    announcement.value = learnText.run.started;
    const total = steps.reduce((sum, step) => sum + step.answers, 0);
    this.run.value = { phase: "running", done: 0, total };
    for (const step of steps) {
      await (step.kind === "judge" ? this.#judge(engine, step, stop) : this.#other(engine, step, stop));
      if (stop.aborted) return this.#end({ phase: "cancelled" }, learnText.run.cancelled);
    }
    const { scored, asked } = countOf(this.outcome.value);
    this.#end({ phase: "done", scored, total: asked }, learnText.run.done(scored, asked));
  }

  async #other(engine: EngineClient, step: Exclude<Step, JudgeStep>, stop: AbortSignal): Promise<void> {
    if (step.kind === "compare") {
      const asked = engine.call("compare", step.request, (done, total) => {
        if (total > 0) this.#progress(Math.min(step.answers - 1, Math.floor((step.answers * done) / total)));
      });
      stop.addEventListener("abort", asked.cancel);
      const comparison = await asked.answer.finally(() => stop.removeEventListener("abort", asked.cancel));
      this.#keep((outcome) => ({ ...outcome, comparison }));
      return;
    }
    const checklist = await engine.call("generate_checklist", step.request).answer;
    const request = { prompt: step.request.instruction, response: step.response, rubrics: [], checklist };
    const { run } = this;
    if (run.value.phase === "running") run.value = { ...run.value, total: checklist.items.length };
    if (checklist.items.length === 0) this.#keep((outcome) => ({ ...outcome, judged: [{ step: { kind: "judge", name: "", answers: 0, request }, verdicts: [], items: [], truncated: false }] }));
    else await this.#judge(engine, { kind: "judge", name: "", answers: checklist.items.length, request }, stop);
  }

  async #judge(engine: EngineClient, step: JudgeStep, stop: AbortSignal): Promise<void> {
    const place = this.outcome.value?.judged.length ?? 0;
    const before = this.#answers();
    let judged: Judged = { step, verdicts: step.request.rubrics.map(() => null), items: [], truncated: false };
    const show = () => {
      this.#keep((outcome) => ({ ...outcome, judged: [...outcome.judged.slice(0, place), judged] }));
      this.#progress(before + judged.verdicts.filter((verdict) => verdict !== null).length + judged.items.length);
    };
    const on_event = (event: JudgeEvent) => {
      if (event.kind === "verdict") judged = { ...judged, verdicts: judged.verdicts.map((old, i) => (i === event.index ? event.verdict.verdict : old)) };
      else if (event.kind === "item") judged = { ...judged, items: [...judged.items.filter(({ item_id }) => item_id !== event.verdict.item_id), event.verdict] };
      else if (event.kind === "planned") judged = { ...judged, truncated: event.truncations.length > 0 };
      else return;
      show();
    };
    show();
    const record = await engine.judgeApart(step.request, { signal: stop, on_event });
    // The record is what counts, should an event have been missed.
    const verdicts = step.request.rubrics.map(({ id }, i) => judged.verdicts[i] ?? record.verdicts.find(({ rubric_id }) => rubric_id === id)?.verdict ?? null);
    judged = { ...judged, verdicts, items: record.checklist?.items ?? judged.items, truncated: record.truncations.length > 0 };
    show();
  }

  /** Answers that are there. */
  #answers(): number {
    return (this.outcome.value?.judged ?? []).reduce((sum, { verdicts, items }) => sum + verdicts.filter((verdict) => verdict !== null).length + items.length, 0);
  }

  #progress(done: number): void {
    const { value } = this.run;
    if (value.phase === "running" || value.phase === "cancelling") this.run.value = { ...value, done: Math.max(value.done, Math.min(done, value.total)) };
  }

  #keep(change: (outcome: Outcome) => Outcome): void {
    if (this.outcome.value) this.outcome.value = change(this.outcome.value);
  }
}

/** Answers that say something, and all that were asked. */
export function countOf(outcome: Outcome): { scored: number; asked: number } {
  const verdicts = outcome.judged.flatMap((one) => one.verdicts);
  const items = outcome.judged.flatMap((one) => one.items);
  const orders = outcome.comparison?.pairs.flatMap(({ shown, verdict }) => shown.map(() => verdict.kind)) ?? [];
  return {
    scored:
      verdicts.filter((verdict) => verdict?.kind === "scored").length + orders.filter((kind) => kind === "scored").length +
      items.filter((item) => item.by === "code" || item.verdict.kind === "scored").length,
    asked: verdicts.length + items.length + orders.length,
  };
}

/** Resolves when a model is ready; rejects when it is no longer waited for. */
function modelReady(engine: EngineClient, stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let dispose = () => {};
    const end = (then: () => void) => {
      // The effect may run to its end before it can be disposed of.
      queueMicrotask(() => dispose());
      then();
    };
    stop.addEventListener("abort", () => end(() => reject({ code: "cancelled", message: learnText.run.cancelled } satisfies Failure)), { once: true });
    dispose = effect(() => {
      if (engine.state.value.model.phase === "ready") end(resolve);
    });
  });
}

const sessions = new Map<string, Session>();

export function sessionOf(lesson: Lesson): Session {
  const session = sessions.get(lesson.id) ?? new Session(lesson);
  sessions.set(lesson.id, session);
  return session;
}
