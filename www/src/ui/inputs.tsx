import { useSignal, type ReadonlySignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useImperativeHandle, useRef } from "preact/hooks";
import type { EngineClient } from "../engine";
import { formatCount, formatPercent } from "../format";
import { announcement } from "../live";
import { faultOf, isHard } from "../asks";
import type { Modes, Reading } from "../reading";
import { text } from "../text";
import type { Rubric } from "../types";

export interface InputsHandle {
  /** The texts, or null after pointing out which one is missing. */
  read(): { prompt: string; response: string; reference?: string } | null;
}

interface Props {
  engine: EngineClient;
  reading: Reading;
  handle: RefObject<InputsHandle | null>;
  chosen: ReadonlySignal<Rubric[]>;
  onJudge: () => void;
}

const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function Inputs({ engine, reading, handle, chosen, onJudge }: Props) {
  const prompt = useRef<HTMLTextAreaElement>(null);
  const response = useRef<HTMLTextAreaElement>(null);
  const reference = useRef<HTMLTextAreaElement>(null);
  const missing = useSignal<"prompt" | "response" | null>(null);

  useImperativeHandle(handle, () => ({
    read() {
      const texts = { prompt: prompt.current!.value, response: response.current!.value };
      const empty = texts.prompt.trim() === "" ? "prompt" : texts.response.trim() === "" ? "response" : null;
      missing.value = empty;
      if (empty) {
        (empty === "prompt" ? prompt : response).current!.focus();
        announcement.value = empty === "prompt" ? text.input.promptMissing : text.input.responseMissing;
        return null;
      }
      const wanted = reference.current!.value;
      return wanted.trim() === "" ? texts : { ...texts, reference: wanted };
    },
  }), []);

  const edited = () => {
    missing.value = null;
    const texts = () => ({ prompt: prompt.current!.value, reference: reference.current!.value });
    const has = { prompt: texts().prompt.trim() !== "", reference: texts().reference.trim() !== "" };
    if (has.prompt !== reading.has.value.prompt || has.reference !== reading.has.value.reference) reading.has.value = has;
    reading.touched(texts);
  };
  return (
    <section class="card inputs" aria-labelledby="input-heading">
      <h2 id="input-heading">{text.input.heading}</h2>
      <Field id="prompt" label={text.input.prompt} hint={text.input.promptHint} rows={5} field={prompt} onEdit={edited}
        error={missing.value === "prompt" ? text.input.promptMissing : null} />
      <Field id="response" label={text.input.response} hint={text.input.responseHint} rows={10} field={response} onEdit={() => (missing.value = null)}
        error={missing.value === "response" ? text.input.responseMissing : null} />
      <Field id="reference" label={text.input.reference} hint={text.input.referenceHint} rows={2} field={reference} onEdit={edited} error={null} optional />
      <ModePicker reading={reading} />
      <JudgeBar engine={engine} reading={reading} chosen={chosen} onJudge={onJudge} />
    </section>
  );
}

interface FieldProps {
  id: string;
  label: string;
  hint: string;
  rows: number;
  field: RefObject<HTMLTextAreaElement | null>;
  error: string | null;
  optional?: boolean;
  onEdit: () => void;
}

