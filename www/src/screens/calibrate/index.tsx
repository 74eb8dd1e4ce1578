import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { announcement } from "../../live";
import { saveText } from "../../save";
import { calibrate as words } from "../../text/calibrate";
import { all, one } from "../../store/kept";
import type { Table } from "../../types";
import type { Failure } from "../../worker/protocol";
import { useDrop } from "../../ui/drop";
import type { ScreenProps } from "..";
import { Desk, forget, newId, save, saved } from "./desk";
import { add, change, isScale, keyOfEngine, labelled, mappingOf, nextUnrated, outside, ownOf, readSaved, rowsOf, without, writeSaved, type Example, type Mapping, type Saved } from "./labels";
import { Outcome } from "./outcome";
import "./style.css";

/** Own labels set the judge right: rate, read, fit, and see whether it helped. */
export default function Calibrate({ engine, active }: ScreenProps) {
  const desk = useMemo(() => new Desk(engine), []);
  const dragging = useDrop(active, ([file]) => file && void openFile(desk, file));
  const trouble = desk.unkept.value;
  return (
    <>
      <section class="card calibrate-intro" aria-labelledby="calibrate-heading">
        <h2 id="calibrate-heading">{words.heading}</h2>
        <p>{words.intro}</p>
        <p class="hint">{words.stays}</p>
        {trouble !== null && <p class="note" role="status">{trouble.trouble === "denied" ? words.denied : words.storeFailed(trouble.message)}</p>}
        <Settings desk={desk} />
      </section>
      <div class="calibrate-bench">
        <AddPanel desk={desk} />
        <RatePanel desk={desk} />
      </div>
      <ListPanel desk={desk} />
      <FitPanel desk={desk} />
      <SavedPanel desk={desk} />
      {dragging.value && <div class="drop" aria-hidden="true">{words.add.file}</div>}
    </>
  );
}

function Settings({ desk }: { desk: Desk }) {
  const { aspect, min, max } = desk.work.value;
  const { builtin } = desk.engine.state.value;
  const asked = useSignal({ min: String(min), max: String(max) });
  const bad = useSignal(false);
  const setScale = (part: Partial<{ min: string; max: string }>) => {
    asked.value = { ...asked.value, ...part };
    const scale = { min: Number(asked.value.min), max: Number(asked.value.max) };
    bad.value = asked.value.min.trim() === "" || asked.value.max.trim() === "" || !isScale(scale.min, scale.max);
    if (!bad.value) desk.set({ ...desk.work.value, ...scale });
  };
  // The stored list may come with a scale of its own.
  useEffect(() => {
    if (!bad.value) asked.value = { min: String(min), max: String(max) };
  }, [min, max]);
  const outsiders = outside(desk.work.value);
  return (
    <fieldset class="calibrate-settings">
      <legend>{words.settings.heading}</legend>
      <label>
        {words.settings.aspect}
        <select value={aspect} onChange={(event) => desk.set({ ...desk.work.value, aspect: event.currentTarget.value })}>
          <option value="overall">{words.settings.overall}</option>
          {builtin.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
        </select>
      </label>
      {(["min", "max"] as const).map((end) => (
        <label key={end}>
          {words.settings[end]}
          <input type="number" step="1" value={asked.value[end]} aria-invalid={bad.value ? "true" : undefined} aria-describedby="calibrate-scale-hint"
            onInput={(event) => setScale({ [end]: event.currentTarget.value })} />
        </label>
      ))}
      <p class={bad.value ? "field-error" : "hint"} id="calibrate-scale-hint">{bad.value ? words.settings.badScale : words.settings.scale}</p>
      {outsiders > 0 && <p class="note">{words.settings.outside(outsiders)}</p>}
    </fieldset>
  );
}

async function openFile(desk: Desk, file: File): Promise<void> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    desk.table.value = { name: file.name, table: await desk.engine.call("read_table", { bytes, name: file.name }).answer };
    desk.trouble.value = null;
  } catch (thrown) {
    desk.trouble.value = words.add.unreadable((thrown as Failure).message);
  }
}

