import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { faultOf, isHard, type ItemChange, type Listed } from "../asks";
import type { EngineClient } from "../engine";
import { formatWeight } from "../format";
import { announcement } from "../live";
import type { Reading } from "../reading";
import { text } from "../text";
import type { ChecklistItem, SkillId, Vocabulary } from "../types";
import { ModelAsk } from "./asks";
import { Decider } from "./badges";

/** A group longer than this is folded. */
const FOLDED = 8;

const ORIGINS = Object.keys(text.checklist.origin) as ChecklistItem["origin"][];

interface Props {
  engine: EngineClient;
  reading: Reading;
  vocabulary: Vocabulary;
  /** There is neither a prompt nor an item. */
  idle: boolean;
}

/** The items of the checklist, each to be used or not, and to be changed in place. */
export function ChecklistEditor({ engine, reading, vocabulary, idle }: Props) {
  const { items, file, past } = reading.asks.value;
  const { checklist, hard } = reading.modes.value;
  const has = reading.has.value;
  const problem = reading.problem.value;
  const open = useSignal<string | null>(null);
  const list = items.filter(({ item }) => !isHard(item));
  const questions = items.filter(({ item }) => isHard(item));
  const on = items.filter((listed) => listed.on).length;
  const groupProps = { reading, vocabulary, open };
  return (
    <div class="checklist" data-testid="checklist">
      {!idle && (
        <div class="card-head">
          <h3 id="checklist-heading">{text.checklist.heading}</h3>
          {items.length > 0 && <span class="count" data-testid="checklist-count">{text.checklist.count(on, items.length)}</span>}
          <span class="spread">
            {past.length > 0 && (
              <button type="button" class="link" onClick={() => {
                reading.dispatch({ type: "undone" });
                announcement.value = text.checklist.undone;
              }}>{text.checklist.undo}</button>
            )}
            {has.prompt && <button type="button" class="link" title={text.checklist.anewHint} onClick={() => reading.generateAnew()}>{text.checklist.anew}</button>}
            {items.length > 0 && (
              <button type="button" class="link" onClick={() => {
                reading.dispatch({ type: "cleared" });
                announcement.value = text.checklist.cleared;
              }}>{text.checklist.clear}</button>
            )}
          </span>
        </div>
      )}
      {file !== null && <p class="hint" dir="auto">{text.checklist.fromFile(file)}</p>}
      {reading.warnings.value.length > 0 && (
        <div class="note" data-testid="checklist-warnings">
          <p>{text.checklist.warnings}</p>
          <ul>{reading.warnings.value.map((warning) => <li key={warning}>{warning}</li>)}</ul>
        </div>
      )}
      {!idle && items.length === 0 && <p class="hint">{text.checklist.none}</p>}
      {list.length > 0 && (
        <div class={checklist ? "listing" : "listing unsent"}>
          {!checklist && <Unsent why={text.checklist.off} onTurnOn={() => reading.setModes({ checklist: true })} />}
          {ORIGINS.map((origin) => (
            <Group key={origin} title={text.checklist.origin[origin]} listed={list.filter(({ item }) => item.origin === origin)} {...groupProps} />
          ))}
        </div>
      )}
      {questions.length > 0 && (
        <div class={hard && has.reference ? "listing" : "listing unsent"} data-testid="hard-questions">
          {!has.reference ? <Unsent why={text.checklist.hardNoReference} />
            : !hard && <Unsent why={text.checklist.hardOff} onTurnOn={() => reading.setModes({ hard: true })} />}
          <Group title={text.checklist.hardHeading} listed={questions} {...groupProps} />
        </div>
      )}
      <div class="buttons">
        {!idle && (
          <button type="button" class="plain" onClick={() => {
            const id = reading.addOwn();
            open.value = id;
          }}>{text.checklist.add}</button>
        )}
        {items.length > 0 && <button type="button" class="plain" onClick={() => void reading.save()}>{text.checklist.save}</button>}
        <label class="file-pick">
          <input type="file" accept=".toml,.json,application/json,text/plain" data-testid="checklist-file" onChange={(event) => {
            const input = event.currentTarget;
            const picked = input.files?.[0];
            if (picked) void reading.open(picked);
            // So that choosing the same file again counts as a choice.
            input.value = "";
          }} />
          <span>{text.checklist.open}</span>
        </label>
        {!idle && (
          <ModelAsk engine={engine} reading={reading} name="ask_items" label={text.checklist.askModel} doing={text.checklist.writing} ask={() => reading.askItems()} />
        )}
      </div>
      <div role="alert">
        {problem && problem.about !== "read" && (
          <div class="bad" data-testid="checklist-problem">
            <p><strong>{text.checklist.problem[problem.about]}</strong></p>
            {problem.messages.map((message) => <p key={message}>{message}</p>)}
          </div>
        )}
      </div>
    </div>
  );
}

