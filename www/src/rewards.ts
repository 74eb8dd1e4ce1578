/** What a reward model's own head says of responses, asked one run at a time. */
import { signal, type ReadonlySignal } from "@preact/signals";
import type { Asked, EngineClient } from "./engine";
import { keep } from "./history";
import type { Reward, RewardRecord } from "./types";
import type { Failure } from "./worker/protocol";

export interface RewardTexts {
  prompt: string;
  /** `id` is what a response is called on the page. */
  responses: { id: string; text: string }[];
}

export interface RewardOutcome {
  texts: RewardTexts;
  phase: "running" | "done" | "cancelled" | "failed";
  cancelling: boolean;
  /** 0 to 1. */
  share: number;
  record: RewardRecord | null;
  problem: Failure | null;
}

export class Rewards {
  readonly #outcome = signal<RewardOutcome | null>(null);
  readonly outcome: ReadonlySignal<RewardOutcome | null> = this.#outcome;
  #asked: Asked<"reward"> | null = null;

  constructor(private readonly engine: EngineClient) {}

  async ask(texts: RewardTexts): Promise<void> {
    if (this.#asked) return;
    this.#outcome.value = { texts, phase: "running", cancelling: false, share: 0, record: null, problem: null };
    const change = (now: Partial<RewardOutcome>) => (this.#outcome.value = { ...this.#outcome.value!, ...now });
    const responses = texts.responses.map(({ text }) => text);
    const asked = this.engine.call("reward", { prompt: texts.prompt, responses }, (done, total) => {
      if (total > 0) change({ share: done / total });
    });
    this.#asked = asked;
    try {
      const record = await asked.answer;
      change({ phase: record.cancelled ? "cancelled" : "done", cancelling: false, share: 1, record });
      if (record.rewards.some(({ kind }) => kind === "scored")) {
        void keep({ kind: "rewards", prompt: texts.prompt, reference: null, responses, record });
      }
    } catch (thrown) {
      const problem = thrown as Failure;
      change(problem.code === "cancelled" ? { phase: "cancelled", cancelling: false } : { phase: "failed", cancelling: false, problem });
    } finally {
      this.#asked = null;
    }
  }

  cancel(): void {
    if (!this.#asked) return;
    this.#outcome.value = { ...this.#outcome.value!, cancelling: true };
    this.#asked.cancel();
  }
}

/**
 * Which responses have the highest number of one output; none where two have no number that is one, or there is one response only. Which
 * output means "good" is known of a head with one output alone.
 */
export function highestOf(rewards: Reward[]): number[] {
  const single = rewards.map((reward) => (reward.kind === "scored" && reward.outputs.length === 1 ? reward.outputs[0]! : null));
  const numbers = single.filter((value) => value !== null && Number.isFinite(value)) as number[];
  if (numbers.length < 2) return [];
  const most = Math.max(...numbers);
  return single.flatMap((value, at) => (value === most ? [at] : []));
}