/** Puts responses into the list and says what became of them. */
function take(desk: Desk, given: Parameters<typeof add>[1]): void {
  const { work, added, known } = add(desk.work.value, given, newId);
  const first = desk.work.value.examples.length;
  desk.set(work);
  if (added > 0) desk.at.value = first;
  announcement.value = [words.add.added(added), ...(known > 0 ? [words.add.known(known)] : [])].join(" ");
}

/** So many of the newest judgements are taken at once. */
const MOST_FROM_HISTORY = 200;

/** What was judged on this device, without labels. */
async function takeHistory(desk: Desk): Promise<void> {
  try {
    const heads = (await all()).filter(({ kind }) => kind === "judgement").slice(-MOST_FROM_HISTORY).reverse();
    const kept = await Promise.all(heads.map(({ id }) => one(id)));
    take(desk, kept.flatMap((found) => (found?.kind === "judgement" ? [{ prompt: found.prompt, response: found.response, reference: found.reference, label: null }] : [])));
  } catch (thrown) {
    desk.trouble.value = words.add.unreadable((thrown as Error).message);
  }
}

function AddPanel({ desk }: { desk: Desk }) {
  const fields = { prompt: useRef<HTMLTextAreaElement>(null), response: useRef<HTMLTextAreaElement>(null), reference: useRef<HTMLTextAreaElement>(null) };
  const missing = useSignal(false);
  const submit = () => {
    const [prompt, response, reference] = [fields.prompt, fields.response, fields.reference].map((field) => field.current!.value) as [string, string, string];
    missing.value = prompt.trim() === "" || response.trim() === "";
    if (missing.value) return (prompt.trim() === "" ? fields.prompt : fields.response).current!.focus();
    take(desk, [{ prompt, response, reference: reference.trim() === "" ? null : reference, label: null }]);
    // Several responses to one prompt are the usual case: the prompt stays.
    fields.response.current!.value = "";
    fields.response.current!.focus();
  };
  const open = desk.table.value;
  return (
    <section class="card" aria-labelledby="calibrate-add-heading">
      <h3 id="calibrate-add-heading">{words.add.heading}</h3>
      {(["prompt", "response", "reference"] as const).map((name) => (
        <div class="field" key={name}>
          <label for={`calibrate-${name}`}>{words.add[name]}</label>
          <textarea id={`calibrate-${name}`} ref={fields[name]} rows={name === "response" ? 4 : 2} dir="auto" spellcheck={false} autocomplete="off"
            aria-describedby={missing.value ? "calibrate-missing" : undefined} />
        </div>
      ))}
      {missing.value && <p class="field-error" id="calibrate-missing" role="alert">{words.add.missing}</p>}
      <div class="buttons">
        <button type="button" class="plain" onClick={submit}>{words.add.button}</button>
        <label class="file-pick">
          <input type="file" accept=".csv,.tsv,.json,.jsonl,.ndjson,.txt" data-testid="calibrate-file" aria-describedby="calibrate-file-hint" onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            event.currentTarget.value = "";
            if (file) void openFile(desk, file);
          }} />
          <span>{words.add.file}</span>
        </label>
        <button type="button" class="link" onClick={() => void takeHistory(desk)}>{words.add.history}</button>
      </div>
      <p class="hint" id="calibrate-file-hint">{words.add.fileHint}</p>
      {open && <MappingPanel key={open.name} desk={desk} name={open.name} table={open.table} />}
    </section>
  );
}

