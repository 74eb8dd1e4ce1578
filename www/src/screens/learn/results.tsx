import type { ComponentChildren } from "preact";
import { formatCount, formatPercent, formatScore } from "../../format";
import { learnText } from "../../text/learn";
import type { PairVerdict, Rubric, Verdict } from "../../types";
import { LearnChart } from "./chart";
import { scoreOf, spreadOf, wordsOf } from "./figures";
import type { Judged, Outcome } from "./session";

/** A table that scrolls by itself where it is wider than the screen; with the keyboard too. */
export function LearnTable({ caption, testid, children }: { caption: string; testid: string; children: ComponentChildren }) {
  return (
    <div class="learn-scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class="learn-table" data-testid={testid}>
        <caption>{caption}</caption>
        {children}
      </table>
    </div>
  );
}

/** A score, or why there is none. */
export function Score({ verdict, waiting }: { verdict: Verdict | null; waiting: boolean }) {
  const score = scoreOf(verdict);
  if (verdict?.kind === "scored" && score !== null) return <>{learnText.result.of(formatScore(score) ?? "", String(verdict.max))}</>;
  if (verdict?.kind === "unscored") return <span class="learn-none">{learnText.run.noScore}: {verdict.message}</span>;
  return <span class="learn-none">{waiting ? "…" : learnText.run.notAsked}</span>;
}

/** The signed difference of two scores; nothing where one of them is missing. */
function change(first: Verdict | null, last: Verdict | null): string {
  const from = scoreOf(first);
  const to = scoreOf(last);
  if (from === null || to === null) return "–";
  const difference = to - from;
  return `${difference >= 0.005 ? "+" : difference <= -0.005 ? "−" : "±"}${Math.abs(difference).toFixed(2)}`;
}

export function Scores({ outcome, arms, overall, busy }: { outcome: Outcome; arms: string[]; overall: Rubric | null; busy: boolean }) {
  const { judged } = outcome;
  const rubrics = judged[0]?.step.request.rubrics ?? [];
  const verdict = (arm: number, i: number) => judged[arm]?.verdicts[i] ?? null;
  const two = arms.length === 2;
  const nameOf = (rubric: Rubric) => (rubric.id === overall?.id ? learnText.result.overall : rubric.name);
  const [low, high] = [Math.min(...rubrics.flatMap(({ options }) => options.map(({ value }) => value))), Math.max(...rubrics.flatMap(({ options }) => options.map(({ value }) => value)))];
  const single = rubrics.findIndex(({ id }) => id === overall?.id);
  const skills = spreadOf(rubrics.flatMap(({ ability }, i) => (ability === null ? [] : [scoreOf(verdict(0, i))])));
  return (
    <>
      {judged.some(({ truncated }) => truncated) && <p class="note">{learnText.result.truncated}</p>}
      {rubrics.length > 6 && skills !== null && (
        <p class="learn-sum">
          {single >= 0 && scoreOf(verdict(0, single)) !== null && <strong>{learnText.result.overallIs(formatScore(scoreOf(verdict(0, single))!) ?? "")} </strong>}
          {learnText.result.scaleMean(skills.mean.toFixed(2), skills.low.toFixed(2), skills.high.toFixed(2))}
        </p>
      )}
      <div class="learn-figures">
        <LearnTable caption={learnText.result.caption} testid="learn-scores">
          <thead>
            <tr>
              <th scope="col">{learnText.result.skill}</th>
              {arms.map((arm) => <th scope="col" key={arm}>{learnText.result.score(arm)}</th>)}
              {two && <th scope="col">{learnText.result.change}</th>}
            </tr>
          </thead>
          <tbody>
            {rubrics.map((rubric, i) => (
              <tr key={rubric.id} data-rubric={rubric.id}>
                <th scope="row">{nameOf(rubric)}</th>
                {arms.map((arm, a) => <td key={arm} class="num"><Score verdict={verdict(a, i)} waiting={busy} /></td>)}
                {two && <td class="num">{change(verdict(0, i), verdict(1, i))}</td>}
              </tr>
            ))}
          </tbody>
        </LearnTable>
        {judged.some((one) => one.verdicts.some((v) => v !== null)) && (
          <LearnChart note={learnText.result.chart} spec={{
            kind: "bars", across: true, labels: rubrics.map(nameOf), min: low, max: high, axis: learnText.result.axis,
            series: arms.map((name, a) => ({ name, values: rubrics.map((_, i) => scoreOf(verdict(a, i))) })),
          }} />
        )}
      </div>
      <p class="hint">{arms.map((arm, a) => (judged[a] ? learnText.result.words(arm, formatCount(wordsOf(judged[a].step.request.response))) : null)).filter((line) => line !== null).join(" · ")}</p>
    </>
  );
}

