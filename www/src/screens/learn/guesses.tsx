import { useSignal } from "@preact/signals";
import { announcement } from "../../live";
import { learnText } from "../../text/learn";
import { LearnChart } from "./chart";
import { GUESSES } from "./fields";
import { binsOf, brierOf, calibrationErrorOf, type Bin } from "./figures";
import type { Experiment } from "./lesson";
import { LearnTable } from "./results";
import type { Session } from "./session";

const words = learnText.guess;

/** Made up, 200 in all: too sure at both ends. The page says so wherever it shows them. */
export const INVENTED: Bin[] = [
  { said: 0.05, count: 40, came: 10 },
  { said: 0.2, count: 25, came: 8 },
  { said: 0.35, count: 20, came: 8 },
  { said: 0.5, count: 22, came: 11 },
  { said: 0.65, count: 20, came: 12 },
  { said: 0.8, count: 25, came: 17 },
  { said: 0.95, count: 48, came: 36 },
];

export function Guesses({ session, experiment }: { session: Session; experiment: Extract<Experiment, { kind: "calibration" }> }) {
  const fields = session.fields.value;
  const shown = useSignal(false);
  const { statements } = experiment;
  const said = statements.map((_, i) => fields[`guess-${i + 1}`] ?? "");
  const given = said.filter((guess) => guess !== "").length;
  const show = () => {
    if (given < statements.length) {
      announcement.value = words.few;
      const first = said.indexOf("");
      document.getElementById(`learn-guess-${first + 1}`)?.focus();
      return;
    }
    shown.value = true;
    announcement.value = words.brier((brierOf(own) ?? 0).toFixed(3));
  };
  const own = binsOf(statements.flatMap(({ isTrue }, i) => (said[i] === "" ? [] : [{ said: Number(said[i]) / 100, isTrue }])));
  const again = () => {
    shown.value = false;
    session.replace({ ...fields, ...Object.fromEntries(statements.map((_, i) => [`guess-${i + 1}`, ""])) });
  };
  const open = shown.value && given === statements.length;
  return (
    <section class="learn-guesses" aria-labelledby="learn-guess-heading">
      <h4 id="learn-guess-heading">{words.heading}</h4>
      <p>{words.intro}</p>
      <ol class="learn-statements">
        {statements.map((statement, i) => (
          <li key={statement.text}>
            <label for={`learn-guess-${i + 1}`}>{words.say(statement.text)}</label>
            <select id={`learn-guess-${i + 1}`} value={said[i]} disabled={open} onChange={(event) => session.type(`guess-${i + 1}`, event.currentTarget.value)}>
              <option value="">{words.none}</option>
              {GUESSES.map((value) => <option key={value} value={String(value)}>{words.percent(value)}</option>)}
            </select>
          </li>
        ))}
      </ol>
      <div class="buttons">
        {open
          ? <button key="again" type="button" class="plain" onClick={again}>{words.again}</button>
          : <button key="show" type="button" class="plain" onClick={show}>{words.show}</button>}
        <span class="hint">{words.given(given, statements.length)}{given < statements.length && ` ${words.few}`}</span>
      </div>
      {open && (
        <div data-testid="learn-reliability">
          <p class="note">{words.caution}</p>
          <LearnChart note={words.chart} spec={{
            kind: "lines", axes: [`${words.axisX} (%)`, `${words.axisY} (%)`],
            series: [
              { name: words.you, points: pointsOf(own) },
              { name: words.invented, points: pointsOf(INVENTED) },
              { name: words.diagonal, ideal: true, points: [{ x: 0, y: 0 }, { x: 100, y: 100 }] },
            ],
          }} />
          <div class="learn-tables">
            <Reliability whose={words.you} bins={own} testid="learn-own-bins" />
            <div>
              <Reliability whose={words.invented} bins={INVENTED} testid="learn-invented-bins" />
              <p class="hint">{words.inventedNote}</p>
            </div>
          </div>
          <details>
            <summary>{words.showAnswers}</summary>
            <ol>{statements.map(({ text, isTrue }) => <li key={text}>{words.truth(text, isTrue)}</li>)}</ol>
          </details>
        </div>
      )}
    </section>
  );
}

const pointsOf = (bins: Bin[]) => bins.map(({ said, count, came }) => ({ x: said * 100, y: (100 * came) / count }));

function Reliability({ whose, bins, testid }: { whose: string; bins: Bin[]; testid: string }) {
  const brier = brierOf(bins);
  const error = calibrationErrorOf(bins);
  return (
    <div>
      <LearnTable caption={words.caption(whose)} testid={testid}>
        <thead><tr><th scope="col">{words.said}</th><th scope="col">{words.count}</th><th scope="col">{words.came}</th></tr></thead>
        <tbody>
          {bins.map(({ said, count, came }) => (
            <tr key={said}><th scope="row">{words.percent(Math.round(said * 100))}</th><td class="num">{count}</td><td class="num">{words.percent(Math.round((100 * came) / count))}</td></tr>
          ))}
        </tbody>
      </LearnTable>
      {brier !== null && <p>{words.brier(brier.toFixed(3))}</p>}
      {error !== null && <p>{words.ece((error * 100).toFixed(0))}</p>}
    </div>
  );
}
