import { useSignal } from "@preact/signals";
import type { EngineClient } from "../../engine";
import { announcement } from "../../live";
import { saveParts, saveText } from "../../save";
import { batchText as words } from "../../text/batch";
import type { Table } from "../../types";
import type { Batch } from "./batch";
import { withResults } from "./results";

const TYPES = { csv: "text/csv", tsv: "text/tab-separated-values", jsonl: "application/jsonl" } as const;
const PIECE = 200;

/** Carries the results away. */
export function Exports({ engine, batch }: { engine: EngineClient; batch: Batch }) {
  const told = useSignal("");
  const problem = useSignal("");
  const head = batch.head.value!;
  const base = head.name.replace(/\.[^.]*$/, "").replaceAll(/[^\p{L}\p{N}._-]+/gu, "-") || "batch";
  const saved = (name: string) => {
    problem.value = "";
    announcement.value = told.value = words.export.saved(name);
  };
  const failed = (thrown: unknown) => void (problem.value = words.export.failed((thrown as { message?: string }).message ?? String(thrown)));
  const table = async (container: keyof typeof TYPES) => {
    const whole: Table = { ...head.table, rows: batch.rows };
    const content = await engine.call("write_table", { table: withResults(whole, batch.lines.value, head, head.settings.checklist), container }).answer;
    const name = `${base}-retort.${container}`;
    saveText(name, content, TYPES[container]);
    saved(name);
  };
  const records = async () => {
    const parts: string[] = [];
    let piece = "";
    let count = 0;
    for await (const { index, record } of batch.records()) {
      const id = batch.cell(index, head.settings.mapping.id);
      piece += `${JSON.stringify({ line: batch.rows[index]?.line ?? null, ...(id !== null && { id }), ...record })}\n`;
      if (++count % PIECE === 0) {
        parts.push(piece);
        piece = "";
      }
    }
    const name = `${base}-retort-records.jsonl`;
    saveParts(name, [...parts, piece], TYPES.jsonl);
    saved(name);
  };
  return (
    <section class="card batch" aria-labelledby="batch-export-heading">
      <h2 id="batch-export-heading">{words.export.heading}</h2>
      <div class="buttons">
        {(["csv", "tsv", "jsonl"] as const).map((container) => (
          <button type="button" class="plain" key={container} onClick={() => void table(container).catch(failed)}>{words.export[container]}</button>
        ))}
        <button type="button" class="plain" onClick={() => void records().catch(failed)}>{words.export.records}</button>
        {told.value !== "" && <span class="hint" data-testid="batch-saved">{told.value}</span>}
      </div>
      <p class="hint">{head.head ? words.head.exportHint : words.export.hint}</p>
      <div role="alert">{problem.value !== "" && <p class="bad">{problem.value}</p>}</div>
    </section>
  );
}
