import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../../engine";
import { announcement } from "../../live";
import { amend, hrefOf, route } from "../../router";
import { packState, ShareError, unpackState } from "../../share";
import { learnText } from "../../text/learn";
import { act, choicesOf, fromShared, missingIn, prefilled, toShared } from "./fields";
import { Guesses } from "./guesses";
import { lessonNamed, LESSONS } from "./lessons";
import type { Field } from "./lesson";
import { QuizForm } from "./quiz-form";
import { AgreementTable, RateAnswers } from "./ratings";
import { Items, Levels, Pair, Scores } from "./results";
import { isBusy, sessionOf, type Session } from "./session";

/** What the address says beside the lesson's name: the learner's texts, packed. */
export const PACKED = "texts";

export function LessonView({ engine, name, packed, entered }: {
  engine: EngineClient;
  name: string;
  packed: string | null;
  /** Whether somebody came here from within the classroom: the focus then goes to the lesson. */
  entered: boolean;
}) {
  const found = lessonNamed(name)!;
  const { lesson, place, previous, next } = found;
  const session = sessionOf(lesson);
  const heading = useRef<HTMLHeadingElement>(null);
  const link = useLink(session, packed);
  useLayoutEffect(() => {
    if (!entered) return;
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: "start" });
  }, [name]);
  return (
    <article class="learn-lesson" data-testid="learn-lesson" data-lesson={lesson.id} aria-labelledby="learn-title">
      <header class="card">
        <p class="learn-crumbs"><a href={hrefOf("learn")}>{learnText.all}</a> <span class="hint">{learnText.placeOf(place, LESSONS.length)}, {learnText.minutes(lesson.minutes)}</span></p>
        <h2 id="learn-title" ref={heading} tabIndex={-1}>{lesson.title}</h2>
        <p class="learn-aim">{lesson.aim}</p>
        {link.value !== null && <p class={link.value.bad ? "note learn-bad" : "note"} role="status" data-testid="learn-link-note" data-bad={link.value.bad}>{link.value.message}</p>}
      </header>
      <div class="learn-body">
        <section class="card learn-explain" aria-labelledby="learn-explain-heading">
          <h3 id="learn-explain-heading">{learnText.explain}</h3>
          {lesson.explain.map((paragraph) => <p key={paragraph}>{paragraph}</p>)}
          <details>
            <summary>{learnText.sources}</summary>
            <ul>{lesson.sources.map((source) => <li key={source}>{source}</li>)}</ul>
          </details>
        </section>
        <Experiment engine={engine} session={session} />
        <section class="card learn-look" aria-labelledby="learn-look-heading">
          <h3 id="learn-look-heading">{learnText.look}</h3>
          <ul>{lesson.look.map((line) => <li key={line}>{line}</li>)}</ul>
          <h3>{learnText.honest}</h3>
          <p>{lesson.honest}</p>
        </section>
      </div>
      <QuizForm session={session} />
      <nav class="learn-nav" aria-label={learnText.lessonNav}>
        {previous ? <a href={hrefOf("learn", { lesson: previous.id })} rel="prev">{learnText.previous(previous.title)}</a> : <span />}
        {next ? <a href={hrefOf("learn", { lesson: next.id })} rel="next">{learnText.next(next.title)}</a> : <a href={hrefOf("learn")}>{learnText.all}</a>}
      </nav>
    </article>
  );
}

/** Links that this page made itself: their texts are already here. */
const made = new Set<string>();

