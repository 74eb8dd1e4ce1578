/** The figures that a batch has of each row: scores of rubrics, or what the outputs of the model's own head give. Pure. */
import { scaleOf } from "../../radar";
import { rewardsText } from "../../text/rewards";
import type { Asks } from "./types";

export interface Measure {
  /** Unique within a batch. */
  id: string;
  name: string;
  /** Null where the figure has no bounds: it is on no scale, has no percent, and only its order and its distances say something. */
  scale: { min: number; max: number } | null;
}

export function measuresOf({ rubrics, head }: Asks): Measure[] {
  if (!head) return rubrics.map((rubric) => ({ id: rubric.id, name: rubric.name, scale: scaleOf(rubric) }));
  return Array.from({ length: head.outputs }, (_, at) => ({
    // The number, since nothing keeps a file from giving two outputs one name; the name, since the next model's first output is another.
    id: head.labels[at] ? `output_${at + 1}_${head.labels[at]}` : `output_${at + 1}`, name: rewardsText.called(head.labels[at], at + 1, head.outputs), scale: null,
  }));
}
