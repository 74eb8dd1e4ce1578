import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../../engine";
import { formatBytes } from "../../format";
import { announcement } from "../../live";
import { deviceMemory, fitOf, memoryFor } from "../../memory";
import { text } from "../../text";
import { models as words } from "../../text/models";
import type { StoredFile } from "../../worker/protocol";

/** What lies in this browser's storage: load it, delete it. */
export function Stored({ engine, active }: { engine: EngineClient; active: boolean }) {
  const { stored, forgotten } = engine.state.value;
  const sure = useSignal(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const space = useSignal<{ used: number; quota: number; persisted: boolean } | null>(null);
  const total = stored?.files.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
  useEffect(() => {
    if (active) void spaceNow().then((found) => (space.value = found));
  }, [active, total]);
  useEffect(() => {
    if (stored?.freed != null) announcement.value = words.stored.freed(formatBytes(stored.freed));
  }, [stored?.freed, stored?.files.length]);
  // "Delete all" answers with how much it freed; the list is asked anew.
  useEffect(() => {
    if (forgotten !== null) engine.listStored();
  }, [forgotten]);
  // The button that was pressed is gone, so the focus goes to what comes before it.
  const removed = (work: () => void) => {
    work();
    heading.current?.focus();
  };
  return (
    <section class="card" aria-labelledby="models-stored-heading" data-testid="models-stored">
      <div class="card-head">
        <h2 id="models-stored-heading" ref={heading} tabIndex={-1}>{words.stored.heading}</h2>
        {stored && stored.files.length > 0 && <span class="hint figures">{words.stored.total(stored.files.length, formatBytes(total))}</span>}
      </div>
      {stored === null && <p class="hint">{words.stored.loading}</p>}
      {stored?.files.length === 0 && <p>{words.stored.none}</p>}
      {stored && stored.files.length > 0 && (
        <ul class="models-list" aria-label={words.stored.caption}>
          {stored.files.map((file) => (
            <Entry key={`${file.sha256}${file.finished}`} engine={engine} file={file} onDelete={() => removed(() => engine.deleteStored(file.sha256))} />
          ))}
        </ul>
      )}
      {stored?.error && (
        <p class="note" role="alert" data-testid="models-problem">{stored.error.message} {text.advice[stored.error.code]}</p>
      )}
      {stored?.freed != null && <p class="hint">{words.stored.freed(formatBytes(stored.freed))}</p>}
      {space.value && (
        <p class="hint">
          {words.stored.quota(formatBytes(space.value.used), formatBytes(space.value.quota))}{" "}
          {space.value.persisted ? words.stored.persistent : words.stored.evictable}
        </p>
      )}
      {total > 0 && !sure.value && (
        <button type="button" class="link" onClick={() => (sure.value = true)}>{words.stored.deleteAll}</button>
      )}
      {sure.value && (
        <div class="note" role="group" aria-label={words.stored.deleteAll}>
          <p>{words.stored.sure(formatBytes(total))}</p>
          <div class="buttons">
            <button type="button" class="plain" onClick={() => removed(() => { sure.value = false; engine.forgetModels(); })}>{words.stored.yes}</button>
            <button type="button" class="link" onClick={() => removed(() => (sure.value = false))}>{words.stored.no}</button>
          </div>
        </div>
      )}
    </section>
  );
}

function Entry({ engine, file, onDelete }: { engine: EngineClient; file: StoredFile; onDelete: () => void }) {
  const { model, presets, backend } = engine.state.value;
  // What an earlier version stored has no name; the server may know it.
  const offered = [...presets, ...presets.flatMap(({ adapters }) => adapters)].find(({ sha256 }) => sha256 === file.sha256);
  const isAdapter = file.kind === "adapter" || (file.kind === null && presets.some(({ adapters }) => adapters.some(({ sha256 }) => sha256 === file.sha256)));
  const title = file.title || file.name || offered?.title || (file.finished ? words.stored.unnamed : words.stored.unfinished);
  const loaded = model.phase === "ready" && model.info.model.sha256 === file.sha256;
  const needed = memoryFor(file.bytes);
  const fit = fitOf(needed, deviceMemory());
  const licence = file.licence || offered?.licence || "";
  return (
    <li class="models-entry" data-testid="models-entry" data-finished={file.finished}>
      <div class="models-what">
        <p class="models-title" dir="auto">
          {title}
          {loaded && <span class="badge">{words.stored.loaded}</span>}
          {isAdapter && <span class="badge">{words.stored.adapter}</span>}
        </p>
        <p class="hint figures">
          {formatBytes(file.bytes)} · {words.stored.when}: {file.at === null ? words.stored.whenUnknown : new Date(file.at).toLocaleString()}
        </p>
        {!file.finished && <p class="hint">{words.stored.unfinishedHint}</p>}
        {(file.source !== "" || licence !== "") && (
          <p class="hint">{[file.source && words.stored.from(file.source), licence && words.stored.licence(licence)].filter(Boolean).join(" · ")}</p>
        )}
        {file.finished && !isAdapter && <p class="hint">{words.memory.needs(formatBytes(needed))}.{file.profile && ` ${words.profile.name[file.profile]}.`}</p>}
        {file.finished && !isAdapter && fit !== "fine" && <p class="note">{words.memory[fit]}</p>}
      </div>
      <div class="models-do">
        {file.finished && !isAdapter && !loaded && (
          <button type="button" class="plain" aria-label={words.stored.loadOf(title)} onClick={() => engine.load({ kind: "stored", sha256: file.sha256 }, backend)}>
            {words.stored.load}
          </button>
        )}
        <button type="button" class="link" aria-label={words.stored.deleteOf(title)} onClick={onDelete}>{words.stored.delete}</button>
      </div>
    </li>
  );
}

async function spaceNow(): Promise<{ used: number; quota: number; persisted: boolean } | null> {
  try {
    const { usage, quota } = await navigator.storage.estimate();
    if (!usage || !quota) return null;
    return { used: usage, quota, persisted: await navigator.storage.persisted() };
  } catch {
    return null;
  }
}
