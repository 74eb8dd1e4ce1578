import { useEffect, useRef } from "preact/hooks";
import { formatCount, formatDuration } from "../../format";
import { incognito } from "../../history";
import { announcement } from "../../live";
import { batchText as words } from "../../text/batch";
import type { Batch } from "./batch";

/** Where the batch stands, and what can be done about it. */
export function Running({ batch }: { batch: Batch }) {
  const head = batch.head.value!;
  const [phase, stop, unkept] = [batch.phase.value, batch.stop.value, batch.unkept.value];
  const failed = batch.lines.value.filter(({ state }) => state === "failed").length;
  const finished = head.done >= head.rows;
  const at = batch.at.value;
  const lineAt = (index: number) => formatCount(batch.rows[index]?.line ?? index + 1);
  useTold(batch);
  const whyStopped =
    stop === null ? (finished ? words.run.finished : words.run.interrupted)
      : stop.kind === "engine" ? words.run.engine(lineAt(stop.index), stop.message)
        : stop.kind === "differs" ? words.run.differs(stop.parts.map((part) => words.run.part[part]).join(words.run.and))
          : words.run.stop[stop.kind];
  return (
    <section class="card batch" aria-labelledby="batch-run-heading" data-testid="batch-run" data-phase={phase} data-stop={stop?.kind ?? ""} data-finished={finished}>
      <h2 id="batch-run-heading" dir="auto">{head.name}</h2>
      <progress value={head.done} max={Math.max(1, head.rows)} aria-label={words.run.label} />
      <p class="figures">
        <strong data-testid="batch-done">{words.run.done(formatCount(head.done), formatCount(head.rows))}</strong>
        {failed > 0 && `, ${words.run.failed(formatCount(failed))}`}
        {!finished && `, ${batch.left.value === null ? words.run.leftUnknown : words.run.left(formatDuration(batch.left.value))}`}
        {at !== null && `. ${words.run.at(lineAt(at))}`}
      </p>
      {phase === "idle" && <p role="status" class={finished || stop === null || stop.kind === "paused" || stop.kind === "cancelled" ? "" : "note"} data-testid="batch-standing">{whyStopped}</p>}
      {(unkept !== null || incognito.value) && (
        <p class="note" data-testid="batch-unkept">
          {unkept === null || unkept === "incognito" ? words.run.incognito : words.run.unkept(words.trouble(unkept.trouble, unkept.message))}
        </p>
      )}
      <div class="buttons">
        {phase !== "idle" ? (
          <>
            <button type="button" class="plain" aria-disabled={phase !== "running"} onClick={() => batch.pause()}>{phase === "pausing" ? words.run.pausing : words.run.pause}</button>
            <button type="button" class="plain" aria-disabled={phase === "cancelling"} onClick={() => batch.cancel()}>{phase === "cancelling" ? words.run.cancelling : words.run.cancel}</button>
          </>
        ) : (
          <>
            {!finished && <button type="button" class="primary" onClick={() => void batch.run()}>{words.run.goOn}</button>}
            {failed > 0 && <button type="button" class="plain" onClick={() => void batch.retryFailed()}>{words.run.retry}</button>}
            {stop?.kind === "differs" && <button type="button" class="plain" onClick={() => batch.again()}>{words.run.again}</button>}
            <button type="button" class="plain" onClick={() => batch.close()}>{words.run.close}</button>
          </>
        )}
      </div>
    </section>
  );
}

/** In quarters and at the end: enough to follow, not enough to drown in. */
function useTold(batch: Batch): void {
  const { done, rows, id } = batch.head.value!;
  const quarter = rows === 0 ? 0 : Math.floor((done / rows) * 4);
  const seen = useRef({ id, quarter });
  useEffect(() => {
    if (seen.current.id === id && seen.current.quarter !== quarter && batch.busy) announcement.value = words.run.announce(formatCount(done), formatCount(rows));
    seen.current = { id, quarter };
  }, [id, quarter]);
}
