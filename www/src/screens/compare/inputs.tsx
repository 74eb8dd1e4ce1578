import { useComputed, useSignal, useSignalEffect, type Signal } from "@preact/signals";
import { createRef, type RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../../engine";
import { formatPercent } from "../../format";
import { announcement } from "../../live";
import { chosenOf, labelsOf, type Ticked } from "../../own-rubrics";
import { shelf } from "../../shelf";
import { compareText as words } from "../../text/compare";
import { rewardsText } from "../../text/rewards";
import type { Rewards } from "../../rewards";
import type { Rubric } from "../../types";
import { Field } from "../../ui/field";
import { OwnRubrics } from "../../ui/own-rubrics";
import type { Texts, Work } from "./work";

const LETTERS = ["A", "B", "C", "D"] as const;
type Letter = (typeof LETTERS)[number];

const LEAST = 2;
/** How long typing must have stopped until something is made of the texts. */
const PAUSE_MS = 400;

interface Props {
  engine: EngineClient;
  work: Work;
  /** Where the loaded model has a head of its own, which then is asked instead. */
  rewards: Rewards | null;
  active: boolean;
  onEdit: (read: () => Texts) => void;
}

export function Inputs({ engine, work, rewards, active, onEdit }: Props) {
  const prompt = useRef<HTMLTextAreaElement>(null);
  const reference = useRef<HTMLTextAreaElement>(null);
  const areas = useRef(new Map<Letter, RefObject<HTMLTextAreaElement | null>>()).current;
  const shown = useSignal<Letter[]>(["A", "B"]);
  /** The last one that was taken away, with its text. */
  const removed = useSignal<{ id: Letter; text: string; place: number } | null>(null);
  const missing = useSignal<"prompt" | Letter | null>(null);
  const scope = useSignal<Scope>("needed");
  const own = useSignal<ReadonlySet<string>>(new Set());
  const needed = useSignal<string[]>([]);
  const ticked = useSignal<Ticked>({});
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const turn = useRef(0);

  const chosen = useComputed<Rubric[]>(() => {
    const { builtin, overall } = engine.state.value;
    const skills = scope.value === "all" ? builtin : builtin.filter(({ id }) => (scope.value === "needed" ? needed.value.includes(id) : own.value.has(id)));
    return [...skills, ...chosenOf(shelf.value, ticked.value, [...builtin, ...(overall ? [overall] : [])].map(({ id }) => id))];
  });
  const areaOf = (id: Letter): RefObject<HTMLTextAreaElement | null> => {
    const known = areas.get(id);
    if (known) return known;
    const made = createRef<HTMLTextAreaElement | null>();
    areas.set(id, made);
    return made;
  };
  const texts = (): Texts => ({
    prompt: prompt.current!.value,
    reference: reference.current!.value,
    responses: shown.value.map((id) => ({ id, text: areaOf(id).current!.value })),
  });
  const annotate = async () => {
    const mine = ++turn.current;
    const instruction = prompt.current?.value ?? "";
    if (engine.state.value.vocabulary === null) return;
    try {
      const { annotation } = await engine.call("annotate", { instruction }).answer;
      if (mine === turn.current) needed.value = annotation.skills;
    } catch {
      // The page says already what stopped the engine; the skills can be chosen by hand.
    }
  };
  const edited = () => {
    missing.value = null;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      onEdit(texts);
      void annotate();
    }, PAUSE_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useSignalEffect(() => {
    // A prompt may have been typed before the engine was there to read it.
    if (engine.state.value.vocabulary !== null && /\S/.test(prompt.current?.value ?? "")) void annotate();
  });

  /** The texts, or null after pointing out which one is missing. */
  const read = (): Texts | null => {
    const now = texts();
    const empty = now.prompt.trim() === "" ? "prompt" : ((now.responses.find(({ text }) => text.trim() === "")?.id as Letter | undefined) ?? null);
    missing.value = empty;
    if (empty === null) return now;
    (empty === "prompt" ? prompt : areaOf(empty)).current!.focus();
    announcement.value = empty === "prompt" ? words.missingPrompt : words.missing(empty);
    return null;
  };
  const place = (ids: Letter[]) => {
    shown.value = ids;
    onEditSoon();
  };
  const onEditSoon = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onEdit(texts), 0);
  };
  const add = () => {
    const id = LETTERS.find((letter) => !shown.value.includes(letter));
    if (!id) return;
    if (removed.value?.id === id) removed.value = null;
    place([...shown.value, id]);
    announcement.value = words.added(id);
    setTimeout(() => areaOf(id).current?.focus(), 0);
  };
  const remove = (id: Letter) => {
    const at = shown.value.indexOf(id);
    const text = areaOf(id).current!.value;
    removed.value = text.trim() === "" ? null : { id, text, place: at };
    place(shown.value.filter((one) => one !== id));
    announcement.value = words.removed(id);
    setTimeout(() => areaOf(shown.value[Math.max(0, at - 1)]!).current?.focus(), 0);
  };
  const restore = () => {
    const was = removed.value;
    if (!was) return;
    removed.value = null;
    place(shown.value.toSpliced(was.place, 0, was.id));
    setTimeout(() => {
      const area = areaOf(was.id).current!;
      area.value = was.text;
      area.dispatchEvent(new Event("input", { bubbles: true }));
      area.focus();
    }, 0);
  };
  const move = (id: Letter, by: -1 | 1, button: HTMLButtonElement) => {
    const at = shown.value.indexOf(id);
    const to = at + by;
    if (to < 0 || to >= shown.value.length) return;
    place(shown.value.toSpliced(at, 1).toSpliced(to, 0, id));
    announcement.value = words.moved(id, to + 1);
    // Its place in the document may have changed, which takes the focus away.
    setTimeout(() => button.focus(), 0);
  };

  const outcome = work.outcome.value;
  const running = outcome?.alone.phase === "running" || outcome?.together.phase === "running";
  const notReady = engine.state.value.model.phase !== "ready" ? words.notReady : null;
  const judgeAlone = () => {
    const now = read();
    if (now && rewards) return void rewards.ask(now);
    if (now) void work.judgeAlone(now, chosen.value);
  };
  const showTogether = () => {
    const now = read();
    if (now) void work.showTogether(now);
  };
  // What a key does is what the button does, with the values of the latest render.
  const pressed = useRef(() => {});
  pressed.current = () => {
    if (!running && notReady === null && (rewards || chosen.value.length > 0)) judgeAlone();
  };
  useEffect(() => {
    if (!active) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      pressed.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [active]);

  return (
    <section class="card inputs" aria-labelledby="cmp-input-heading">
      <h2 id="cmp-input-heading">{words.inputs}</h2>
      <Field id="cmp-prompt" label={words.prompt} hint={words.promptHint} rows={4} field={prompt} onEdit={edited} error={missing.value === "prompt" ? words.missingPrompt : null} />
      <Field id="cmp-reference" label={words.reference} hint={words.referenceHint} rows={2} field={reference} onEdit={edited} error={null} optional />
      <section class="cmp-responses" aria-labelledby="cmp-responses-heading">
        <h3 id="cmp-responses-heading">{words.responses}</h3>
        <p class="hint">{words.responseHint}</p>
        <ol class="cmp-list" data-count={shown.value.length}>
          {shown.value.map((id, i) => (
            <li key={id} data-testid="cmp-response" data-id={id}>
              <Field id={`cmp-response-${id}`} label={words.response(id)} hint="" rows={8} field={areaOf(id)} onEdit={edited} error={missing.value === id ? words.missing(id) : null}>
                <span class="cmp-tools">
                  <button type="button" class="small" aria-label={words.earlier(id)} aria-disabled={i === 0} onClick={(event) => move(id, -1, event.currentTarget)}>↑</button>
                  <button type="button" class="small" aria-label={words.later(id)} aria-disabled={i === shown.value.length - 1} onClick={(event) => move(id, 1, event.currentTarget)}>↓</button>
                  {shown.value.length > LEAST && <button type="button" class="small" aria-label={words.remove(id)} onClick={() => remove(id)}>×</button>}
                </span>
              </Field>
            </li>
          ))}
        </ol>
        <div class="buttons">
          {shown.value.length < LETTERS.length && <button type="button" class="plain" onClick={add}>{words.add}</button>}
          {removed.value && !shown.value.includes(removed.value.id) && <button type="button" class="link" onClick={restore}>{words.restore(removed.value.id)}</button>}
        </div>
      </section>
      {rewards === null && (
        <Skills engine={engine} scope={scope.value} chosen={chosen.value} ticked={ticked} onScope={(wanted) => {
          if (wanted === "own" && own.value.size === 0) own.value = new Set(chosen.value.map(({ id }) => id));
          scope.value = wanted;
        }} onTick={(id, on) => {
          const next = new Set(chosen.value.map((rubric) => rubric.id));
          if (on) next.add(id);
          else next.delete(id);
          own.value = next;
          scope.value = "own";
        }} />
      )}
      <div class="cmp-starts">
        {rewards ? (
          <div class="cmp-start">
            <div class="buttons">
              <button type="button" class="primary" aria-disabled={notReady !== null} aria-describedby="cmp-reward-hint" onClick={judgeAlone}>{rewardsText.ask}</button>
            </div>
            <p class="hint" id="cmp-reward-hint">{notReady ?? rewardsText.askHint}</p>
          </div>
        ) : (
          <>
            <Start work={work} part="alone" label={words.alone} hint={words.aloneHint} disabled={running} why={notReady ?? (chosen.value.length === 0 ? words.noSkills : null)} primary onStart={judgeAlone} />
            <Start work={work} part="together" label={words.together} hint={words.togetherHint} disabled={running} why={notReady} onStart={showTogether} />
          </>
        )}
      </div>
    </section>
  );
}