function MappingPanel({ desk, name, table }: { desk: Desk; name: string; table: Table }) {
  const mapping = useSignal<Mapping>(mappingOf(table));
  const labels = { prompt: words.add.prompt, response: words.add.response, reference: words.add.reference, human: words.add.label };
  const ready = mapping.value.prompt !== null && mapping.value.response !== null;
  const accept = () => {
    const { examples, incomplete, bad_labels } = rowsOf(table, mapping.value);
    take(desk, examples);
    const left = [...(incomplete > 0 ? [words.add.incomplete(incomplete)] : []), ...(bad_labels > 0 ? [words.add.badLabels(bad_labels)] : [])];
    desk.trouble.value = left.length > 0 ? left.join(" ") : null;
    desk.table.value = null;
  };
  return (
    <fieldset class="calibrate-mapping" data-testid="calibrate-mapping">
      <legend>{words.add.mapping(name, table.rows.length)}</legend>
      {(["prompt", "response", "reference", "human"] as const).map((role) => (
        <label key={role}>
          {labels[role]}
          <select value={mapping.value[role] ?? ""} onChange={(event) => (mapping.value = { ...mapping.value, [role]: event.currentTarget.value || null })}>
            <option value="">{words.add.none}</option>
            {table.columns.map((column) => <option key={column} value={column}>{column}</option>)}
          </select>
        </label>
      ))}
      {table.faults.length > 0 && (
        <>
          <p>{words.add.faults(table.faults.length)}</p>
          <ul class="calibrate-faults">{table.faults.slice(0, 20).map(({ line, message }) => <li key={line}>{message}</li>)}</ul>
        </>
      )}
      <div class="buttons">
        <button type="button" class="plain" aria-disabled={!ready} onClick={() => ready && accept()}>{words.add.take}</button>
        <button type="button" class="link" onClick={() => (desk.table.value = null)}>{words.add.drop}</button>
      </div>
    </fieldset>
  );
}

/** The labels that may be given, lowest first. */
const scaleOf = (min: number, max: number) => Array.from({ length: max - min + 1 }, (_, i) => min + i);

function RatePanel({ desk }: { desk: Desk }) {
  const box = useRef<HTMLDivElement>(null);
  const { examples, min, max } = desk.work.value;
  const example = desk.current.value;
  const at = desk.at.value;
  const move = (to: number) => (desk.at.value = Math.min(examples.length - 1, Math.max(0, to)));
  const rate = (label: number | null) => {
    if (!example) return;
    desk.set(change(desk.work.value, example.id, { label }));
    if (label === null) return;
    announcement.value = words.rate.given(String(label));
    desk.at.value = nextUnrated(desk.work.value, at);
  };
  const drop = () => {
    if (!example) return;
    desk.set(without(desk.work.value, example.id));
    announcement.value = words.rate.removed;
    box.current?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const label = /^\d$/.test(event.key) ? (event.key === "0" && max === 10 ? 10 : Number(event.key)) : null;
    if (label !== null && label >= min && label <= max) rate(label);
    else if (event.key === "n" || event.key === "N") move(at + 1);
    else if (event.key === "p" || event.key === "P") move(at - 1);
    else if (event.key === "Delete") drop();
    else return;
    event.preventDefault();
  };
  return (
    <section class="card" aria-labelledby="calibrate-rate-heading">
      <div class="card-head">
        <h3 id="calibrate-rate-heading">{words.rate.heading}</h3>
        <span class="hint" data-testid="calibrate-rated">{words.rate.rated(examples.filter(({ label }) => label !== null).length, examples.length)}</span>
      </div>
      {example === null ? <p class="hint">{words.rate.none}</p> : (
        <div class="calibrate-box" ref={box} tabIndex={0} role="group" aria-labelledby="calibrate-place" aria-describedby="calibrate-keys" onKeyDown={onKey} data-testid="calibrate-box">
          <p id="calibrate-place" class="calibrate-place">{words.rate.place(at + 1, examples.length)}</p>
          <dl class="calibrate-texts">
            <dt>{words.rate.prompt}</dt>
            <dd dir="auto">{example.prompt}</dd>
            <dt>{words.rate.response}</dt>
            <dd dir="auto">{example.response}</dd>
            {example.reference !== null && (
              <>
                <dt>{words.rate.reference}</dt>
                <dd dir="auto">{example.reference}</dd>
              </>
            )}
          </dl>
          <fieldset class="calibrate-labels">
            <legend>{words.rate.legend}</legend>
            {scaleOf(min, max).map((label) => (
              <label key={label} class={example.label === label ? "chosen" : undefined}>
                <input type="radio" name="calibrate-label" checked={example.label === label} onChange={() => desk.set(change(desk.work.value, example.id, { label }))} />
                {label}
              </label>
            ))}
          </fieldset>
          <div class="buttons">
            <button type="button" class="plain" aria-disabled={at === 0} onClick={() => move(at - 1)}>{words.rate.previous}</button>
            <button type="button" class="plain" aria-disabled={at + 1 >= examples.length} onClick={() => move(at + 1)}>{words.rate.next}</button>
            <button type="button" class="link" onClick={() => (desk.at.value = nextUnrated(desk.work.value, at))}>{words.rate.nextUnrated}</button>
            {example.label !== null && <button type="button" class="link" onClick={() => rate(null)}>{words.rate.clear}</button>}
            <button type="button" class="link" onClick={drop}>{words.rate.remove}</button>
          </div>
          <p class="hint" id="calibrate-keys">{words.rate.keys}</p>
        </div>
      )}
    </section>
  );
}

