import { useSignal, type ReadonlySignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useImperativeHandle, useRef } from "preact/hooks";
import { askedIn, lastAnswer, partsOf, promptWith, readChat, type Chat, type Parts } from "../chat";
import type { EngineClient } from "../engine";
import { formatPercent } from "../format";
import { announcement } from "../live";
import { faultOf, isHard } from "../asks";
import { profileOf } from "../profile";
import type { Modes, Reading } from "../reading";
import { text } from "../text";
import type { JudgeRequest, Rubric } from "../types";
import { ChatOffer, ChatShown, type Found } from "./chat-offer";
import { Field } from "./field";

export interface InputsHandle {
  /** The texts as the model is to read them, the system prompt within the prompt; or null after pointing out which one is missing. */
  read(): Texts | null;
  /** The same, without a word where one is missing. */
  peek(): Texts | null;
}

type Texts = Pick<JudgeRequest, "prompt" | "response" | "reference">;

interface Props {
  engine: EngineClient;
  reading: Reading;
  handle: RefObject<InputsHandle | null>;
  chosen: ReadonlySignal<Rubric[]>;
  onJudge: () => void;
}

/** How long typing must have stopped until a conversation is looked for. */
const PAUSE_MS = 400;

const isFilled = (field: RefObject<HTMLTextAreaElement | null>) => /\S/.test(field.current?.value ?? "");

const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function Inputs({ engine, reading, handle, chosen, onJudge }: Props) {
  const prompt = useRef<HTMLTextAreaElement>(null);
  const response = useRef<HTMLTextAreaElement>(null);
  const reference = useRef<HTMLTextAreaElement>(null);
  const system = useRef<HTMLTextAreaElement>(null);
  const missing = useSignal<"prompt" | "response" | null>(null);

  const peek = (): Texts | null => {
    if (!isFilled(prompt) || !isFilled(response)) return null;
    const wanted = reference.current!.value;
    const texts = { prompt: promptWith(system.current!.value, prompt.current!.value), response: response.current!.value };
    return wanted.trim() === "" ? texts : { ...texts, reference: wanted };
  };
  useImperativeHandle(handle, () => ({
    peek,
    read() {
      const empty = !isFilled(prompt) ? "prompt" : !isFilled(response) ? "response" : null;
      missing.value = empty;
      if (empty) {
        (empty === "prompt" ? prompt : response).current!.focus();
        announcement.value = empty === "prompt" ? text.input.promptMissing : text.input.responseMissing;
        return null;
      }
      return peek();
    },
  }), []);

  const chat = useChat({ prompt, response, system });
  const edited = () => {
    missing.value = null;
    // On every key nothing is copied or searched to its end: the texts may be very long.
    const has = { prompt: isFilled(prompt), reference: isFilled(reference) };
    if (has.prompt !== reading.has.value.prompt || has.reference !== reading.has.value.reference) reading.has.value = has;
    reading.touched(() => ({ prompt: askedIn(system.current!.value, prompt.current!.value), reference: reference.current!.value }));
  };
  return (
    <section class="card inputs" aria-labelledby="input-heading">
      <h2 id="input-heading">{text.input.heading}</h2>
      <Field id="prompt" label={text.input.prompt} hint={text.input.promptHint} rows={5} field={prompt}
        onEdit={() => {
          edited();
          chat.touched("prompt");
        }}
        error={missing.value === "prompt" ? text.input.promptMissing : null} />
      {chat.shown("prompt")}
      <Field id="response" label={text.input.response} hint={text.input.responseHint} rows={10} field={response}
        onEdit={() => {
          missing.value = null;
          chat.touched("response");
        }}
        error={missing.value === "response" ? text.input.responseMissing : null} />
      {chat.shown("response")}
      <Field id="reference" label={text.input.reference} hint={text.input.referenceHint} rows={2} field={reference} onEdit={edited} error={null} optional />
      <Field id="system-prompt" label={text.input.system} hint={text.input.systemHint} rows={2} field={system} onEdit={edited} error={null} optional />
      {profileOf(engine.still.value) !== "head" && <ModePicker reading={reading} />}
      <JudgeBar engine={engine} reading={reading} chosen={chosen} onJudge={onJudge} />
    </section>
  );
}

