import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { diffLines } from "diff";
import type { EngineClient } from "../../engine";
import { dropEntry, freeTitle, keepEntry, library, wanted, withVersion, type Entry, type EntryKind, type Version } from "../../library";
import { announcement } from "../../live";
import { go, hrefOf } from "../../router";
import { saveText } from "../../save";
import { packState } from "../../share";
import { rubricsText as words } from "../../text/rubrics";
import type { Rubric } from "../../types";
import type { Failure } from "../../worker/protocol";
import { faultsOf, formatOf, type Fault, type SharedEntry } from "./draft";
import { RubricForm } from "./form";
import { SourceEditor } from "./source-editor";

/** What is opened: an entry of the library, or something that is not kept yet. */
export interface Opened {
  /** Null until it is saved for the first time. */
  id: string | null;
  kind: EntryKind;
  title: string;
  source: string;
  versions: Version[];
}

type Format = ReturnType<typeof formatOf>;

const FORMATS: Format[] = ["toml", "json"];

/** A moment of quiet before the source is read. */
const PAUSE_MS = 300;

const when = (at: number) => new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

export function Editor({ engine, opened, changed, onClose, onSaved, onDeleted }: {
  engine: EngineClient;
  opened: Opened;
  /** Whether there is something that is not saved. */
  changed: Signal<boolean>;
  onClose: () => void;
  onSaved: (entry: Entry) => void;
  onDeleted: (entry: Entry) => void;
}) {
  const source = useSignal(opened.source);
  const title = useSignal(opened.title);
  /** What the form shows: the rubrics of the source as it was last readable. */
  const rubrics = useSignal<Rubric[] | null>(null);
  const items = useSignal<number | null>(null);
  const faults = useSignal<Fault[]>([]);
  const warnings = useSignal<string[]>([]);
  /** Why the form's rubrics cannot be written. */
  const unwritable = useSignal<string | null>(null);
  const goal = useSignal<{ line: number; column: number } | null>(null);
  const note = useSignal<{ text: string; bad: boolean } | null>(null);
  const link = useSignal<string | null>(null);
  const compared = useSignal<Version | null>(null);
  const leaving = useSignal(false);
  const titleField = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  /** What the form has and the source has not yet. */
  const unwritten = useRef<Rubric[] | null>(null);
  /** A later reading or writing makes an earlier one's answer worthless. */
  const turn = useRef(0);
  /** Of the source as it was last readable: half-typed TOML may look like JSON, and another format is another editor. */
  const readable = useSignal(formatOf(opened.source));
  const format = readable.value;
  const entry = library.value.find(({ id }) => id === opened.id) ?? null;
  const versions = entry?.versions ?? opened.versions;

  const read = async () => {
    const mine = ++turn.current;
    const name = `${title.value.trim() || words.editor.untitled}.${format}`;
    try {
      if (opened.kind === "rubric") {
        const found = await engine.call("read_rubrics", { text: source.value, name }).answer;
        if (mine !== turn.current) return;
        rubrics.value = found;
      } else {
        const found = await engine.call("read_checklist", { text: source.value, name }).answer;
        if (mine !== turn.current) return;
        items.value = found.checklist.items.length;
        warnings.value = found.warnings;
      }
      faults.value = [];
      unwritable.value = null;
      readable.value = formatOf(source.value);
    } catch (thrown) {
      if (mine !== turn.current) return;
      faults.value = faultsOf((thrown as Failure).message);
      warnings.value = [];
    }
  };
  const typed = (next: string) => {
    if (next === source.value) return;
    source.value = next;
    unwritten.current = null;
    note.value = null;
    if (timer.current) clearTimeout(timer.current);
    timer.current = setTimeout(() => void read(), PAUSE_MS);
  };
  const write = async () => {
    const next = unwritten.current;
    if (next === null) return;
    const mine = turn.current;
    try {
      const written = await engine.call("write_rubrics", { rubrics: next, format: readable.value }).answer;
      if (mine !== turn.current) return;
      unwritten.current = null;
      source.value = written;
      faults.value = [];
      unwritable.value = null;
    } catch (thrown) {
      if (mine === turn.current) unwritable.value = (thrown as Failure).message;
    }
  };
  /** The form speaks: the source is written anew from it. */
  const formed = (next: Rubric[]) => {
    rubrics.value = next;
    note.value = null;
    unwritten.current = next;
    changed.value = true;
    turn.current += 1;
    if (timer.current) clearTimeout(timer.current);
    timer.current = setTimeout(() => void write(), PAUSE_MS);
  };
  /** Whoever takes the source away takes what the form says now; whether it could be written. */
  const settled = async (): Promise<boolean> => {
    if (unwritten.current === null) return true;
    if (timer.current) clearTimeout(timer.current);
    await write();
    return unwritten.current === null;
  };
  useEffect(() => {
    changed.value = unwritten.current !== null || (versions[0]?.source ?? opened.source) !== source.value || (entry?.title ?? opened.title) !== title.value.trim();
  });
  // Before the next key is pressed.
  useLayoutEffect(() => titleField.current?.focus(), []);
  useEffect(() => {
    void read();
    return () => {
      turn.current += 1;
      if (timer.current) clearTimeout(timer.current);
    };
  }, []);

  const save = async () => {
    const wantedTitle = title.value.trim();
    if (wantedTitle === "") {
      note.value = { text: words.editor.noTitle, bad: true };
      titleField.current?.focus();
      return;
    }
    if (!(await settled())) return;
    if (versions[0]?.source === source.value && entry?.title === wantedTitle) {
      note.value = { text: words.editor.unchanged, bad: false };
      return;
    }
    const others = library.value.filter(({ id }) => id !== opened.id).map((one) => one.title);
    const next: Entry = { id: opened.id ?? crypto.randomUUID(), kind: opened.kind, title: freeTitle(wantedTitle, others), versions: withVersion(versions, source.value, Date.now()) };
    title.value = next.title;
    await keepEntry(next);
    note.value = { text: words.editor.saved(next.title), bad: false };
    onSaved(next);
  };
  const share = async () => {
    if (!(await settled())) return;
    try {
      const shared: SharedEntry = { kind: opened.kind, title: title.value.trim() || words.editor.untitled, source: source.value };
      const href = new URL(hrefOf("rubrics", { r: await packState(shared) }), location.href).href;
      try {
        await navigator.clipboard.writeText(href);
        link.value = null;
        note.value = { text: words.editor.linked, bad: false };
      } catch {
        link.value = href;
        note.value = { text: words.editor.linkShown, bad: false };
      }
    } catch (thrown) {
      note.value = { text: (thrown as Error).message, bad: true };
    }
  };
  /** In the format that it is written in it is saved as it stands, mistakes and remarks with it; in the other one it is written anew. */
  const download = async (wanted: Format) => {
    if (!(await settled())) return;
    const name = `${title.value.trim() || words.editor.untitled}.${wanted}`;
    try {
      saveText(name, wanted === readable.value ? source.value : await rewritten(wanted), wanted === "json" ? "application/json" : "text/plain");
      note.value = { text: wanted === readable.value ? words.editor.downloaded(name) : words.editor.rewritten(name), bad: false };
    } catch (thrown) {
      note.value = { text: words.editor.notWritten(words.editor.formats[wanted], (thrown as Failure).message), bad: true };
    }
  };
  const rewritten = async (wanted: Format): Promise<string> => {
    const given = { text: source.value, name: `${title.value.trim() || words.editor.untitled}.${readable.value}` };
    if (opened.kind === "rubric") return engine.call("write_rubrics", { rubrics: await engine.call("read_rubrics", given).answer, format: wanted }).answer;
    const { checklist } = await engine.call("read_checklist", given).answer;
    return engine.call("write_checklist", { checklist, format: wanted }).answer;
  };
  const use = async () => {
    if (!(await settled())) return;
    wanted.value = { kind: opened.kind, title: title.value.trim() || words.editor.untitled, source: source.value };
    go("judge");
  };
  const usable = faults.value.length === 0 && unwritable.value === null && (rubrics.value !== null || items.value !== null);
  const what = opened.kind === "rubric" ? words.editor.rubricsFound((rubrics.value ?? []).map(({ name }) => name)) : words.editor.itemsFound(items.value ?? 0);
  return (
    <section class="card rubrics-editor" aria-labelledby="rubrics-editor-heading" data-testid="rubrics-editor">
      <h3 id="rubrics-editor-heading" dir="auto">{words.editor.heading(title.value.trim() || words.editor.untitled)}</h3>
      <div class="field">
        <label for="rubrics-title">{words.editor.title}</label>
        <input id="rubrics-title" ref={titleField} type="text" dir="auto" maxLength={200} autocomplete="off" value={title.value} onInput={(event) => (title.value = event.currentTarget.value)} />
      </div>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void save()}>{words.editor.save}</button>
        <button type="button" class="plain" aria-disabled={!usable} onClick={() => usable && void use()}>{words.editor.use}</button>
        {FORMATS.map((one) => <button type="button" class="plain" key={one} onClick={() => void download(one)}>{words.editor.download(words.editor.formats[one])}</button>)}
        <button type="button" class="plain" onClick={() => void share()}>{words.editor.link}</button>
        <button type="button" class="link" onClick={() => (changed.value ? (leaving.value = true) : onClose())}>{words.editor.close}</button>
        {entry !== null && (
          <button type="button" class="link" onClick={() => {
            void dropEntry(entry.id);
            announcement.value = words.editor.removed(entry.title);
            onDeleted(entry);
          }}>{words.editor.remove}</button>
        )}
      </div>
      {leaving.value && (
        <p class="note" role="alert">
          {words.editor.unsaved}{" "}
          <button type="button" class="plain" onClick={onClose}>{words.editor.discard}</button>{" "}
          <button type="button" class="link" onClick={() => (leaving.value = false)}>{words.editor.stay}</button>
        </p>
      )}
      <p class={note.value?.bad ? "field-error" : "hint"} role="status" data-testid="rubrics-note">{note.value?.text ?? ""}</p>
      {link.value !== null && <input class="rubrics-link" type="text" readOnly value={link.value} aria-label={words.editor.linkShown} onFocus={(event) => event.currentTarget.select()} />}
      <div role="status" data-testid="rubrics-state" data-usable={usable}>
        {usable && <p class="good">{words.editor.fine(what)}</p>}
        {unwritable.value !== null && <p class="field-error">{words.editor.unwritable(unwritable.value)}</p>}
        {faults.value.length > 0 && (
          <>
            <p class="field-error">{words.editor.faults(faults.value.length)}</p>
            <ul class="rubrics-faults">
              {faults.value.map((fault, i) => (
                <li key={i}>
                  {fault.message}{" "}
                  {fault.line !== null && (
                    <button type="button" class="link" onClick={() => (goal.value = { line: fault.line!, column: fault.column ?? 1 })}>{words.editor.goTo(fault.line)}</button>
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
        {warnings.value.length > 0 && <p class="note">{words.editor.warnings} {warnings.value.join(" ")}</p>}
      </div>
      <div class={opened.kind === "rubric" ? "rubrics-sides" : undefined}>
        {opened.kind === "rubric" && (
          <section aria-labelledby="rubrics-form-heading">
            <h4 id="rubrics-form-heading">{words.editor.form}</h4>
            {faults.value.length > 0 ? <p class="note">{words.editor.broken}</p> : rubrics.value !== null && <RubricForm rubrics={rubrics.value} onChange={formed} />}
          </section>
        )}
        <section aria-labelledby="rubrics-source-heading">
          <h4 id="rubrics-source-heading">{words.editor.source}</h4>
          <SourceEditor source={source.value} current={() => source.peek()} format={format} faults={faults.value} goal={goal.value} onChange={typed} />
          <p class="hint">{words.editor.sourceHint}</p>
        </section>
      </div>
      <section aria-labelledby="rubrics-versions-heading">
        <h4 id="rubrics-versions-heading">{words.versions.heading}</h4>
        {versions.length === 0 ? <p class="hint">{words.versions.none}</p> : (
          <ul class="rubrics-versions" data-testid="rubrics-versions">
            {versions.map((version, at) => (
              <li key={version.at}>
                {words.versions.at(when(version.at))} {at === 0 && <span class="hint">({words.versions.now})</span>}{" "}
                <button type="button" class="link" aria-label={words.versions.compare(when(version.at))} onClick={() => (compared.value = version)}>{words.versions.compareShort}</button>{" "}
                <button type="button" class="link" aria-label={words.versions.restore(when(version.at))} onClick={() => {
                  typed(version.source);
                  announcement.value = words.versions.restored;
                }}>{words.versions.restoreShort}</button>
              </li>
            ))}
          </ul>
        )}
        {compared.value !== null && <Difference from={compared.value} to={source.value} onHide={() => (compared.value = null)} />}
      </section>
    </section>
  );
}

/** What changed, line by line; said and not only coloured. */
function Difference({ from, to, onHide }: { from: Version; to: string; onHide: () => void }) {
  const parts = diffLines(from.source, to);
  const same = parts.every(({ added, removed }) => !added && !removed);
  return (
    <section class="rubrics-difference" aria-labelledby="rubrics-difference-heading" data-testid="rubrics-difference">
      <h5 id="rubrics-difference-heading">{words.versions.difference(when(from.at))}</h5>
      {same ? <p>{words.versions.same}</p> : (
        <pre dir="auto" tabIndex={0}>
          {parts.map((part, i) =>
            part.added ? <ins key={i}><span class="unseen">{words.versions.added}</span>{part.value}</ins>
            : part.removed ? <del key={i}><span class="unseen">{words.versions.taken}</span>{part.value}</del>
            : <span key={i}>{part.value}</span>)}
        </pre>
      )}
      <button type="button" class="link" onClick={onHide}>{words.versions.hide}</button>
    </section>
  );
}