/** The textarea keeps its own text, so that a very long paste is not copied on every key. */
function Field({ id, label, hint, rows, field, error, optional, onEdit }: FieldProps) {
  const length = useSignal(0);
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>
          {label}
          {optional && <span class="optional"> {text.input.optional}</span>}
        </label>
        {length.value > 0 && <span class="count">{text.input.characters(length.value, formatCount(length.value))}</span>}
      </div>
      <textarea id={id} ref={field} rows={rows} dir="auto" spellcheck={false} autocomplete="off"
        aria-describedby={error ? `${id}-error` : `${id}-hint`} aria-invalid={error ? "true" : undefined}
        onInput={(event) => {
          length.value = event.currentTarget.value.length;
          onEdit();
        }} />
      {error ? <p class="field-error" id={`${id}-error`}>{error}</p> : <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

const MODES: (keyof Modes)[] = ["skills", "checklist", "hard", "overall"];

/** The ways to judge: any of them together. */
function ModePicker({ reading }: { reading: Reading }) {
  const modes = reading.modes.value;
  const has = reading.has.value;
  const on = reading.asks.value.items.filter((listed) => listed.on && !isHard(listed.item) && faultOf(listed.item) === null).length;
  const hints: Record<keyof Modes, string> = {
    skills: text.modes.skillsHint,
    checklist: on > 0 ? text.modes.checklistHint(on) : text.modes.checklistNone,
    hard: has.reference ? text.modes.hardHint : text.modes.hardNeeds,
    overall: text.modes.overallHint,
  };
  return (
    <fieldset class="modes">
      <legend>{text.modes.legend}</legend>
      <div class="mode-grid">
        {MODES.map((mode) => (
          <div key={mode} class="mode" data-mode={mode}>
            <label>
              <input type="checkbox" checked={modes[mode]} aria-describedby={`mode-${mode}`}
                onChange={(event) => reading.setModes({ [mode]: event.currentTarget.checked })} />
              {text.modes[mode]}
            </label>
            <p class="hint" id={`mode-${mode}`}>{hints[mode]}</p>
          </div>
        ))}
      </div>
    </fieldset>
  );
}

/** What keeps Judge from doing anything, or null. */
function whyNot({ engine, reading, chosen }: Pick<Props, "engine" | "reading" | "chosen">): string | null {
  const { model, builtin } = engine.state.value;
  if (model.phase === "none") return text.judge.noModel;
  const { skills, checklist, hard, overall } = reading.modes.value;
  if (!skills && !checklist && !hard && !overall) return text.judge.noMode;
  // The list may not be made yet, which is seen to when Judge is pressed.
  const list = reading.asks.value;
  const empty = list.texts !== null && list.items.every((listed) => !listed.on || isHard(listed.item));
  const able = [
    skills && (chosen.value.length > 0 || builtin.length === 0),
    checklist && !empty,
    hard && reading.has.value.reference,
    overall,
  ];
  if (able.some(Boolean)) return null;
  return skills ? text.judge.noSkills : checklist ? text.judge.noItems : text.judge.noReference;
}

function JudgeBar({ engine, reading, chosen, onJudge }: Pick<Props, "engine" | "reading" | "chosen" | "onJudge">) {
  const { run, queued } = engine.state.value;
  const running = run?.phase === "running";
  const why = whyNot({ engine, reading, chosen });
  return (
    <div class="judge-place">
      <div class={running ? "judge-bar running" : "judge-bar"}>
        <div class="buttons">
          <button type="button" class="primary" aria-disabled={running || queued || why !== null} aria-describedby="judge-note" aria-keyshortcuts="Control+Enter Meta+Enter" onClick={() => why === null && onJudge()}>
            {text.judge.start}
            <kbd aria-hidden="true">{mac ? text.judge.shortcutMac : text.judge.shortcut}</kbd>
          </button>
          {running && (
            <button type="button" class="plain" onClick={() => engine.cancelJudge()} aria-disabled={run.cancelling}>
              {run.cancelling ? text.judge.cancelling : text.judge.cancel}
            </button>
          )}
          {queued && <button type="button" class="plain" onClick={() => engine.unqueue()}>{text.judge.unqueue}</button>}
        </div>
        <div class="judge-state" id="judge-note">
          {running ? (
            <>
              <progress aria-label={text.judge.progressLabel} max={run.total_tokens || 1} value={run.total_tokens > 0 ? run.done_tokens : undefined} />
              <span class="figures">
                {run.total_tokens > 0 ? text.judge.reading(formatPercent(run.done_tokens / run.total_tokens)) : text.judge.planning}
              </span>
            </>
          ) : queued ? (
            <span>{text.judge.queued}</span>
          ) : (
            why && <span>{why}</span>
          )}
        </div>
      </div>
    </div>
  );
}
