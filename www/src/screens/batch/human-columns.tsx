import { formatCount } from "../../format";
import { labelsOf } from "../../own-rubrics";
import { batchText as words } from "../../text/batch";
import { humanColumns } from "./mapping";
import { measuresOf } from "./measures";
import { hasOwnColumns } from "./pairs";
import type { Asks, Settings } from "./types";

interface Props {
  columns: string[];
  asks: Asks;
  settings: Pick<Settings, "mapping" | "human_by_skill">;
  onChange: (human_by_skill: Record<string, string>) => void;
}

/** Which column holds a person's score of which measure alone. */
export function HumanColumns({ columns, asks, settings, onChange }: Props) {
  const measures = measuresOf(asks);
  if (measures.length === 0 || !hasOwnColumns(asks)) return null;
  const found = humanColumns(columns, measures, settings);
  const labels = labelsOf(measures);
  const human = asks.head ? words.head.human : words.human;
  return (
    <details class="more" data-testid="batch-human">
      <summary>{human.summary(formatCount(Object.keys(found).length), formatCount(measures.length))}</summary>
      <p class="hint">{human.hint}</p>
      <div class="batch-columns">
        {measures.map(({ id }, i) => (
          <label key={id} dir="auto">{labels[i]}
            <select value={found[id] ?? ""} data-testid={`batch-human-${id}`} onChange={(event) => onChange({ ...settings.human_by_skill, [id]: event.currentTarget.value })}>
              <option value="">{words.columns.none}</option>
              {columns.map((column) => <option key={column} value={column}>{column}</option>)}
            </select>
          </label>
        ))}
      </div>
    </details>
  );
}