/** Opens the texts that the address carries, and says what came of it. */
function useLink(session: Session, packed: string | null) {
  const note = useSignal<{ message: string; bad: boolean } | null>(null);
  useEffect(() => {
    note.value = null;
    if (packed === null || made.has(packed)) return;
    let left = false;
    const tell = (message: string, bad: boolean) => {
      if (left) return;
      note.value = { message, bad };
      announcement.value = message;
    };
    unpackState(packed).then(
      (value) => {
        if (left) return;
        const fields = fromShared(session.lesson, value);
        if (fields === null) return tell(`${learnText.foreignState} ${learnText.damagedPlain}`, true);
        // Opened once: what is typed afterwards is not undone by coming back to this address.
        made.add(packed);
        session.replace(fields);
        tell(learnText.opened, false);
      },
      (thrown: unknown) => tell(`${thrown instanceof ShareError ? thrown.message : String(thrown)} ${learnText.damagedPlain}`, true),
    );
    return () => {
      left = true;
    };
  }, [session, packed]);
  return note;
}

function Experiment({ engine, session }: { engine: EngineClient; session: Session }) {
  const { lesson } = session;
  const { experiment } = lesson;
  return (
    <section class="card learn-experiment" aria-labelledby="learn-experiment-heading">
      <h3 id="learn-experiment-heading">{learnText.experiment}</h3>
      <p>{lesson.task}</p>
      {experiment.kind === "ratings" ? (
        <>
          <RateAnswers session={session} experiment={experiment} />
          <AgreementTable engine={engine} session={session} experiment={experiment} />
          <RunBar engine={engine} session={session} />
          <details>
            <summary>{learnText.rate.own}</summary>
            <p class="hint">{learnText.rate.ownHint}</p>
            <TextFields session={session} />
          </details>
        </>
      ) : (
        <>
          <p class="hint">{learnText.ownTexts}</p>
          <TextFields session={session} />
          <Actions session={session} />
          <RunBar engine={engine} session={session} />
          <Result engine={engine} session={session} />
          {experiment.kind === "calibration" && <Guesses session={session} experiment={experiment} />}
        </>
      )}
      <Share session={session} />
    </section>
  );
}

function TextFields({ session }: { session: Session }) {
  return (
    <div class="learn-fields">
      {session.lesson.fields.map((field) => <TextField key={`${field.name} ${session.version.value}`} session={session} field={field} />)}
    </div>
  );
}

/** The textarea keeps its own text, so that a very long paste is not copied on every key. */
function TextField({ session, field }: { session: Session; field: Field }) {
  const id = `learn-${session.lesson.id}-${field.name}`;
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    area.current!.value = session.fields.peek()[field.name] ?? "";
  }, []);
  return (
    <div class="field">
      <div class="field-head"><label for={id}>{field.label}</label>{field.optional && <span class="optional">{learnText.optional}</span>}</div>
      <textarea id={id} ref={area} rows={field.rows ?? 3} dir="auto" onInput={(event) => session.type(field.name, event.currentTarget.value)} />
    </div>
  );
}

function Actions({ session }: { session: Session }) {
  const { actions } = session.lesson;
  const tell = (message: string) => (announcement.value = message);
  const reset = () => {
    const own = prefilled(session.lesson);
    const kept = Object.fromEntries(choicesOf(session.lesson).map((name) => [name, session.fields.value[name] ?? ""]));
    session.replace({ ...own, ...kept });
    tell(learnText.resetTextsDone);
  };
  return (
    <div class="buttons">
      {actions.map((action) => (
        <button type="button" class="plain" key={action.label} onClick={() => {
          session.replace(act(action, session.fields.value));
          tell(learnText.edited(action.label));
        }}>{action.label}</button>
      ))}
      <button type="button" class="link" onClick={reset}>{learnText.resetTexts}</button>
    </div>
  );
}

