/** Judges a response again with each of its sentences left out, to see which of them move a score. */
import { signal, type ReadonlySignal } from "@preact/signals";
import type { EngineClient } from "./engine";
import { movementOf, piecesOf, without, type Movement, type Piece } from "./sentences";
import type { JudgeRequest, Rubric, Verdict } from "./types";
import type { Failure } from "./worker/protocol";

export interface Evidence {
  pieces: Piece[];
  /** One per piece, whatever has arrived. */
  movements: Movement[];
  /** By this rubric alone; null until it is judged. */
  whole: Verdict | null;
  phase: "running" | "done" | "cancelled" | "failed";
  cancelling: boolean;
  /** Judgements that are done, of one for the whole and one for each piece. */
  done: number;
  /** What stopped it, in words. */
  problem: string | null;
}

/** The sentence evidence of one run, by rubric. It asks the engine with the run's own texts, whatever the fields hold by now. */
export class LeaveOut {
  readonly #of = signal<ReadonlyMap<string, Evidence>>(new Map());
  readonly of: ReadonlySignal<ReadonlyMap<string, Evidence>> = this.#of;
  #pieces: Piece[] | null = null;
  readonly #stops = new Map<string, AbortController>();

  constructor(private readonly engine: EngineClient, private readonly request: JudgeRequest) {}

  /** Cut when they are first asked for: a long text takes a moment. */
  get pieces(): Piece[] {
    return (this.#pieces ??= piecesOf(this.request.response));
  }

  async start(rubric: Rubric): Promise<void> {
    if (this.#stops.has(rubric.id)) return;
    const { pieces } = this;
    const stop = new AbortController();
    this.#stops.set(rubric.id, stop);
    const movements: Movement[] = pieces.map(() => ({ kind: "waiting" }));
    let now: Evidence = { pieces, movements, whole: null, phase: "running", cancelling: false, done: 0, problem: null };
    const show = (change: Partial<Evidence>) => {
      now = { ...now, cancelling: stop.signal.aborted, ...change };
      this.#of.value = new Map(this.#of.value).set(rubric.id, now);
    };
    show({});
    try {
      const whole = await this.#judge(rubric, this.request.response, stop.signal);
      if (!whole) return show({ phase: "cancelled", cancelling: false });
      show({ whole, done: 1 });
      for (const [i, piece] of pieces.entries()) {
        // There is nothing for the rest to be compared with.
        if (whole.kind === "unscored") break;
        const left = await this.#judge(rubric, without(this.request.response, piece), stop.signal);
        if (!left) return show({ phase: "cancelled", cancelling: false });
        show({ movements: now.movements.with(i, movementOf(whole, left)), done: i + 2 });
      }
      show({ phase: "done", cancelling: false });
    } catch (thrown) {
      const failure = thrown as Failure;
      show(failure.code === "cancelled" ? { phase: "cancelled", cancelling: false } : { phase: "failed", cancelling: false, problem: failure.message });
    } finally {
      this.#stops.delete(rubric.id);
    }
  }

  cancel(rubric_id: string): void {
    const now = this.#of.value.get(rubric_id);
    if (now?.phase !== "running") return;
    this.#of.value = new Map(this.#of.value).set(rubric_id, { ...now, cancelling: true });
    this.#stops.get(rubric_id)?.abort();
  }

  /** Takes away what is no longer running. */
  forget(rubric_id: string): void {
    if (this.#stops.has(rubric_id)) return;
    const next = new Map(this.#of.value);
    next.delete(rubric_id);
    this.#of.value = next;
  }

  /** The run is no longer shown. */
  end(): void {
    for (const stop of this.#stops.values()) stop.abort();
  }

  /** Null where it was cancelled before there was an answer. */
  async #judge(rubric: Rubric, response: string, signal: AbortSignal): Promise<Verdict | null> {
    const { prompt, reference, wording } = this.request;
    const request: JudgeRequest = { prompt, response, rubrics: [rubric], ...(reference !== undefined && { reference }), ...(wording && { wording }) };
    const record = await this.engine.judgeApart(request, { signal });
    return record.cancelled ? null : (record.verdicts.find((one) => one.rubric_id === rubric.id)?.verdict ?? null);
  }
}