function ListPanel({ desk }: { desk: Desk }) {
  const sure = useSignal(false);
  const work = desk.work.value;
  const stamp = desk.stamp();
  if (work.examples.length === 0) return null;
  const ownText = (example: Example) => {
    const { reading } = example;
    if (reading === null || reading.stamp !== stamp) return words.list.unread;
    return ownOf(reading, work)?.toFixed(2) ?? words.list.unscored;
  };
  const exported = () =>
    saveText("retort-labels.json", `${JSON.stringify(work.examples.map(({ prompt, response, reference, label }) => ({ prompt, response, reference, label })), null, 1)}\n`, "application/json");
  return (
    <section class="card" aria-labelledby="calibrate-list-heading">
      <h3 id="calibrate-list-heading">{words.list.heading}</h3>
      <div class="calibrate-scroll" tabIndex={0} role="region" aria-labelledby="calibrate-list-heading">
        <table class="calibrate-table" data-testid="calibrate-list">
          <caption class="unseen">{words.list.caption}</caption>
          <thead>
            <tr>
              <th scope="col">{words.list.response}</th>
              <th scope="col" class="num">{words.list.label}</th>
              <th scope="col" class="num">{words.list.own}</th>
            </tr>
          </thead>
          <tbody>
            {work.examples.map((example, at) => {
              const title = `${example.prompt.slice(0, 60)} · ${example.response.slice(0, 60)}`;
              return (
                <tr key={example.id} aria-current={at === desk.at.value ? "true" : undefined}>
                  <td><button type="button" class="link" dir="auto" aria-label={words.list.open(title)} onClick={() => (desk.at.value = at)}>{title}</button></td>
                  <td class="num">{example.label ?? "–"}</td>
                  <td class="num">{ownText(example)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <div class="buttons">
        <button type="button" class="plain" onClick={exported}>{words.list.export}</button>
        {sure.value ? (
          <>
            <span>{words.list.clearSure}</span>
            <button type="button" class="plain" onClick={() => {
              sure.value = false;
              desk.set({ ...desk.work.value, examples: [] });
            }}>{words.list.clearYes}</button>
            <button type="button" class="link" onClick={() => (sure.value = false)}>{words.list.clearNo}</button>
          </>
        ) : <button type="button" class="link" onClick={() => (sure.value = true)}>{words.list.clear}</button>}
      </div>
    </section>
  );
}

function FitPanel({ desk }: { desk: Desk }) {
  const phase = desk.phase.value;
  const stamp = desk.stamp();
  const have = labelled(desk.work.value).length;
  const why = have < 4 ? words.fit.few(have) : stamp === null ? words.fit.waiting : null;
  const faults = desk.faults.value;
  return (
    <section class="card" aria-labelledby="calibrate-fit-heading">
      <h3 id="calibrate-fit-heading">{words.fit.heading}</h3>
      <div class="buttons">
        <button type="button" class="primary" aria-disabled={phase.kind !== "idle" || why !== null} aria-describedby="calibrate-fit-note" onClick={() => why === null && void desk.run()}>
          {desk.readout.value === null ? words.fit.button : words.fit.again}
        </button>
        {phase.kind === "reading" && <button type="button" class="plain" onClick={() => desk.cancel()}>{words.fit.cancel}</button>}
      </div>
      <p id="calibrate-fit-note" role="status" data-testid="calibrate-fit-note">
        {phase.kind === "reading" ? words.fit.reading(phase.done, phase.all) : phase.kind === "fitting" ? words.fit.fitting : (desk.trouble.value ?? why ?? "")}
      </p>
      {phase.kind === "reading" && <progress aria-label={words.fit.progress} max={phase.all} value={phase.done} />}
      {faults !== null && <p class="note">{words.fit.unread(faults.count, faults.why)}</p>}
      {desk.readout.value !== null && <Outcome desk={desk} readout={desk.readout.value} />}
    </section>
  );
}

function SavedPanel({ desk }: { desk: Desk }) {
  const gone = useSignal<Saved | null>(null);
  const trouble = useSignal<string | null>(null);
  const { model, adapter, builtin } = desk.engine.state.value;
  const key = model.phase === "ready" ? keyOfEngine(model.info, adapter.applied) : null;
  const aspectName = (aspect: string) => (aspect === "overall" ? words.settings.overall : (builtin.find(({ id }) => id === aspect)?.name ?? aspect));
  const open = async (file: File) => {
    try {
      const one = readSaved(await file.text(), newId);
      await save(one);
      trouble.value = null;
      announcement.value = words.saved.imported(one.name);
    } catch (thrown) {
      trouble.value = words.saved.bad(file.name, (thrown as Error).message);
    }
  };
  return (
    <section class="card" aria-labelledby="calibrate-saved-heading">
      <h3 id="calibrate-saved-heading">{words.saved.heading}</h3>
      {saved.value.length === 0 ? <p class="hint">{words.saved.none}</p> : (
        <div class="calibrate-scroll" tabIndex={0} role="region" aria-labelledby="calibrate-saved-heading">
          <table class="calibrate-table" data-testid="calibrate-saved">
            <caption class="unseen">{words.saved.caption}</caption>
            <thead>
              <tr>
                <th scope="col">{words.saved.name}</th>
                <th scope="col">{words.saved.of}</th>
                <th scope="col" class="num">{words.saved.n}</th>
                <th scope="col">{words.saved.helps}</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {saved.value.map((one) => (
                <tr key={one.id}>
                  <th scope="row" dir="auto">{one.name}</th>
                  <td>{one.model}, {aspectName(one.aspect)} <span class="hint">({one.key === key ? words.saved.fits : words.saved.other})</span></td>
                  <td class="num">{one.readout.n}</td>
                  <td>{one.readout.helps ? words.saved.yes : words.saved.no}</td>
                  <td>
                    <button type="button" class="link" aria-label={words.saved.export(one.name)} onClick={() => saveText(`retort-readout-${one.name.replace(/[^\p{L}\p{N}]+/gu, "-")}.json`, writeSaved(one), "application/json")}>{words.saved.exportShort}</button>{" "}
                    <button type="button" class="link" aria-label={words.saved.remove(one.name)} onClick={() => {
                      gone.value = one;
                      announcement.value = words.saved.removed(one.name);
                      void forget(one.id);
                    }}>{words.saved.removeShort}</button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {gone.value !== null && (
        <p class="note">
          {words.saved.removed(gone.value.name)}{" "}
          <button type="button" class="link" onClick={() => {
            void save(gone.value!);
            gone.value = null;
          }}>{words.saved.undo}</button>
        </p>
      )}
      {trouble.value !== null && <p class="field-error" role="alert">{trouble.value}</p>}
      <label class="file-pick">
        <input type="file" accept=".json" data-testid="calibrate-import" onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (file) void open(file);
        }} />
        <span>{words.saved.import}</span>
      </label>
    </section>
  );
}
