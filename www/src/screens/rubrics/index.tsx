import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { keepEntry, library, unkept, watchLibrary, type Entry, type EntryKind } from "../../library";
import { announcement } from "../../live";
import { amend, route } from "../../router";
import { unpackState } from "../../share";
import { rubricsText as words } from "../../text/rubrics";
import type { Rubric } from "../../types";
import { useDrop } from "../../ui/drop";
import type { Failure } from "../../worker/protocol";
import type { ScreenProps } from "..";
import { idOf, readShared, type SharedEntry } from "./draft";
import { Editor, type Opened } from "./editor";
import { newRubric } from "./form";
import "./style.css";

/** The library of rubrics and checklists, and the editor of one of them. */
export default function Rubrics({ engine, active }: ScreenProps) {
  const opened = useSignal<Opened | null>(null);
  const trouble = useSignal<string | null>(null);
  const shared = useSignal<SharedEntry | { failed: string } | null>(null);
  const gone = useSignal<Entry | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(watchLibrary, []);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => changed.value && opened.value !== null && event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, []);
  const link = active ? route.value.params.get("r") : null;
  useEffect(() => {
    if (link === null) return;
    void unpackState(link).then(
      (value) => (shared.value = readShared(value) ?? { failed: words.shared.damaged("") }),
      (thrown: unknown) => (shared.value = { failed: words.shared.damaged((thrown as Error).message) }),
    );
  }, [link]);
  /** Each opening is an editor of its own; saving does not make it another one. */
  const opening = useSignal(0);
  const changed = useSignal(false);
  /** What was to be opened while something is not saved. */
  const waiting = useSignal<{ next: Opened } | null>(null);
  const open = (next: Opened | null) => {
    if (next !== null && opened.value !== null && changed.value && waiting.value?.next !== next) {
      waiting.value = { next };
      return;
    }
    waiting.value = null;
    changed.value = false;
    opening.value += 1;
    opened.value = next;
    trouble.value = null;
  };
  const openFile = async (file: File) => {
    const source = (await file.text()).replace(/^\uFEFF/, "");
    // A rubric or a checklist: whichever it can be read as.
    try {
      const rubrics = await engine.call("read_rubrics", { text: source, name: file.name }).answer;
      // Another tool's file is kept in our own form, so that it can be edited.
      const own = await engine.call("write_rubrics", { rubrics, format: "toml" }).answer;
      const foreign = !/^\s*(\[\[?rubric|id\s*=|name\s*=|#)/m.test(source) && !source.includes('"options"');
      open({ id: null, kind: "rubric", title: file.name.replace(/\.\w+$/, ""), source: foreign ? own : source, versions: [] });
    } catch (asRubric) {
      try {
        await engine.call("read_checklist", { text: source, name: file.name }).answer;
        open({ id: null, kind: "checklist", title: file.name.replace(/\.\w+$/, ""), source, versions: [] });
      } catch {
        trouble.value = words.list.unreadable(file.name, (asRubric as Failure).message);
        return;
      }
    }
    announcement.value = words.list.opened(file.name);
  };
  const dragging = useDrop(active, ([file]) => file && void openFile(file));
  const fresh = async (rubrics: Rubric[], title: string) => {
    try {
      const source = await engine.call("write_rubrics", { rubrics, format: "toml" }).answer;
      open({ id: null, kind: "rubric", title, source, versions: [] });
    } catch (thrown) {
      trouble.value = (thrown as Failure).message;
    }
  };
  const copy = (rubric: Rubric) => {
    const { ability: _, ...rest } = rubric;
    // Judge tells rubrics apart by their ids, so two copies need two.
    const taken = library.value.flatMap(({ versions }) => [...versions[0]!.source.matchAll(/\bid"?\s*[=:]\s*"([^"]+)"/g)].map((found) => found[1]!));
    void fresh([{ ...rest, ability: null, id: idOf(`my ${rubric.name}`, taken) }], rubric.name);
  };
  const newChecklist = async () => {
    const source = await engine.call("write_checklist", { checklist: { items: [{ id: "item-1", question: words.example.question, origin: "person" }] }, format: "toml" }).answer;
    open({ id: null, kind: "checklist", title: "", source, versions: [] });
  };
  const dropLink = () => {
    shared.value = null;
    amend({});
  };
  const stored = unkept.value;
  return (
    <>
      <section class="card rubrics-library" aria-labelledby="rubrics-heading">
        <h2 id="rubrics-heading" ref={heading} tabIndex={-1}>{words.heading}</h2>
        <p>{words.intro}</p>
        {stored !== null && <p class="note" role="status">{stored.trouble === "denied" ? words.denied : words.unstored(stored.message)}</p>}
        {shared.value !== null && (
          <section class="rubrics-shared" aria-labelledby="rubrics-shared-heading" data-testid="rubrics-shared">
            {"failed" in shared.value ? <p class="field-error" role="alert" id="rubrics-shared-heading">{shared.value.failed}</p> : (
              <>
                <h3 id="rubrics-shared-heading" dir="auto">{words.shared.heading(shared.value.title)}</h3>
                <p>{words.shared.body}</p>
                <pre dir="auto" tabIndex={0}>{shared.value.source}</pre>
              </>
            )}
            <div class="buttons">
              {!("failed" in shared.value) && (
                <button type="button" class="plain" onClick={() => {
                  const { kind, title, source } = shared.value as SharedEntry;
                  open({ id: null, kind, title, source, versions: [] });
                  dropLink();
                }}>{words.shared.keep}</button>
              )}
              <button type="button" class="link" onClick={dropLink}>{words.shared.drop}</button>
            </div>
          </section>
        )}
        <div class="buttons">
          <button type="button" class="plain" onClick={() => void fresh([newRubric(words.example.rubric.name, [])], "")}>{words.list.newRubric}</button>
          <button type="button" class="plain" onClick={() => void newChecklist()}>{words.list.newChecklist}</button>
          <label class="file-pick">
            <input type="file" accept=".toml,.json,.jsonl,.txt,.csv" data-testid="rubrics-file" aria-describedby="rubrics-open-hint" onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              event.currentTarget.value = "";
              if (file) void openFile(file);
            }} />
            <span>{words.list.open}</span>
          </label>
        </div>
        <p class="hint" id="rubrics-open-hint">{words.list.openHint}</p>
        {trouble.value !== null && <p class="field-error rubrics-trouble" role="alert">{trouble.value}</p>}
        <h3>{words.list.own}</h3>
        {library.value.length === 0 ? <p class="hint">{words.list.none}</p> : (
          <ul class="rubrics-list" data-testid="rubrics-own">
            {library.value.map((entry) => (
              <li key={entry.id} aria-current={entry.id === opened.value?.id ? "true" : undefined}>
                <button type="button" class="link" dir="auto" onClick={() => open({ id: entry.id, kind: entry.kind, title: entry.title, source: entry.versions[0]!.source, versions: entry.versions })}>{entry.title}</button>
                <span class="hint">{words.list.kind[entry.kind as EntryKind]}, {words.list.edited(new Date(entry.versions[0]!.at).toLocaleDateString())}</span>
              </li>
            ))}
          </ul>
        )}
        {gone.value !== null && (
          <p class="note">
            {words.editor.removed(gone.value.title)}{" "}
            <button type="button" class="link" onClick={() => {
              void keepEntry(gone.value!);
              gone.value = null;
            }}>{words.editor.undo}</button>
          </p>
        )}
        <details class="more">
          <summary>{words.list.builtin}</summary>
          <p class="hint">{words.list.builtinHint}</p>
          <ul class="rubrics-list" data-testid="rubrics-builtin">
            {engine.state.value.builtin.map((rubric) => (
              <li key={rubric.id}>
                <strong>{rubric.name}</strong>
                <span class="hint">{rubric.question ?? rubric.criterion}</span>
                <button type="button" class="link" aria-label={words.list.copy(rubric.name)} onClick={() => copy(rubric)}>{words.list.copyShort}</button>
              </li>
            ))}
          </ul>
        </details>
      </section>
      {waiting.value !== null && (
        <p class="note" role="alert" data-testid="rubrics-waiting">
          {words.editor.unsaved}{" "}
          <button type="button" class="plain" onClick={() => open(waiting.value!.next)}>{words.editor.discardFor(waiting.value.next.title || words.editor.untitled)}</button>{" "}
          <button type="button" class="link" onClick={() => (waiting.value = null)}>{words.editor.stay}</button>
        </p>
      )}
      {opened.value !== null && (
        <Editor key={opening.value} engine={engine} opened={opened.value} changed={changed}
          onClose={() => {
            open(null);
            heading.current?.focus();
          }}
          onSaved={(entry) => {
            // The editor stays as it is: only what it stands for has a name now.
            if (opened.value && opened.value.id === null) Object.assign(opened.value, { id: entry.id });
          }}
          onDeleted={(entry) => {
            gone.value = entry;
            open(null);
            heading.current?.focus();
          }} />
      )}
      {dragging.value && <div class="drop" aria-hidden="true">{words.list.open}</div>}
    </>
  );
}