interface StartProps {
  work: Work;
  part: "alone" | "together";
  label: string;
  hint: string;
  disabled: boolean;
  why: string | null;
  primary?: boolean;
  onStart: () => void;
}

function Start({ work, part, label, hint, disabled, why, primary, onStart }: StartProps) {
  const outcome = work.outcome.value;
  const now = outcome?.[part];
  const running = now?.phase === "running";
  const blocked = disabled || why !== null;
  const at = outcome?.texts.responses[now?.at ?? 0]?.id ?? "";
  return (
    <div class="cmp-start">
      <div class="buttons">
        <button type="button" class={primary ? "primary" : "plain"} aria-disabled={blocked} aria-describedby={`cmp-${part}-hint`} onClick={() => blocked || onStart()}>{label}</button>
        {running && (
          <button type="button" class="plain" aria-disabled={now.cancelling} onClick={() => work.cancel(part)}>{now.cancelling ? words.cancelling : words.cancel}</button>
        )}
      </div>
      {running && outcome ? (
        <div class="judge-state">
          <progress aria-label={part === "alone" ? words.progressAlone : words.progressTogether} max={1} value={now.share} />
          <span class="figures">{part === "alone" ? words.judging(at, now.at + 1, outcome.entries.length) : words.pairing}, {formatPercent(now.share)}</span>
        </div>
      ) : null}
      <p class="hint" id={`cmp-${part}-hint`}>{why ?? hint}</p>
    </div>
  );
}