function RunBar({ engine, session }: { engine: EngineClient; session: Session }) {
  const words = learnText.run;
  const run = session.run.value;
  const { kind } = session.lesson.experiment;
  const { phase } = engine.state.value.model;
  const missing = useSignal<Field | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const label = kind === "compare" ? words.startCompare : kind === "checklist" ? words.startChecklist : kind === "ratings" ? words.startRatings : words.start;
  const start = () => {
    missing.value = missingIn(session.lesson, session.fields.value);
    if (missing.value !== null) {
      announcement.value = words.missing(missing.value.label);
      document.getElementById(`learn-${session.lesson.id}-${missing.value.name}`)?.focus();
      return;
    }
    void session.start(engine);
  };
  return (
    <div class="learn-run" data-testid="learn-run" data-phase={run.phase}>
      <div class="buttons">
        {isBusy(run)
          ? <button key="run" ref={button} type="button" class="primary" aria-disabled={run.phase === "cancelling"} onClick={() => session.cancel()}>{run.phase === "cancelling" ? words.cancelling : words.cancel}</button>
          : <button key="run" ref={button} type="button" class="primary" onClick={start}>{label}</button>}
        {(run.phase === "running" || run.phase === "cancelling") && (
          <>
            <progress max={Math.max(1, run.total)} value={run.done} aria-label={words.progress} />
            <span class="figures">{words.running(run.done, run.total)}</span>
          </>
        )}
        {run.phase === "done" && <span class="hint">{words.done(run.scored, run.total)}</span>}
        {run.phase === "cancelled" && <span class="hint">{words.cancelled}</span>}
      </div>
      {missing.value !== null && (session.fields.value[missing.value.name] ?? "").trim() === "" && <p class="field-error">{words.missing(missing.value.label)}</p>}
      {run.phase === "failed" && <p class="field-error">{words.failed(run.why)}</p>}
      {phase === "none" ? <p class="hint">{words.noModel} <a href={hrefOf("models")}>{words.toModels}</a></p> : run.phase === "waiting" && <p class="hint">{words.waiting}</p>}
    </div>
  );
}

function Result({ engine, session }: { engine: EngineClient; session: Session }) {
  const outcome = session.outcome.value;
  const { lesson } = session;
  const { experiment } = lesson;
  if (outcome === null) return <p class="hint learn-empty">{learnText.run.none}</p>;
  const [pair] = outcome.comparison?.pairs ?? [];
  const [judged] = outcome.judged;
  const stale = lesson.fields.some(({ name }) => outcome.of[name] !== session.fields.value[name]);
  return (
    <section class="learn-result-part" aria-labelledby="learn-result-heading" data-testid="learn-result" aria-busy={isBusy(session.run.value)}>
      <h4 id="learn-result-heading">{learnText.result.heading}</h4>
      {stale && <p class="note" data-testid="learn-stale">{learnText.run.stale}</p>}
      {experiment.kind === "scores" && <Scores outcome={outcome} arms={experiment.arms.map(({ name }) => name)} overall={engine.state.value.overall} busy={isBusy(session.run.value)} />}
      {experiment.kind === "compare" && pair && <Pair pair={pair} />}
      {experiment.kind === "checklist" && judged && <Items judged={judged} />}
      {experiment.kind === "calibration" && judged && <Levels judged={judged} />}
    </section>
  );
}

function Share({ session }: { session: Session }) {
  const told = useSignal<{ message: string; bad: boolean } | null>(null);
  const tell = (message: string, bad: boolean) => {
    told.value = { message, bad };
    announcement.value = message;
  };
  const share = async () => {
    const { lesson } = session;
    let packed: string;
    try {
      packed = await packState(toShared(lesson, session.fields.value));
    } catch (thrown) {
      return tell((thrown as Error).message, true);
    }
    made.add(packed);
    // Another lesson or screen may have been opened meanwhile.
    if (route.value.screen === "learn" && route.value.params.get("lesson") === lesson.id) amend({ lesson: lesson.id, [PACKED]: packed });
    const href = new URL(hrefOf("learn", { lesson: lesson.id, [PACKED]: packed }), location.href).href;
    await navigator.clipboard.writeText(href).then(() => tell(learnText.shared, false), () => tell(learnText.sharedAddress, false));
  };
  return (
    <div class="learn-share">
      <button type="button" class="link" onClick={() => void share()}>{learnText.share}</button>
      {told.value !== null && <p class={told.value.bad ? "field-error" : "hint"} data-testid="learn-shared">{told.value.message}</p>}
    </div>
  );
}