type Fields = Record<"prompt" | "response" | "system", RefObject<HTMLTextAreaElement | null>>;

/** What was found in a field: an offer to divide it, or only how it is understood. */
type Seen = { kind: "offer"; found: Found } | { kind: "known"; chat: Chat };

/** Looks for conversations once typing has stopped, and divides them where the person says so; that can be undone. */
function useChat({ prompt, response, system }: Fields) {
  const seen = useSignal<Seen | null>(null);
  const before = useSignal<{ field: "prompt" | "response"; values: [string, string, string] } | null>(null);
  /** Texts that are to stay as they are, until their field is emptied. */
  const kept = useRef(new Set<"prompt" | "response">());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const waiting = useRef(new Set<"prompt" | "response">());
  useEffect(() => () => clearTimeout(timer.current), []);

  const look = (field: "prompt" | "response") => {
    const value = (field === "prompt" ? prompt : response).current!.value;
    if (value.trim() === "") kept.current.delete(field);
    const chat = kept.current.has(field) ? null : readChat(value);
    const last = chat && lastAnswer(chat);
    // As it was written when it was divided, and with an answer beside it: there is nothing left to decide.
    const settled = chat !== null && field === "prompt" && chat.turns.at(-1)?.role === "user" && partsOf(chat, null).prompt === value.trim() && isFilled(response);
    const next: Seen | null = chat === null || last === null ? null : settled ? { kind: "known", chat } : { kind: "offer", found: { field, chat } };
    // What stands in one field says nothing about what was found in the other.
    if (next === null && seen.value !== null && fieldOf(seen.value) !== field) return;
    if (next?.kind === "offer" && seen.value?.kind !== "offer") announcement.value = text.chat.found(next.found.chat.turns.length);
    seen.value = next;
  };
  const put = (values: [string, string, string]) => {
    for (const [i, field] of [prompt, response, system].entries()) {
      const area = field.current!;
      if (area.value === values[i]) continue;
      area.value = values[i]!;
      // Everything that follows what is typed follows this too.
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  const current = (): [string, string, string] => [prompt.current!.value, response.current!.value, system.current!.value];
  const use = (field: "prompt" | "response", parts: Parts) => {
    const was = current();
    seen.value = null;
    put([parts.prompt, parts.response ?? (field === "response" ? "" : was[1]), parts.system === "" ? was[2] : parts.system]);
    before.value = { field, values: was };
    announcement.value = text.chat.used;
    (parts.response === null ? prompt : response).current!.focus();
  };
  const undo = () => {
    const was = before.value;
    if (!was) return;
    before.value = null;
    kept.current.add(was.field);
    put(was.values);
    announcement.value = text.chat.undone;
    (was.field === "prompt" ? prompt : response).current!.focus();
  };

  return {
    touched(field: "prompt" | "response") {
      clearTimeout(timer.current);
      waiting.current.add(field);
      timer.current = setTimeout(() => {
        for (const one of waiting.current) look(one);
        waiting.current.clear();
      }, PAUSE_MS);
    },
    /** What is to be shown under the field. */
    shown(field: "prompt" | "response") {
      const found = seen.value;
      return (
        <>
          {before.value?.field === field && (
            <p class="judge-undo" data-testid="chat-undo">
              {text.chat.used} <button type="button" class="link" onClick={undo}>{text.chat.undo}</button>
            </p>
          )}
          {found && fieldOf(found) === field && (found.kind === "known" ? <ChatShown chat={found.chat} /> : (
            <ChatOffer key={found.found.chat.turns.length} found={found.found} filled={{ system: isFilled(system), prompt: isFilled(prompt), response: isFilled(response) }}
              onUse={(parts) => use(field, parts)}
              onKeep={() => {
                kept.current.add(field);
                seen.value = null;
                (field === "prompt" ? prompt : response).current!.focus();
              }} />
          ))}
        </>
      );
    },
  };
}

function fieldOf(seen: Seen): "prompt" | "response" {
  return seen.kind === "offer" ? seen.found.field : "prompt";
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
  const { model, builtin } = engine.still.value;
  if (model.phase === "none") return text.judge.noModel;
  // Its head reads the response as a whole, whatever is chosen.
  if (profileOf(engine.still.value) === "head") return null;
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