function Unsent({ why, onTurnOn }: { why: string; onTurnOn?: () => void }) {
  return (
    <p class="hint unsent-note">
      {why} {onTurnOn && <button type="button" class="link" onClick={onTurnOn}>{text.checklist.turnOn}</button>}
    </p>
  );
}

interface GroupProps {
  title: string;
  listed: Listed[];
  reading: Reading;
  vocabulary: Vocabulary;
  /** The id of the item that is being edited. */
  open: { value: string | null };
}

function Group({ title, listed, reading, vocabulary, open }: GroupProps) {
  const unfolded = useSignal(false);
  if (listed.length === 0) return null;
  const folded = listed.length > FOLDED && !unfolded.value;
  // What is being edited stays in sight.
  const shown = folded ? listed.filter((one, i) => i < FOLDED || one.item.id === open.value) : listed;
  return (
    <section class="origin" aria-label={title}>
      <h4>{title}</h4>
      <ul class="items">
        {shown.map((one) => <Item key={one.item.id} listed={one} reading={reading} vocabulary={vocabulary} open={open} />)}
      </ul>
      {listed.length > FOLDED && (
        <button type="button" class="link" aria-expanded={!folded} onClick={() => (unfolded.value = folded)}>
          {folded ? text.checklist.showAll(listed.length) : text.checklist.showFewer}
        </button>
      )}
    </section>
  );
}

type ItemProps = Omit<GroupProps, "title" | "listed"> & { listed: Listed };

function Item({ listed, reading, vocabulary, open }: ItemProps) {
  const { item, on } = listed;
  const isOpen = open.value === item.id;
  const question = item.question.trim() === "" ? text.checklist.empty : item.question;
  const skill = vocabulary.skills.find(({ id }) => id === item.skill)?.name;
  const weight = item.weight ?? 1;
  const fault = faultOf(item);
  const asides = [
    skill,
    weight !== 1 && Number.isFinite(weight) ? text.checklist.weightOf(formatWeight(weight)) : null,
    item.condition ? text.checklist.conditionOf(item.condition) : null,
    listed.original ? text.checklist.edited : null,
  ].filter((aside) => typeof aside === "string");
  return (
    <li class={on ? "item" : "item off"} data-testid="item" data-item={item.id} data-origin={item.origin}>
      <div class="item-line">
        <input type="checkbox" class="tick-box" checked={on} aria-label={text.checklist.use(question)}
          onChange={(event) => reading.dispatch({ type: "item_switched", ids: [item.id], on: event.currentTarget.checked })} />
        <div class="item-text">
          <span class={item.question.trim() === "" ? "item-question hint" : "item-question"} dir="auto" title={item.passage}>{question}</span>
          {asides.length > 0 && <span class="hint item-asides" dir="auto">{asides.join(" · ")}</span>}
          {!isOpen && item.passage && <span class="hint item-passage" id={`from-${item.id}`} dir="auto">{text.checklist.from(item.passage)}</span>}
          {!isOpen && fault && <span class="field-error">{fault === "no_question" ? text.checklist.noQuestion : text.checklist.noWeight}</span>}
        </div>
        <Decider by={item.constraint ? "code" : "model"}
          label={item.constraint ? text.checklist.verified : text.checklist.judged}
          title={item.constraint ? text.checklist.verifiedHint : text.checklist.judgedHint} />
        <button type="button" class="link" id={`edit-${item.id}`} aria-expanded={isOpen} aria-controls={`editor-${item.id}`}
          aria-describedby={!isOpen && item.passage ? `from-${item.id}` : undefined}
          aria-label={isOpen ? text.checklist.closeOf(question) : text.checklist.editOf(question)}
          onClick={() => (open.value = isOpen ? null : item.id)}>
          {isOpen ? text.checklist.close : text.checklist.edit}
        </button>
      </div>
      {isOpen && <Editor listed={listed} reading={reading} vocabulary={vocabulary} open={open} />}
    </li>
  );
}

