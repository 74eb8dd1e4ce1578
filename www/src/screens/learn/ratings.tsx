import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { EngineClient } from "../../engine";
import { learnText } from "../../text/learn";
import type { Agreement, Estimate } from "../../types";
import type { Failure } from "../../worker/protocol";
import { prefilled } from "./fields";
import { kappaOf, scoreOf } from "./figures";
import type { Experiment } from "./lesson";
import { LearnTable } from "./results";
import type { Session } from "./session";

const words = learnText.rate;
type Ratings = Extract<Experiment, { kind: "ratings" }>;
type Column = (number | null)[];

/** Ratings are resampled with this seed; the text names it. */
const SEED = 1;

export function RateAnswers({ session, experiment }: { session: Session; experiment: Ratings }) {
  const fields = session.fields.value;
  return (
    <>
      <p><strong>{words.question}:</strong> <span dir="auto">{fields[experiment.question]}</span></p>
      <div class="learn-answers">
        {experiment.answers.map((name, i) => (
          <fieldset key={name} class="learn-answer">
            <legend>{words.answer(i + 1)}</legend>
            <p dir="auto">{fields[name]}</p>
            <div class="learn-stars" role="radiogroup" aria-label={words.yours(i + 1)}>
              {words.levels.map((level, l) => (
                <label key={level}>
                  <input type="radio" name={`learn-rating-${i + 1}`} checked={fields[`rating-${i + 1}`] === String(l + 1)} onChange={() => session.type(`rating-${i + 1}`, String(l + 1))} />
                  <span>{level}</span>
                </label>
              ))}
            </div>
          </fieldset>
        ))}
      </div>
    </>
  );
}

/** All columns of ratings; null where there is none. */
export function columnsOf(session: Session, experiment: Ratings): { name: string; ratings: Column; whole: boolean }[] {
  const fields = session.fields.value;
  const own = prefilled(session.lesson);
  const known = (i: number) => fields[experiment.question] === own[experiment.question] && fields[experiment.answers[i]!] === own[experiment.answers[i]!];
  const outcome = session.outcome.value;
  const asked = (i: number) => outcome?.of[experiment.question] === fields[experiment.question] && outcome?.of[experiment.answers[i]!] === fields[experiment.answers[i]!];
  const column = (of: (i: number) => number | null): Column => experiment.answers.map((_, i) => of(i));
  return [
    { name: words.you, whole: true, ratings: column((i) => Number(fields[`rating-${i + 1}`]) || null) },
    { name: words.labelerA, whole: true, ratings: column((i) => (known(i) ? experiment.ada[i]! : null)) },
    { name: words.labelerB, whole: true, ratings: column((i) => (known(i) ? experiment.ben[i]! : null)) },
    ...(outcome ? [{ name: words.judge, whole: false, ratings: column((i) => (asked(i) ? scoreOf(outcome.judged[i]?.verdicts[0] ?? null) : null)) }] : []),
  ];
}

export function AgreementTable({ engine, session, experiment }: { engine: EngineClient; session: Session; experiment: Ratings }) {
  const columns = columnsOf(session, experiment);
  const [you] = columns;
  const rated = you!.ratings.filter((rating) => rating !== null).length;
  const pairs = columns.flatMap((first, i) => columns.slice(i + 1).map((second) => [first, second] as const));
  const found = useSignal<Record<string, Agreement | string>>({});
  const key = JSON.stringify(columns);
  useEffect(() => {
    let left = false;
    const ask = async () => {
      const next: Record<string, Agreement | string> = {};
      for (const [first, second] of pairs) {
        const name = words.and(first.name, second.name);
        try {
          next[name] = await engine.call("agreement", { first: first.ratings, second: second.ratings, groups: null, seed: SEED }).answer;
        } catch (thrown) {
          next[name] = (thrown as Failure).message;
        }
        if (left) return;
      }
      found.value = next;
    };
    // Not on every press of a key: the ratings may change again at once.
    const timer = setTimeout(() => void ask(), 150);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [key, engine.state.value.version]);
  return (
    <>
      <p class="learn-sum" data-testid="learn-rated">{words.rated(rated, experiment.answers.length)} {rated < 3 && words.few}</p>
      {rated >= 3 && (
        <>
          <LearnTable caption={words.caption} testid="learn-agreement">
            <thead>
              <tr>{[words.raters, words.n, words.same, words.kappa, words.alpha, words.spearman].map((head) => <th scope="col" key={head}>{head}</th>)}</tr>
            </thead>
            <tbody>
              {pairs.map(([first, second]) => {
                const name = words.and(first.name, second.name);
                const figures = found.value[name];
                const whole = first.whole && second.whole ? kappaOf(first.ratings, second.ratings) : null;
                return (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    {typeof figures === "string" ? <td colSpan={5}>{words.failed(figures)}</td> : (
                      <>
                        <td class="num">{figures?.n ?? "…"}</td>
                        <td class="num">{whole ? `${Math.round(whole.same * whole.n)} / ${whole.n}` : "–"}</td>
                        <td class="num">{whole ? (whole.kappa === null ? words.undefinedFigure : signed(whole.kappa)) : first.whole && second.whole ? words.undefinedFigure : words.kappaModel}</td>
                        <td class="num">{figures ? show(figures.alpha) : "…"}</td>
                        <td class="num">{figures ? show(figures.spearman) : "…"}</td>
                      </>
                    )}
                  </tr>
                );
              })}
            </tbody>
          </LearnTable>
          <p class="hint">{words.why}</p>
          <details>
            <summary>{words.ratings}</summary>
            <LearnTable caption={words.ratingsCaption} testid="learn-ratings">
              <thead><tr><th scope="col">{words.answer(1).replace(/\s*\d+$/, "")}</th>{columns.map(({ name }) => <th scope="col" key={name}>{name}</th>)}</tr></thead>
              <tbody>
                {experiment.answers.map((name, i) => (
                  <tr key={name}><th scope="row">{i + 1}</th>{columns.map((column) => <td class="num" key={column.name}>{column.ratings[i] === null || column.ratings[i] === undefined ? "–" : column.whole ? column.ratings[i] : column.ratings[i].toFixed(2)}</td>)}</tr>
                ))}
              </tbody>
            </LearnTable>
          </details>
        </>
      )}
    </>
  );
}

const signed = (value: number) => value.toFixed(2).replace(/^-0\.00$/, "0.00").replace("-", "−");

function show(estimate: Estimate): string {
  return estimate === null ? words.undefinedFigure : words.interval(signed(estimate.value), signed(estimate.low), signed(estimate.high));
}
