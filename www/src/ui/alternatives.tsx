import { Fragment } from "preact";
import { useSignal } from "@preact/signals";
import { hardMean, meansOf } from "../compare";
import type { EngineClient } from "../engine";
import { outcomeOf } from "../findings";
import { formatPercent, formatScore, formatWeight } from "../format";
import type { ItemRow, Run } from "../state";
import { text } from "../text";
import { Distribution } from "./results";

/** One mean per way to judge. They are alternatives: nothing is summed over them. */
export function Comparison({ run, questions }: { run: Run; questions: ItemRow[] }) {
  const ways = meansOf(run, questions);
  if (ways.length === 0) return null;
  return (
    <section class="part" aria-labelledby="compare-heading" data-testid="comparison">
      <h3 id="compare-heading">{text.compare.heading}</h3>
      <div class="compare-scroll">
        <table class="compare">
          <caption class="unseen">{text.compare.caption}</caption>
          <thead>
            <tr>
              <th scope="col"><span class="unseen">{text.compare.kind}</span></th>
              {ways.map(({ way }) => <th key={way} scope="col">{text.compare[way]}</th>)}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">{text.compare.mean}</th>
              {ways.map(({ way, mean }) => {
                const shown = mean.mean === null ? null : formatScore(mean.mean);
                return (
                  <td key={way} data-testid={`mean-${way}`}>
                    {shown === null
                      ? <span class="no-score">{run.phase === "running" ? text.compare.none : text.results.unscored}</span>
                      : <><span class="score">{shown}</span> <span class="of">{text.compare.of(mean.max)}</span></>}
                  </td>
                );
              })}
            </tr>
            <tr>
              <th scope="row">{text.compare.from}</th>
              {ways.map(({ way, mean }) => (
                <td key={way} class="hint">
                  {way === "skills" ? text.compare.fromSkills(mean.scored, mean.all)
                    : way === "hard" ? text.compare.fromQuestions(mean.scored, mean.all)
                    : text.compare.fromOverall}
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
      <p class="hint">{text.compare.note}</p>
    </section>
  );
}

/** The hard questions under the skill that each belongs to, with the mean of each skill. */
export function HardQuestions({ engine, run, rows }: { engine: EngineClient; run: Run; rows: ItemRow[] }) {
  const skills = engine.state.value.vocabulary?.skills ?? [];
  const groups = new Map<string, ItemRow[]>();
  for (const row of rows) {
    const name = skills.find(({ id }) => id === row.item.skill)?.name ?? text.hard.noSkill;
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return (
    <section class="part" aria-labelledby="hard-heading" data-testid="hard">
      <h3 id="hard-heading">{text.hard.heading}</h3>
      <table class="scores" data-testid="hard-scores" aria-busy={run.phase === "running"}>
        <caption class="unseen">{text.hard.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{text.hard.question}</th>
            <th scope="col" class="num">{text.results.score}</th>
            <th scope="col">{text.results.distribution}</th>
          </tr>
        </thead>
        {[...groups].map(([name, members]) => {
          const { mean } = hardMean(members);
          const shown = mean === null ? null : formatScore(mean);
          return (
            <tbody key={name}>
              <tr class="group">
                <th scope="rowgroup" colSpan={3}>
                  {name} <span class="group-mean">{shown === null ? text.hard.noMean : text.hard.mean(shown)}</span>
                </th>
              </tr>
              {members.map((row) => <HardRow key={row.item.id} row={row} phase={run.phase} />)}
            </tbody>
          );
        })}
      </table>
    </section>
  );
}

function HardRow({ row, phase }: { row: ItemRow; phase: Run["phase"] }) {
  const open = useSignal(false);
  const { item, verdict } = row;
  const outcome = outcomeOf(verdict);
  const judged = verdict?.by === "model" ? verdict.verdict : null;
  const score = judged?.kind === "scored" ? formatScore(judged.expected) : null;
  const weight = item.weight ?? 1;
  return (
    <Fragment>
      <tr class={score !== null ? "row scored" : "row"} data-testid="hard-row" data-item={item.id} data-state={outcome.kind}>
        <th scope="row">
          <div class="row-head">
            <span class="skill-name" dir="auto">{item.question}</span>
            {judged && (
              <button type="button" class="link toggle" aria-expanded={open.value} aria-label={text.results.detailsOf(item.question)} onClick={() => (open.value = !open.value)}>
                {text.results.details}
              </button>
            )}
          </div>
        </th>
        {score !== null && judged?.kind === "scored" ? (
          <>
            <td class="num"><span class="score">{score}</span> <span class="of">{text.results.of(String(judged.max))}</span></td>
            <td><Distribution options={judged.distribution} /></td>
          </>
        ) : (
          <td class="no-score" colSpan={2}>
            {outcome.kind === "not_applicable" || outcome.kind === "unscored" ? (
              <><strong>{outcome.kind === "not_applicable" ? text.results.notApplicable : text.results.unscored}.</strong> {outcome.reason}</>
            ) : phase === "running" ? (
              <span class="waiting">{text.results.waiting}</span>
            ) : (
              <><strong>{text.results.unscored}.</strong> {phase === "cancelled" ? text.results.notReached : text.results.lost}</>
            )}
          </td>
        )}
      </tr>
      {judged && open.value && (
        <tr class="detail">
          <td colSpan={3}>
            <dl>
              {weight !== 1 && <><dt>{text.findings.weight}</dt><dd>{formatWeight(weight)}</dd></>}
              {item.condition && <><dt>{text.findings.condition}</dt><dd dir="auto">{item.condition}</dd></>}
              {item.passage && <><dt>{text.findings.passage}</dt><dd dir="auto">{item.passage}</dd></>}
              {judged.kind === "scored" && (
                <>
                  <dt>{text.results.mass}</dt>
                  <dd>{text.results.massOf(formatPercent(judged.mass))}{judged.truncated && ` ${text.results.truncatedRow}`}</dd>
                  {judged.not_applicable !== undefined && <><dt>{text.results.naShare}</dt><dd>{text.results.naShareOf(formatPercent(judged.not_applicable))}</dd></>}
                </>
              )}
              {judged.kind === "unscored" && <><dt>{text.error.technical}</dt><dd><code>{judged.code}</code></dd></>}
            </dl>
          </td>
        </tr>
      )}
    </Fragment>
  );
}
