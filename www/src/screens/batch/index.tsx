import "./style.css";
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { formatCount } from "../../format";
import { amend, route } from "../../router";
import { watch } from "../../store";
import { batchText as words } from "../../text/batch";
import { useDrop } from "../../ui/drop";
import { Confirm } from "../history/confirm";
import { whenOf } from "../history/when";
import type { ScreenProps } from "..";
import { AgreementPart } from "./agreement";
import { Batch } from "./batch";
import { Charts } from "./charts";
import { Exports } from "./exports";
import { Results } from "./results-table";
import { Running } from "./running";
import { Setup } from "./setup";
import { allBatches, removeBatch } from "./store";
import type { BatchHead } from "./types";

/** A whole file, judged row by row. */
export default function BatchScreen({ engine, active }: ScreenProps) {
  const batch = useMemo(() => new Batch(engine), []);
  const dragging = useDrop(active, (files) => {
    if (files[0]) void batch.read(files[0]);
  });
  const asked = route.value.screen === "batch" ? route.value.params.get("id") : null;
  const head = batch.head.value;
  // A link, or a reload, says which batch is meant; what is open and running is never taken away by it.
  useEffect(() => {
    if (asked !== null && asked !== batch.head.value?.id && !batch.busy) void batch.open(asked);
  }, [asked]);
  const open = head !== null && batch.unkept.value !== "incognito" ? head.id : undefined;
  useEffect(() => {
    if (active && (open !== undefined || batch.draft.value !== null)) amend({ id: open });
  }, [active, open, batch.draft.value]);

  return (
    <>
      <section class="card batch" aria-labelledby="batch-heading">
        <h2 id="batch-heading">{words.heading}</h2>
        <p>{words.intro}</p>
        {!batch.busy && (
          <div class="file-row">
            <label class="file-pick">
              <input type="file" accept=".csv,.tsv,.json,.jsonl,.ndjson" data-testid="batch-file" onChange={(event) => {
                const input = event.currentTarget;
                const picked = input.files?.[0];
                if (picked) void batch.read(picked);
                // So that choosing the same file again counts as a choice.
                input.value = "";
              }} />
              <span>{head || batch.draft.value ? words.another : words.pick}</span>
            </label>
            <span class="hint">{batch.reading.value ? words.reading : words.pickHint}</span>
          </div>
        )}
        <div role="alert">
          {batch.problem.value !== null && (
            <div class="bad" data-testid="batch-problem"><p><strong>{words.notRead}.</strong></p><p>{batch.problem.value}</p></div>
          )}
        </div>
        {head === null && batch.draft.value === null && <Saved batch={batch} />}
      </section>
      {batch.draft.value && <Setup engine={engine} batch={batch} />}
      {head && (
        <>
          <Running batch={batch} />
          <Results engine={engine} batch={batch} key={`table ${head.id}`} />
          <Charts engine={engine} batch={batch} key={`charts ${head.id}`} />
          <AgreementPart engine={engine} batch={batch} key={`agreement ${head.id}`} />
          <Exports engine={engine} batch={batch} />
        </>
      )}
      {dragging.value && <div class="drop" aria-hidden="true">{words.drop}</div>}
    </>
  );
}

function Saved({ batch }: { batch: Batch }) {
  const heads = useSignal<BatchHead[]>([]);
  useEffect(() => {
    const refresh = () => void allBatches().then((got) => (heads.value = got.reverse()), () => undefined);
    refresh();
    return watch("batches", refresh);
  }, []);
  if (heads.value.length === 0) return null;
  return (
    <section aria-labelledby="batch-saved-heading">
      <h3 id="batch-saved-heading">{words.saved.heading}</h3>
      <ul class="batch-saved">
        {heads.value.map((head) => (
          <li key={head.id} data-testid="saved-batch">
            <div>
              <strong dir="auto">{head.name}</strong>
              <p class="hint">{words.saved.standing(formatCount(head.done), formatCount(head.rows), whenOf(head.at))}</p>
            </div>
            <button type="button" class="plain" onClick={() => void batch.open(head.id)}>{words.saved.open(head.name)}</button>
            <Confirm label={words.saved.deleteOf(head.name)} question={words.saved.confirm(head.name)} onYes={() => removeBatch(head.id).catch(() => undefined)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
