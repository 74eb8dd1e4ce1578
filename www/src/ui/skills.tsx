import { useSignal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { EngineClient } from "../engine";
import { lineOf } from "../format";
import { withOwn, type Ticked } from "../own-rubrics";
import type { Reading } from "../reading";
import { text } from "../text";
import type { Rubric } from "../types";
import type { Failure } from "../worker/protocol";
import { OwnRubrics } from "./own-rubrics";

/** Which skills are judged: all of them, those that the annotation names, or those that a person ticked. */
export type Scope = "all" | "needed" | "own";

interface Props {
  engine: EngineClient;
  reading: Reading;
  custom: Signal<Rubric[]>;
  off: Signal<ReadonlySet<string>>;
  scope: Signal<Scope>;
  /** Files of the library; what they hold is asked whichever skills are. */
  ticked: Signal<Ticked>;
  chosen: ReadonlySignal<Rubric[]>;
}

const SCOPES: Scope[] = ["all", "needed", "own"];

const ABILITIES = Object.keys(text.skills.ability) as (keyof typeof text.skills.ability)[];

export function SkillsPanel({ engine, reading, custom, off, scope, ticked, chosen }: Props) {
  const { builtin, overall } = engine.still.value;
  const all = [...builtin, ...custom.value];
  const on = new Set(chosen.value.map((rubric) => rubric.id));
  const known = new Set(all.map((rubric) => rubric.id));
  const shelved = chosen.value.filter((rubric) => !known.has(rubric.id)).length;
  const isOff = new Set(all.map((rubric) => rubric.id).filter((id) => !on.has(id)));
  // Whoever ticks begins with what is ticked now.
  const set = (ids: string[], to: boolean) => {
    const next = new Set(isOff);
    for (const id of ids) {
      if (to) next.delete(id);
      else next.add(id);
    }
    off.value = next;
    scope.value = next.size === 0 ? "all" : "own";
  };
  const choose = (wanted: Scope) => {
    if (wanted === "own") off.value = isOff;
    scope.value = wanted;
  };
  return (
    <section class="card skills" aria-labelledby="skills-heading">
      <div class="card-head">
        <h2 id="skills-heading">{text.skills.heading}</h2>
        <span class="count">{text.skills.chosen(on.size, all.length + shelved)}</span>
        <span class="spread">
          <button type="button" class="link" onClick={() => set(all.map((rubric) => rubric.id), true)}>{text.skills.all}</button>
          <button type="button" class="link" onClick={() => {
            ticked.value = {};
            set(all.map((rubric) => rubric.id), false);
          }}>{text.skills.noneOf}</button>
        </span>
      </div>
      <fieldset class="choices">
        <legend>{text.scope.legend}</legend>
        <div class="segments">
          {SCOPES.map((one) => (
            <label key={one}>
              <input type="radio" name="scope" value={one} checked={scope.value === one} onChange={() => choose(one)} />
              <span>{text.scope[one]}</span>
            </label>
          ))}
        </div>
        {scope.value === "needed" && (reading.asks.value.annotation?.skills.length ?? 0) === 0 && <p class="hint">{text.scope.noneYet}</p>}
      </fieldset>
      <div class="abilities">
        {ABILITIES.map((ability) => (
          <Group key={ability} title={text.skills.ability[ability]} rubrics={builtin.filter((rubric) => rubric.ability === ability)} off={isOff} set={set} />
        ))}
        {custom.value.length > 0 && (
          <Group title={text.skills.custom} rubrics={custom.value} off={isOff} set={set}
            onRemove={(id) => (custom.value = custom.value.filter((rubric) => rubric.id !== id))} />
        )}
        <OwnRubrics engine={engine} id="judge-own" ticked={ticked.value} onChange={(next) => (ticked.value = next)} />
      </div>
      <CustomRubric engine={engine} custom={custom} taken={overall ? [...builtin, overall] : builtin} />
    </section>
  );
}

interface GroupProps {
  title: string;
  rubrics: Rubric[];
  off: ReadonlySet<string>;
  set: (ids: string[], on: boolean) => void;
  onRemove?: (id: string) => void;
}

function Group({ title, rubrics, off, set, onRemove }: GroupProps) {
  if (rubrics.length === 0) return null;
  return (
    <fieldset class="ability">
      <legend>{title}</legend>
      {rubrics.map((rubric) => (
        <div class="skill" key={rubric.id}>
          <label title={rubric.question ?? rubric.criterion}>
            <input type="checkbox" checked={!off.has(rubric.id)} onChange={(event) => set([rubric.id], event.currentTarget.checked)} />
            <span>{rubric.name}</span>
          </label>
          {onRemove && (
            <button type="button" class="remove" aria-label={text.skills.remove(rubric.name)} onClick={() => onRemove(rubric.id)}>×</button>
          )}
        </div>
      ))}
    </fieldset>
  );
}

/** One line of the reader's diagnostics, with the line of the source that it speaks of. */
interface Finding {
  message: string;
  quote: string | null;
}

function findings(message: string, source: string): Finding[] {
  const lines = source.split("\n");
  return message.split("\n").filter((one) => one.trim() !== "").map((one) => {
    const line = lineOf(one);
    const content = line === null ? undefined : lines[line - 1];
    return { message: one, quote: line !== null && content?.trim() ? text.skills.atLine(line, content.trim()) : null };
  });
}

function CustomRubric({ engine, custom, taken }: { engine: EngineClient; custom: Signal<Rubric[]>; taken: Rubric[] }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const name = useRef<string>(text.skills.pastedName);
  const outcome = useSignal<{ kind: "added"; names: string } | { kind: "error"; findings: Finding[] } | null>(null);

  const check = async () => {
    const source = area.current!.value;
    if (source.trim() === "") {
      outcome.value = { kind: "error", findings: [{ message: text.skills.empty, quote: null }] };
      area.current!.focus();
      return;
    }
    try {
      const read = await engine.call("read_rubrics", { text: source, name: name.current }).answer;
      const { own, fresh } = withOwn(custom.value, read, taken);
      custom.value = own;
      outcome.value = { kind: "added", names: fresh.map((rubric) => rubric.name).join(", ") };
      area.current!.value = "";
      name.current = text.skills.pastedName;
    } catch (thrown) {
      outcome.value = { kind: "error", findings: findings((thrown as Failure).message, source) };
      area.current!.focus();
    }
  };

  return (
    <details class="more custom">
      <summary>{text.skills.addCustom}</summary>
      <label class="stacked" for="custom-rubric">{text.skills.customLabel}</label>
      <textarea id="custom-rubric" class="code" ref={area} rows={7} spellcheck={false} autocomplete="off" aria-describedby="custom-hint custom-outcome" />
      <p class="hint" id="custom-hint">{text.skills.customHint}</p>
      <div class="buttons">
        <button type="button" class="plain" onClick={() => void check()}>{text.skills.check}</button>
        <label class="file-pick">
          <input type="file" accept=".toml,.json,application/json,text/plain" onChange={(event) => {
            const input = event.currentTarget;
            const file = input.files?.[0];
            if (!file) return;
            void file.text().then((content) => {
              area.current!.value = content;
              name.current = file.name;
              input.value = "";
              return check();
            });
          }} />
          <span>{text.skills.pick}</span>
        </label>
      </div>
      <div id="custom-outcome" role="status">
        {outcome.value?.kind === "added" && <p class="good">{text.skills.added(outcome.value.names)}</p>}
        {outcome.value?.kind === "error" && (
          <ul class="bad">
            {outcome.value.findings.map((finding, i) => (
              <li key={i}>
                <p>{finding.message}</p>
                {finding.quote !== null && <pre>{finding.quote}</pre>}
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}