type Scope = "needed" | "all" | "own";

function Skills({ engine, scope, chosen, ticked, onScope, onTick }: {
  engine: EngineClient;
  scope: Scope;
  chosen: Rubric[];
  ticked: Signal<Ticked>;
  onScope: (scope: Scope) => void;
  onTick: (id: string, on: boolean) => void;
}) {
  const { builtin } = engine.state.value;
  const on = new Set(chosen.map(({ id }) => id));
  return (
    <div class="cmp-skills">
      <fieldset class="choices">
        <legend>{words.scopeLegend}</legend>
        <div class="segments">
          {(["needed", "all", "own"] as const).map((one) => (
            <label key={one}>
              <input type="radio" name="cmp-scope" value={one} checked={scope === one} onChange={() => onScope(one)} />
              <span>{words.scope[one]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <p class="hint" data-testid="cmp-chosen">{chosen.length === 0 ? (scope === "needed" ? words.noneYet : words.noSkills) : words.chosen(chosen.length, labelsOf(chosen).join(", "))}</p>
      <details class="more">
        <summary>{words.pickSkills}</summary>
        <fieldset class="cmp-ticks">
          <legend class="unseen">{words.skills}</legend>
          {builtin.map(({ id, name, question, criterion }) => (
            <label key={id} title={question ?? criterion}>
              <input type="checkbox" checked={on.has(id)} onChange={(event) => onTick(id, event.currentTarget.checked)} />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
        <OwnRubrics engine={engine} id="cmp-own" ticked={ticked.value} onChange={(next) => (ticked.value = next)} />
      </details>
    </div>
  );
}