export function Pair({ pair }: { pair: PairVerdict }) {
  const words = learnText.pair;
  const name = (place: number) => (place === pair.first ? words.a : words.b);
  const { verdict, shown } = pair;
  const [front, back] = shown;
  // What being in front adds: each response's probability in front less behind, which is the same for both.
  const shift = front && back ? (front.shown_first === pair.first ? front.first - back.first : back.first - front.first) : null;
  return (
    <>
      {verdict.kind === "scored" ? (
        <p class="learn-sum" data-testid="learn-pair-verdict">
          <strong>{verdict.preferred === null ? words.tie : words.prefers(name(verdict.preferred), formatPercent(verdict.preferred === pair.first ? verdict.probability_first : 1 - verdict.probability_first))}</strong>{" "}
          {verdict.flipped ? words.flipped : words.kept}
          {shift !== null && ` ${words.shift((shift * 100).toFixed(0).replace("-", "−"))}`}
        </p>
      ) : <p class="note">{words.unscored(verdict.message)}</p>}
      <div class="learn-figures">
        <LearnTable caption={words.caption} testid="learn-pair">
          <thead><tr><th scope="col">{words.order}</th><th scope="col">{words.wins(words.a)}</th><th scope="col">{words.wins(words.b)}</th></tr></thead>
          <tbody>
            {shown.map((one) => (
              <tr key={one.shown_first}><th scope="row">{name(one.shown_first)}</th><td class="num">{formatPercent(one.first)}</td><td class="num">{formatPercent(one.second)}</td></tr>
            ))}
            {verdict.kind === "scored" && (
              <tr><th scope="row">{words.both}</th><td class="num">{formatPercent(verdict.probability_first)}</td><td class="num">{formatPercent(1 - verdict.probability_first)}</td></tr>
            )}
          </tbody>
        </LearnTable>
        <LearnChart note={words.chart} spec={{
          kind: "bars", across: true, min: 0, max: 100, axis: "%", labels: shown.map((one) => `${words.order}: ${name(one.shown_first)}`),
          series: [{ name: words.wins(words.a), values: shown.map((one) => one.first * 100) }, { name: words.wins(words.b), values: shown.map((one) => one.second * 100) }],
        }} />
      </div>
    </>
  );
}

export function Items({ judged }: { judged: Judged }) {
  const words = learnText.checklist;
  const { items } = judged;
  if ((judged.step.request.checklist?.items.length ?? 0) === 0) return <p class="note">{words.empty}</p>;
  const code = items.filter(({ by }) => by === "code").length;
  return (
    <>
      <p class="learn-sum">{words.count(code, items.length - code)}</p>
      <LearnTable caption={words.caption} testid="learn-items">
        <thead><tr><th scope="col">{words.item}</th><th scope="col">{words.by}</th><th scope="col">{words.found}</th></tr></thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.item_id} data-by={item.by}>
              <th scope="row" dir="auto">{item.question}</th>
              <td><span class={`learn-by ${item.by}`}>{item.by === "code" ? words.code : words.model}</span></td>
              <td>
                {item.by === "code"
                  ? <><strong>{{ met: words.met, not_met: words.notMet, not_applicable: words.notApplicable }[item.finding.verdict]}</strong>. <span dir="auto">{item.finding.sentence}</span></>
                  : item.verdict.kind === "scored"
                    ? item.answer === "yes_no" ? words.yes(formatPercent(item.verdict.expected)) : <Score verdict={item.verdict} waiting={false} />
                    : item.verdict.code === "not_applicable" ? words.notApplicable : <Score verdict={item.verdict} waiting={false} />}
              </td>
            </tr>
          ))}
        </tbody>
      </LearnTable>
    </>
  );
}

export function Levels({ judged }: { judged: Judged }) {
  const words = learnText.distribution;
  const verdict = judged.verdicts[0] ?? null;
  if (verdict === null) return null;
  if (verdict.kind === "unscored") return <p class="note"><Score verdict={verdict} waiting={false} /></p>;
  const { distribution } = verdict;
  return (
    <>
      <p class="learn-sum">{words.expected(distribution.map(({ value, probability }) => `${value} × ${probability.toFixed(2)}`).join(" + "), formatScore(verdict.expected) ?? "")}</p>
      <div class="learn-figures">
        <LearnTable caption={words.caption} testid="learn-levels">
          <thead><tr><th scope="col">{words.level}</th><th scope="col">{words.probability}</th><th scope="col">{words.part}</th></tr></thead>
          <tbody>
            {distribution.map(({ label, value, probability }) => (
              <tr key={label}><th scope="row">{label}</th><td class="num">{formatPercent(probability)}</td><td class="num">{(value * probability).toFixed(2)}</td></tr>
            ))}
          </tbody>
        </LearnTable>
        <LearnChart note={words.chart} spec={{
          kind: "bars", across: false, min: 0, max: 100, axis: "%", labels: distribution.map(({ label }) => label),
          series: [{ name: words.probability, values: distribution.map(({ probability }) => probability * 100) }],
        }} />
      </div>
    </>
  );
}
