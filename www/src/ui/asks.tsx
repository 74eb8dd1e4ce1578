import { useSignal } from "@preact/signals";
import type { EngineClient } from "../engine";
import { announcement } from "../live";
import type { Reading } from "../reading";
import { text } from "../text";
import type { Annotation, DifficultyId, DomainLabel, SkillId, Vocabulary } from "../types";
import { reasonsOf } from "../why";
import { ChecklistEditor } from "./checklist";

/** As FLASK has it; a person may name fewer. */
const MOST_SKILLS = 3;

/** What the prompt asks: read from its words at once, and a person's to change. */
export function AsksPanel({ engine, reading }: { engine: EngineClient; reading: Reading }) {
  const { vocabulary } = engine.still.value;
  const { annotation, items } = reading.asks.value;
  const problem = reading.problem.value;
  const nothing = !reading.has.value.prompt && items.length === 0;
  return (
    <section class="card asks" aria-labelledby="asks-heading" data-testid="asks">
      <div class="card-head">
        <h2 id="asks-heading">{text.asks.heading}</h2>
        {!nothing && annotation && <span class="count" data-testid="annotated-by" data-by={annotation.by}>{text.asks.by[annotation.by]}</span>}
        {!nothing && (
          <span class="spread">
            <button type="button" class="link" onClick={() => reading.readAgain()}>{text.asks.again}</button>
            <ModelAsk engine={engine} reading={reading} name="ask_annotation" label={text.asks.askModel} doing={text.asks.asking} ask={() => reading.askAnnotation()} />
          </span>
        )}
      </div>
      {nothing && <p class="hint">{text.asks.idle}</p>}
      {!nothing && annotation && vocabulary && reading.has.value.prompt && (
        <AnnotationEditor reading={reading} annotation={annotation} vocabulary={vocabulary} />
      )}
      {problem?.about === "read" && (
        <div class="bad" role="alert">
          <p><strong>{text.asks.failed}</strong></p>
          {problem.messages.map((message) => <p key={message}>{message}</p>)}
        </div>
      )}
      {vocabulary && <ChecklistEditor engine={engine} reading={reading} vocabulary={vocabulary} idle={nothing} />}
    </section>
  );
}

/** A question to the model, with its progress, and a way out. */
export function ModelAsk({ engine, reading, name, label, doing, ask }: {
  engine: EngineClient;
  reading: Reading;
  name: "ask_annotation" | "ask_items";
  label: string;
  doing: string;
  ask: () => Promise<void>;
}) {
  const { model, running } = engine.still.value;
  const asking = reading.asking.value;
  if (model.phase !== "ready") return null;
  if (asking?.name === name) {
    return (
      <span class="model-ask" data-testid={`asking-${name}`}>
        <span class="hint">{doing}</span>
        <progress aria-label={text.asks.progress} max={asking.total || 1} value={asking.total > 0 ? asking.done : undefined} />
        <button type="button" class="link" onClick={() => reading.cancelAsking()}>{text.asks.cancel}</button>
      </span>
    );
  }
  const busy = asking !== null || running || !reading.has.value.prompt;
  return <button type="button" class="link" aria-disabled={busy} onClick={() => !busy && void ask()}>{label}</button>;
}

interface AnnotationProps {
  reading: Reading;
  annotation: Annotation;
  vocabulary: Vocabulary;
}

function AnnotationEditor({ reading, annotation, vocabulary }: AnnotationProps) {
  const set = (change: Partial<Annotation>) => reading.annotate({ ...annotation, ...change });
  const variant = vocabulary.domains.find(({ id }) => id === annotation.domains[0]?.domain)?.variant ?? "general";
  const level = vocabulary.difficulties.find(({ id }) => id === annotation.difficulty);
  return (
    <div class="annotation" data-testid="annotation">
      <Skills annotation={annotation} vocabulary={vocabulary} set={set} />
      <Domains annotation={annotation} vocabulary={vocabulary} set={set} />
      <div class="asked" role="group" aria-labelledby="difficulty-label">
        <span class="asked-label" id="difficulty-label">{text.asks.difficulty}</span>
        <div class="chips">
          <select class="chip" aria-label={text.asks.difficulty} value={annotation.difficulty ?? ""}
            onChange={(event) => set({ difficulty: (event.currentTarget.value || null) as DifficultyId | null })}>
            <option value="">{text.asks.noDifficulty}</option>
            {vocabulary.difficulties.map(({ id, level: at, name }) => <option key={id} value={id}>{text.asks.difficultyOf(at, name)}</option>)}
          </select>
        </div>
        {level && <p class="hint">{level.definitions[variant]}</p>}
      </div>
      <Why reading={reading} vocabulary={vocabulary} />
    </div>
  );
}

interface PartProps {
  annotation: Annotation;
  vocabulary: Vocabulary;
  set: (change: Partial<Annotation>) => void;
}

