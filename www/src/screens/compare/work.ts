/** What is asked of the engine to compare responses, and what has come of it. */
import { signal, type ReadonlySignal } from "@preact/signals";
import type { Asked, EngineClient } from "../../engine";
import { keep } from "../../history";
import type { Row } from "../../state";
import type { CompareRecord, JudgeRecord, JudgeRequest, Rubric, RubricVerdict, Truncation } from "../../types";
import type { Failure } from "../../worker/protocol";

export interface Texts {
  prompt: string;
  reference: string;
  /** In the order on the page; `id` is the letter that a response keeps wherever it is moved. */
  responses: { id: string; text: string }[];
}

export type Phase = "none" | "running" | "done" | "cancelled" | "failed";

export interface Part {
  phase: Phase;
  cancelling: boolean;
  /** 0 to 1. */
  share: number;
  /** Which response is being judged. */
  at: number;
  problem: string | null;
}

export interface Entry {
  id: string;
  text: string;
  rows: Row[];
  truncations: Truncation[];
  record: JudgeRecord | null;
}

export interface Outcome {
  /** Another one whenever other texts are compared. */
  key: string;
  texts: Texts;
  entries: Entry[];
  alone: Part;
  together: Part;
  /** Pairs by places in `entries`; partial where it was cancelled. */
  record: CompareRecord | null;
}

const IDLE: Part = { phase: "none", cancelling: false, share: 0, at: 0, problem: null };

/** The same key for the same texts, whatever the order of the responses. */
export function keyOf({ prompt, reference, responses }: Texts): string {
  const sorted = [...responses].sort((a, b) => (a.id < b.id ? -1 : 1));
  return JSON.stringify([prompt, reference, sorted]);
}

export class Work {
  readonly #outcome = signal<Outcome | null>(null);
  readonly outcome: ReadonlySignal<Outcome | null> = this.#outcome;
  #stop: AbortController | null = null;
  #asked: Asked<"compare"> | null = null;

  constructor(private readonly engine: EngineClient) {}

  /** Judges every response by itself, one after the other. */
  async judgeAlone(texts: Texts, rubrics: Rubric[]): Promise<void> {
    if (this.#stop) return;
    const stop = new AbortController();
    this.#stop = stop;
    const { key } = this.#begin(texts);
    this.#change(key, (now) => ({
      alone: { ...IDLE, phase: "running" },
      entries: now.entries.map((entry) => ({ ...entry, rows: rubrics.map((rubric) => ({ rubric, verdict: null })), truncations: [], record: null })),
    }));
    const part = (change: Partial<Part>) => this.#change(key, (now) => ({ alone: { ...now.alone, ...change } }));
    try {
      for (const [at, { id, text }] of texts.responses.entries()) {
        const request: JudgeRequest = { prompt: texts.prompt, response: text, rubrics, ...(texts.reference.trim() !== "" && { reference: texts.reference }) };
        const all = texts.responses.length;
        part({ at, share: at / all });
        const record = await this.engine.judgeApart(request, {
          signal: stop.signal,
          on_event: (event) => {
            if (event.kind === "planned") this.#entry(key, id, () => ({ truncations: event.truncations }));
            if (event.kind === "progress" && event.total_tokens > 0) part({ share: (at + event.done_tokens / event.total_tokens) / all });
            if (event.kind === "verdict") this.#entry(key, id, (entry) => ({ rows: filled(entry.rows, [event.verdict]) }));
          },
        });
        this.#entry(key, id, (entry) => ({ rows: filled(entry.rows, record.verdicts), truncations: record.truncations, record }));
        if (record.verdicts.length > 0) {
          void keep({ kind: "judgement", prompt: texts.prompt, reference: request.reference ?? null, response: text, record });
        }
        if (record.cancelled) return part({ phase: "cancelled", cancelling: false });
      }
      part({ phase: "done", cancelling: false, share: 1 });
    } catch (thrown) {
      part({ ...ended(thrown as Failure), cancelling: false });
    } finally {
      this.#stop = null;
    }
  }

  /** Shows every two of them to the model, in both orders. */
  async showTogether(texts: Texts): Promise<void> {
    if (this.#asked) return;
    const { key } = this.#begin(texts);
    this.#change(key, () => ({ together: { ...IDLE, phase: "running" }, record: null }));
    const part = (change: Partial<Part>) => this.#change(key, (now) => ({ together: { ...now.together, ...change } }));
    const reference = texts.reference.trim() === "" ? null : texts.reference;
    // Pairs come back by place: the places are those of the entries, which may stand in another order than the fields by now.
    const entries = this.#outcome.value?.entries ?? [];
    const responses = entries.map(({ text }) => text);
    const asked = this.engine.call("compare", { prompt: texts.prompt, responses, ...(reference !== null && { reference }) }, (done, total) => {
      if (total > 0) part({ share: done / total });
    });
    this.#asked = asked;
    try {
      const record = await asked.answer;
      this.#change(key, () => ({ record }));
      part({ phase: record.cancelled ? "cancelled" : "done", cancelling: false, share: 1 });
      const now = this.#outcome.value;
      if (record.pairs.length > 0) {
        const profiles = now?.key === key ? now.entries.flatMap((entry) => (entry.record ? [entry.record] : [])) : [];
        void keep({ kind: "comparison", prompt: texts.prompt, reference, responses, record, profiles });
      }
    } catch (thrown) {
      part({ ...ended(thrown as Failure), cancelling: false });
    } finally {
      this.#asked = null;
    }
  }

  cancel(which: "alone" | "together"): void {
    const now = this.#outcome.value;
    if (now?.[which].phase !== "running") return;
    this.#change(now.key, ({ [which]: part }) => ({ [which]: { ...part, cancelling: true } }));
    if (which === "alone") this.#stop?.abort();
    else this.#asked?.cancel();
  }

  /** What is known of the very same texts stays; of others nothing does. */
  #begin(texts: Texts): Outcome {
    const key = keyOf(texts);
    const now = this.#outcome.value;
    if (now?.key === key) return now;
    const entries = texts.responses.map(({ id, text }) => ({ id, text, rows: [], truncations: [], record: null }));
    return (this.#outcome.value = { key, texts, entries, alone: IDLE, together: IDLE, record: null });
  }

  #change(key: string, change: (now: Outcome) => Partial<Outcome>): void {
    const now = this.#outcome.value;
    // Answers about texts that are no longer compared change nothing.
    if (now?.key === key) this.#outcome.value = { ...now, ...change(now) };
  }

  #entry(key: string, id: string, change: (entry: Entry) => Partial<Entry>): void {
    this.#change(key, ({ entries }) => ({ entries: entries.map((entry) => (entry.id === id ? { ...entry, ...change(entry) } : entry)) }));
  }
}

function ended(failure: Failure): Pick<Part, "phase" | "problem"> {
  return failure.code === "cancelled" ? { phase: "cancelled", problem: null } : { phase: "failed", problem: failure.message };
}

/** By the rubric's id and never by position (P19). */
function filled(rows: Row[], verdicts: RubricVerdict[]): Row[] {
  const by = new Map(verdicts.map((verdict) => [verdict.rubric_id, verdict]));
  return rows.map((row) => ({ ...row, verdict: by.get(row.rubric.id) ?? row.verdict }));
}
