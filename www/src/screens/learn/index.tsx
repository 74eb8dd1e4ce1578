import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { announcement } from "../../live";
import { hrefOf, route } from "../../router";
import { learnText } from "../../text/learn";
import type { ScreenProps } from "..";
import { lessonNamed, LESSONS } from "./lessons";
import { kept, progress, recallProgress, setProgress, type Progress } from "./progress";
import { LessonView, PACKED } from "./view";
import "./style.css";

/** The classroom: an overview of the lessons, or the one that the address names. */
export default function Learn({ engine }: ScreenProps) {
  /** The address as it was when it last named this screen: it may name another by now. */
  const shown = useSignal<{ lesson: string | null; packed: string | null }>({ lesson: null, packed: null });
  const { screen, params } = route.value;
  const now = screen === "learn" ? { lesson: params.get("lesson"), packed: params.get(PACKED) } : shown.value;
  useEffect(() => {
    shown.value = now;
  }, [now.lesson, now.packed]);
  /** Not on the first visit: whoever opens the page begins at its top. */
  const entered = useRef(false);
  useEffect(() => {
    recallProgress();
    entered.current = true;
  }, []);
  if (now.lesson !== null && lessonNamed(now.lesson)) return <LessonView key={now.lesson} engine={engine} name={now.lesson} packed={now.packed} entered={entered.current} />;
  return <Overview unknown={now.lesson} entered={entered.current} />;
}

function Overview({ unknown, entered }: { unknown: string | null; entered: boolean }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (entered) heading.current?.focus();
  }, []);
  const best = progress.value;
  const taken = LESSONS.filter(({ id }) => best[id] !== undefined).length;
  return (
    <section class="card learn-overview" aria-labelledby="learn-heading">
      <h2 id="learn-heading" ref={heading} tabIndex={-1}>{learnText.heading}</h2>
      {unknown !== null && <p class="note" role="status">{learnText.noLesson(unknown)}</p>}
      {learnText.intro.map((paragraph) => <p key={paragraph}>{paragraph}</p>)}
      <h3 class="unseen">{learnText.lessons}</h3>
      <ol class="learn-list">
        {LESSONS.map(({ id, title, aim, minutes, quiz }, i) => {
          const right = best[id];
          return (
            <li key={id} data-testid="learn-card" data-lesson={id}>
              <span class="learn-number" aria-hidden="true">{i + 1}</span>
              <div>
                <a href={hrefOf("learn", { lesson: id })}>{title}</a>
                <p>{aim}</p>
                <p class="hint">{learnText.minutes(minutes)} · {right === undefined ? learnText.notDone : <><strong>✓ {learnText.done}</strong>, {learnText.best(right, quiz.length)}</>}</p>
              </div>
            </li>
          );
        })}
      </ol>
      <Reset taken={taken} />
    </section>
  );
}

function Reset({ taken }: { taken: number }) {
  const forgotten = useSignal<Progress | null>(null);
  const forget = () => {
    forgotten.value = progress.value;
    setProgress({});
    announcement.value = learnText.resetDone;
  };
  const undo = () => {
    setProgress(forgotten.value ?? {});
    forgotten.value = null;
    announcement.value = learnText.undone;
  };
  return (
    <div class="learn-progress">
      <p data-testid="learn-progress">{learnText.progress(taken, LESSONS.length)} {kept.value ? learnText.progressKept : learnText.progressDenied}</p>
      {taken === 0 && forgotten.value !== null && <p>{learnText.resetDone}</p>}
      {(taken > 0 || forgotten.value !== null) && (
        <button key="reset" type="button" class="link" onClick={taken > 0 ? forget : undo}>{taken > 0 ? learnText.reset : learnText.undo}</button>
      )}
    </div>
  );
}