function Skills({ annotation, vocabulary, set }: PartProps) {
  const { skills } = annotation;
  const nameOf = (id: SkillId) => vocabulary.skills.find((skill) => skill.id === id)?.name ?? id;
  const focus = (id: string) => requestAnimationFrame(() => document.getElementById(id)?.focus());
  const earlier = (place: number) => {
    const next = [...skills];
    const [moved] = next.splice(place, 1);
    next.splice(place - 1, 0, moved!);
    set({ skills: next });
    announcement.value = text.asks.moved(nameOf(moved!), place);
    // The button goes on with its skill, and the first has none.
    focus(place - 1 > 0 ? `skill-${place - 1}-earlier` : `skill-${place - 1}`);
  };
  const remove = (place: number) => {
    set({ skills: skills.filter((_, i) => i !== place) });
    announcement.value = text.asks.removed(nameOf(skills[place]!));
    focus(skills.length > 1 ? `skill-${Math.min(place, skills.length - 2)}` : "skill-add");
  };
  const add = () => {
    const next = vocabulary.skills.find(({ id }) => !skills.includes(id));
    if (!next) return;
    set({ skills: [...skills, next.id] });
    focus(`skill-${skills.length}`);
  };
  return (
    <div class="asked" role="group" aria-labelledby="needs-label">
      <span class="asked-label" id="needs-label">{text.asks.skills}</span>
      <div class="chips">
        {skills.map((skill, place) => (
          <span class="chip-box" key={skill}>
            <span class="place" aria-hidden="true">{place + 1}</span>
            <select id={`skill-${place}`} class="chip" aria-label={text.asks.skill(place + 1)} value={skill}
              onChange={(event) => set({ skills: skills.map((one, i) => (i === place ? (event.currentTarget.value as SkillId) : one)) })}>
              {vocabulary.skills.map(({ id, name }) => <option key={id} value={id} disabled={id !== skill && skills.includes(id)}>{name}</option>)}
            </select>
            {place > 0 && (
              <button type="button" id={`skill-${place}-earlier`} class="small" aria-label={text.asks.earlier(nameOf(skill))} title={text.asks.earlier(nameOf(skill))} onClick={() => earlier(place)}>←</button>
            )}
            <button type="button" class="small" aria-label={text.asks.remove(nameOf(skill))} title={text.asks.remove(nameOf(skill))} onClick={() => remove(place)}>×</button>
          </span>
        ))}
        {skills.length === 0 && <span class="hint">{text.asks.noSkills}</span>}
        {skills.length < MOST_SKILLS && <button type="button" id="skill-add" class="link" onClick={add}>{text.asks.addSkill}</button>}
      </div>
    </div>
  );
}

function Domains({ annotation, vocabulary, set }: PartProps) {
  const { domains } = annotation;
  const first = domains[0] ?? null;
  const second = domains[1] ?? null;
  const put = (place: number, label: DomainLabel | null) =>
    set({ domains: [place === 0 ? label : first, place === 1 ? label : second].filter((one) => one !== null) });
  const pick = (place: number, label: DomainLabel | null, other: DomainLabel | null) => {
    const parts = vocabulary.domains.find(({ id }) => id === label?.domain)?.subdomains ?? [];
    return (
      <span class="chip-box">
        <select id={`domain-${place}`} class="chip" aria-label={place === 0 ? text.asks.domain : text.asks.secondDomain} value={label?.domain ?? ""}
          onChange={(event) => put(place, event.currentTarget.value === "" ? null : { domain: event.currentTarget.value, subdomain: null })}>
          <option value="">{text.asks.noDomain}</option>
          {vocabulary.domains.map(({ id, name }) => <option key={id} value={id} disabled={id === other?.domain}>{name}</option>)}
        </select>
        {label && parts.length > 0 && (
          <select class="chip" aria-label={place === 0 ? text.asks.subdomain : text.asks.secondSubdomain} value={label.subdomain ?? ""}
            onChange={(event) => put(place, { ...label, subdomain: event.currentTarget.value || null })}>
            <option value="">{text.asks.wholeDomain}</option>
            {parts.map((part) => <option key={part} value={part}>{part}</option>)}
          </select>
        )}
        {place === 1 && (
          <button type="button" class="small" aria-label={text.asks.removeDomain} title={text.asks.removeDomain} onClick={() => put(1, null)}>×</button>
        )}
      </span>
    );
  };
  const addSecond = () => {
    const free = vocabulary.domains.find(({ id }) => id !== first?.domain);
    if (!free) return;
    put(1, { domain: free.id, subdomain: null });
    requestAnimationFrame(() => document.getElementById("domain-1")?.focus());
  };
  return (
    <div class="asked" role="group" aria-labelledby="domain-label">
      <span class="asked-label" id="domain-label">{text.asks.domain}</span>
      <div class="chips">
        {pick(0, first, second)}
        {second ? pick(1, second, first) : first && <button type="button" class="link" onClick={addSecond}>{text.asks.addDomain}</button>}
      </div>
    </div>
  );
}

/** The words that spoke for it, where words did. */
function Why({ reading, vocabulary }: { reading: Reading; vocabulary: Vocabulary }) {
  const open = useSignal(false);
  const { annotation, evidence } = reading.asks.value;
  if (annotation?.by !== "code") return null;
  const found = reasonsOf(annotation, evidence, vocabulary);
  if (found.length === 0) return null;
  return (
    <details class="more why" open={open.value} onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>{text.asks.why}</summary>
      {open.value && (
        <dl data-testid="why">
          {found.map(({ part, name, reasons }) => (
            <div key={`${part}${name}`}>
              <dt>{part === "difficulty" ? text.asks.difficulty : name}</dt>
              <dd dir="auto">
                {text.asks.because(reasons.map(({ words, quoted, reason }) => text.asks.reason(quoted ? text.asks.quoted(words) : words, reason)).join(", "))}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}
