import { formatCount } from "../../format";
import { labelsOf } from "../../own-rubrics";
import { batchText as words } from "../../text/batch";
import type { Rubric } from "../../types";
import { humanColumns } from "./mapping";
import type { Settings } from "./types";

interface Props {
  columns: string[];
  rubrics: Rubric[];
  settings: Pick<Settings, "mapping" | "human_by_skill">;
  onChange: (human_by_skill: Record<string, string>) => void;
}

/** Which column holds a person's score of which skill. */
export function HumanColumns({ columns, rubrics, settings, onChange }: Props) {
  const found = humanColumns(columns, rubrics, settings);
  const labels = labelsOf(rubrics);
  return (
    <details class="more" data-testid="batch-human">
      <summary>{words.human.summary(formatCount(Object.keys(found).length), formatCount(rubrics.length))}</summary>
      <p class="hint">{words.human.hint}</p>
      <div class="batch-columns">
        {rubrics.map(({ id }, i) => (
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