function Editor({ listed, reading, vocabulary, open }: ItemProps) {
  const { item, original } = listed;
  const area = useRef<HTMLTextAreaElement>(null);
  const fault = faultOf(item);
  const change = (to: ItemChange) => reading.dispatch({ type: "item_edited", id: item.id, change: to });
  const id = (field: string) => `${field}-${item.id}`;
  const later = (element: string) => requestAnimationFrame(() => document.getElementById(element)?.focus());
  // Whoever opens an item wants to change its words, and may begin to at once; whoever has moved it to another group goes with it.
  useLayoutEffect(() => {
    const stay = document.activeElement;
    if (stay === document.body || stay?.id === id("edit") || stay?.tagName === "BUTTON") area.current?.focus();
  }, []);
  const remove = () => {
    reading.dispatch({ type: "item_deleted", id: item.id });
    open.value = null;
    announcement.value = text.checklist.deleted(item.question);
    requestAnimationFrame(() => document.getElementById("checklist-heading")?.closest(".card-head")?.querySelector("button")?.focus());
  };
  return (
    <div class="editor" id={`editor-${item.id}`} onKeyDown={(event) => {
      if (event.key !== "Escape") return;
      open.value = null;
      later(`edit-${item.id}`);
    }}>
      <div class="wide">
        <label for={id("question")}>{text.checklist.question}</label>
        <textarea id={id("question")} ref={area} rows={2} dir="auto" autocomplete="off" value={item.question} aria-describedby={id("question-hint")}
          aria-invalid={fault === "no_question" ? "true" : undefined}
          // One line, however it is broken on the screen.
          onInput={(event) => change({ question: event.currentTarget.value.replaceAll(/[\r\n]+/g, " ") })} />
        <p class={fault === "no_question" ? "field-error" : "hint"} id={id("question-hint")}>
          {fault === "no_question" ? text.checklist.noQuestion : item.constraint ? text.checklist.becomesJudged : text.checklist.questionHint}
        </p>
      </div>
      <div>
        <label for={id("weight")}>{text.checklist.weight}</label>
        <Weight id={id("weight")} item={item} onChange={(weight) => change({ weight })} />
      </div>
      <div>
        <label for={id("skill")}>{text.checklist.skill}</label>
        <select id={id("skill")} value={item.skill ?? ""} onChange={(event) => change({ skill: (event.currentTarget.value || undefined) as SkillId | undefined })}>
          <option value="">{text.checklist.noSkill}</option>
          {vocabulary.skills.map((skill) => <option key={skill.id} value={skill.id}>{skill.name}</option>)}
        </select>
      </div>
      <div>
        <label for={id("answer")}>{text.checklist.answer}</label>
        <select id={id("answer")} value={item.answer ?? "yes_no"} onChange={(event) => {
          change({ answer: event.currentTarget.value as "yes_no" | "one_to_five" });
          later(id("answer"));
        }}>
          <option value="yes_no">{text.checklist.yesNo}</option>
          <option value="one_to_five">{text.checklist.oneToFive}</option>
        </select>
      </div>
      {!item.constraint && (
        <div class="wide">
          <label for={id("condition")}>{text.checklist.condition}</label>
          <input type="text" id={id("condition")} dir="auto" autocomplete="off" value={item.condition ?? ""} aria-describedby={id("condition-hint")}
            onInput={(event) => change({ condition: event.currentTarget.value === "" ? undefined : event.currentTarget.value })} />
          <p class="hint" id={id("condition-hint")}>{text.checklist.conditionHint}</p>
        </div>
      )}
      {item.passage && (
        <div class="wide">
          <span class="label">{text.checklist.passage}</span>
          <blockquote dir="auto">{item.passage}</blockquote>
        </div>
      )}
      <div class="wide buttons">
        {original && (
          <button type="button" class="link" onClick={() => reading.dispatch({ type: "item_restored", id: item.id })}>{text.checklist.restore}</button>
        )}
        <button type="button" class="link warn" onClick={remove}>{text.checklist.delete}</button>
      </div>
    </div>
  );
}

/** Keeps what is typed, also while it is no number yet. */
function Weight({ id, item, onChange }: { id: string; item: ChecklistItem; onChange: (weight: number) => void }) {
  const typed = useSignal<string | null>(null);
  const value = item.weight ?? 1;
  const wrong = faultOf(item) === "no_weight";
  return (
    <>
      <input type="text" inputMode="decimal" id={id} autocomplete="off" value={typed.value ?? formatWeight(value)} aria-describedby={`${id}-hint`}
        aria-invalid={wrong ? "true" : undefined}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          const trimmed = typed.value.trim().replace(",", ".").replace("−", "-");
          onChange(trimmed === "" ? NaN : Number(trimmed));
        }}
        onBlur={() => {
          if (!wrong) typed.value = null;
        }} />
      <p class={wrong ? "field-error" : "hint"} id={`${id}-hint`}>{wrong ? text.checklist.noWeight : text.checklist.weightHint}</p>
    </>
  );
}
