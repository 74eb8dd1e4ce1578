import { useLayoutEffect, useRef } from "preact/hooks";
import { announcement } from "../../live";
import { learnText } from "../../text/learn";
import { progress, setProgress, withResult } from "./progress";
import { check, choose, fresh, rightOf, unanswered } from "./quiz";
import type { Session } from "./session";

const words = learnText.quiz;

export function QuizForm({ session }: { session: Session }) {
  const form = useRef<HTMLFormElement>(null);
  const { lesson, quiz } = session;
  const { chosen, checked } = quiz.value;
  const right = rightOf(quiz.value, lesson.quiz);
  /** Where the focus goes when the form has changed under it. */
  const move = useRef<"result" | "first" | null>(null);
  useLayoutEffect(() => {
    if (move.current !== null) form.current?.querySelector<HTMLElement>(move.current === "first" ? "input" : ".learn-result")?.focus();
    move.current = null;
  }, [checked]);
  const submit = (event: Event) => {
    event.preventDefault();
    const [first] = unanswered(quiz.value);
    if (first !== undefined) {
      announcement.value = words.missing(unanswered(quiz.value).join(", "));
      form.current?.querySelectorAll("fieldset")[first - 1]?.querySelector("input")?.focus();
      return;
    }
    move.current = "result";
    quiz.value = check(quiz.value);
    setProgress(withResult(progress.value, lesson.id, right));
    announcement.value = words.result(right, lesson.quiz.length);
  };
  const again = () => {
    move.current = "first";
    quiz.value = fresh(lesson.quiz);
  };
  return (
    <section class="card learn-quiz" aria-labelledby="learn-quiz-heading">
      <h3 id="learn-quiz-heading">{words.heading}</h3>
      <form ref={form} onSubmit={submit} data-testid="learn-quiz">
        {lesson.quiz.map(({ question, options }, i) => {
          const place = chosen[i] ?? null;
          const answer = place === null ? null : options[place];
          return (
            <fieldset key={question} aria-describedby={checked ? `learn-why-${i}` : undefined}>
              <legend><span class="learn-quiz-number">{words.legend(i + 1, lesson.quiz.length)}</span> {question}</legend>
              {options.map((option, j) => (
                <label key={option.text} class={checked && (option.right || j === place) ? (option.right ? "learn-option right" : "learn-option wrong") : "learn-option"}>
                  <input type="radio" name={`learn-${lesson.id}-${i}`} checked={place === j} disabled={checked} onChange={() => (quiz.value = choose(quiz.value, i, j))} />
                  <span>{option.text}</span>
                  {checked && option.right && <span class="learn-sign" aria-hidden="true">✓</span>}
                  {checked && !option.right && j === place && <span class="learn-sign" aria-hidden="true">✗</span>}
                </label>
              ))}
              {checked && answer && (
                <p class="learn-why" id={`learn-why-${i}`} data-testid="learn-why" data-right={answer.right}>
                  <strong>{answer.right ? words.right : words.wrong}</strong> {answer.why}
                  {!answer.right && <> <span class="learn-was">{words.rightWas(options.find((option) => option.right)?.text ?? "")}</span></>}
                </p>
              )}
            </fieldset>
          );
        })}
        {!checked && unanswered(quiz.value).length < lesson.quiz.length && unanswered(quiz.value).length > 0 && <p class="hint">{words.missing(unanswered(quiz.value).join(", "))}</p>}
        {checked
          ? <div class="buttons"><strong class="learn-result" tabIndex={-1} data-testid="learn-quiz-result">{words.result(right, lesson.quiz.length)}</strong><button key="again" type="button" class="plain" onClick={again}>{words.again}</button></div>
          : <div class="buttons"><button key="check" type="submit" class="primary">{words.check}</button></div>}
      </form>
    </section>
  );
}
