/** What a batch asks of every row: rubrics, or the numbers of a reward model's own head. Pure. */
import { labelsOf } from "../../own-rubrics";
import { scaleOf } from "../../radar";
import type { RewardRecord, Rubric } from "../../types";
import { rewardsText as words } from "../../text/rewards";

export interface Asks {
  /** None where the head is read. */
  rubrics: Rubric[];
  /** What the head's outputs are called; absent where rubrics are asked. */
  outputs?: string[];
}

/** One figure of every row. */
export interface Column {
  id: string;
  label: string;
  /** Null where there is none: a head's numbers are without bounds, and comparable among responses to one prompt only. */
  scale: { min: number; max: number } | null;
}

export function columnsOf({ rubrics, outputs }: Asks): Column[] {
  if (outputs !== undefined) return outputs.map((label, at) => ({ id: outputs.length === 1 ? "reward" : `output_${at + 1}`, label, scale: null }));
  const labels = labelsOf(rubrics);
  return rubrics.map((rubric, at) => ({ id: rubric.id, label: labels[at]!, scale: scaleOf(rubric) }));
}

/** What the outputs of a head are called: as the file says, each once; else by number, or "Reward" where there is one. */
export function outputsOf({ outputs, labels }: { outputs: number; labels: string[] }): string[] {
  return Array.from({ length: outputs }, (_, at) => {
    const said = labels[at];
    if (said === undefined) return outputs === 1 ? words.reward : words.output(at + 1);
    return labels.indexOf(said) === at ? said : `${said} (${at + 1})`;
  });
}

/** What the head gave to the row's response. */
export function rewardOf(record: RewardRecord): { outputs: number[]; why: null } | { outputs: null; why: string } {
  const [reward] = record.rewards;
  if (reward === undefined) return { outputs: null, why: "" };
  return reward.kind === "scored" ? { outputs: reward.outputs, why: null } : { outputs: null, why: reward.message };
}
