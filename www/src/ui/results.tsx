import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../engine";
import { formatCount, formatDuration, formatPercent, formatScore, recordName } from "../format";
import { isHard } from "../asks";
import { announcement } from "../live";
import { radarOf } from "../radar";
import { saveText } from "../save";
import { standingOf } from "../standing";
import type { Row, Run } from "../state";
import { text } from "../text";
import type { JudgeRecord, OptionProbability, Rubric } from "../types";
import { Comparison, HardQuestions } from "./alternatives";
import { Findings } from "./findings";
import { RadarChart } from "./radar-chart";

export function Results({ engine }: { engine: EngineClient }) {
  const { run } = engine.state.value;
  const section = useRef<HTMLElement>(null);
  // Whoever pressed Judge wants to see scores; progress and Cancel stay in view at the bottom of the window.
  useEffect(() => {
    if (run?.phase === "running") section.current?.scrollIntoView({ block: "start" });
  }, [run?.run_id]);
  return (
    <section class="card results" id="results" ref={section} tabIndex={-1} aria-labelledby="results-heading">
      <div class="card-head">
        <h2 id="results-heading">{text.results.heading}</h2>
        {run && <Standing run={run} />}
      </div>
      {run ? <RunResults engine={engine} run={run} key={run.run_id} /> : <Idle />}
      <p class="honest"><strong>{text.results.weak}</strong> {text.results.weakMore}</p>
    </section>
  );
}

/** Before the first run: an empty profile instead of an empty space. */
function Idle() {
  return (
    <div class="idle">
      <svg viewBox="-50 -50 100 100" aria-hidden="true">
        {[14, 28, 42].map((r) => <circle key={r} r={r} />)}
        {Array.from({ length: 12 }, (_, i) => {
          const angle = (i * Math.PI) / 6;
          return <line key={i} x1="0" y1="0" x2={42 * Math.sin(angle)} y2={-42 * Math.cos(angle)} />;
        })}
      </svg>
      <p>{text.results.idle}</p>
    </div>
  );
}

function Standing({ run }: { run: Run }) {
  return <span class="standing" data-testid="standing" data-phase={run.phase}>{standingOf(run)}</span>;
}

function RunResults({ engine, run }: { engine: EngineClient; run: Run }) {
  const radar = radarOf(run.rows);
  const list = run.items.filter(({ item }) => !isHard(item));
  const questions = run.items.filter(({ item }) => isHard(item));
  return (
    <>
      {run.truncations.map((cut) => (
        <p class="note" key={cut.text} data-testid="truncation">
          {text.results.truncation(text.results.truncated[cut.text] ?? cut.text, formatCount(cut.kept_characters), formatCount(cut.total_characters))}
        </p>
      ))}
      {run.record?.notices.map((notice) => <p class="note" key={notice} data-testid="notice">{notice}</p>)}
      <Comparison run={run} questions={questions} />
      {run.rows.length > 0 && (
        <div class={radar.kind === "chart" ? "profile" : "profile lone"}>
          <Table groups={groupRows(run.rows)} phase={run.phase} caption={text.results.caption} heading={text.results.skill} testid="scores" />
          {radar.kind === "chart"
            ? <figure class="radar" aria-hidden="true"><RadarChart radar={radar} /><figcaption>{text.results.radarNote}</figcaption></figure>
            : <p class="hint no-radar" data-testid="no-radar">{text.results.noRadar[radar.why]}</p>}
        </div>
      )}
      {run.record?.total && (
        <p class="note" data-testid="total">
          {run.record.total.kind === "scored"
            ? text.results.total(run.record.total.score.toFixed(2), formatCount(run.record.total.counted), formatCount(run.record.total.not_applicable))
            : text.results.noTotal(run.record.total.message)}
        </p>
      )}
      {list.length > 0 && <Findings engine={engine} run={run} rows={list} />}
      {questions.length > 0 && <HardQuestions engine={engine} run={run} rows={questions} />}
      {run.overall && (
        <section class="part" aria-labelledby="overall-heading" data-testid="overall">
          <h3 id="overall-heading">{text.overall.heading}</h3>
          <Table groups={[{ title: null, rows: [run.overall] }]} phase={run.phase} caption={text.overall.caption} heading={text.overall.rubric} testid="overall-score" />
        </section>
      )}
      {run.record && <RecordBar record={run.record} />}
    </>
  );
}

function Table({ groups, phase, caption, heading, testid }: {
  groups: { title: string | null; rows: Row[] }[];
  phase: Run["phase"];
  caption: string;
  heading: string;
  testid: string;
}) {
  return (
    <table class="scores" data-testid={testid} aria-busy={phase === "running"}>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{heading}</th>
          <th scope="col" class="num">{text.results.score}</th>
          <th scope="col">{text.results.distribution}</th>
        </tr>
      </thead>
      {groups.map((group) => (
        <tbody key={group.title}>
          {group.title !== null && (
            <tr class="group">
              <th scope="rowgroup" colSpan={3}>{group.title}</th>
            </tr>
          )}
          {group.rows.map((row) => <ScoreRow key={row.rubric.id} row={row} phase={phase} />)}
        </tbody>
      ))}
    </table>
  );
}

function ScoreRow({ row, phase }: { row: Row; phase: Run["phase"] }) {
  const open = useSignal(false);
  const { rubric } = row;
  const verdict = row.verdict?.verdict ?? null;
  const score = verdict?.kind === "scored" ? formatScore(verdict.expected) : null;
  const id = `details-${rubric.id.replace(/[^\w-]/g, "_")}`;
  return (
    <Fragment>
      <tr class={score !== null ? "row scored" : "row"} data-testid="row" data-rubric={rubric.id} data-state={verdict?.kind ?? (phase === "running" ? "waiting" : "missing")}>
        <th scope="row">
          <div class="row-head">
            <span class="skill-name" dir="auto">{rubric.name}</span>
            {verdict && (
              <button type="button" class="link toggle" aria-expanded={open.value} aria-controls={id} aria-label={text.results.detailsOf(rubric.name)} onClick={() => (open.value = !open.value)}>
                {text.results.details}
              </button>
            )}
          </div>
        </th>
        {score !== null && verdict?.kind === "scored" ? (
          <>
            <td class="num"><span class="score">{score}</span> <span class="of">{text.results.of(String(verdict.max))}</span></td>
            <td><Distribution options={verdict.distribution} /></td>
          </>
        ) : (
          <td class="no-score" colSpan={2}>
            {verdict?.kind === "unscored" ? (
              <><strong>{verdict.code === "not_applicable" ? text.results.notApplicable : text.results.unscored}.</strong> {verdict.message}</>
            ) : phase === "running" ? (
              <span class="waiting">{text.results.waiting}</span>
            ) : (
              <><strong>{text.results.unscored}.</strong> {phase === "cancelled" ? text.results.notReached : text.results.lost}</>
            )}
          </td>
        )}
      </tr>
      {verdict && (
        <tr id={id} class="detail" hidden={!open.value}>
          <td colSpan={3}>
            <dl>
              <dt>{text.results.criterion}</dt>
              <dd dir="auto">{rubric.criterion}</dd>
              {verdict.kind === "scored" && (
                <>
                  <dt>{text.results.levels}</dt>
                  <dd>
                    <ul class="levels">
                      {verdict.distribution.map((option) => (
                        <li key={option.label}>
                          <span class="level-label">{option.label}</span>
                          <span class="figures">{formatPercent(option.probability)}</span>
                          <span dir="auto">{describe(rubric, option.label)}</span>
                        </li>
                      ))}
                    </ul>
                  </dd>
                  <dt>{text.results.mass}</dt>
                  <dd>{text.results.massOf(formatPercent(verdict.mass))}</dd>
                  {verdict.not_applicable !== undefined && (
                    <>
                      <dt>{text.results.naShare}</dt>
                      <dd>{text.results.naShareOf(formatPercent(verdict.not_applicable))}</dd>
                    </>
                  )}
                  <dt>{text.results.method}</dt>
                  <dd>{text.results.methods[verdict.method] ?? verdict.method}{verdict.truncated && `. ${text.results.truncatedRow}`}</dd>
                </>
              )}
              {verdict.kind === "unscored" && (
                <>
                  <dt>{text.error.technical}</dt>
                  <dd><code>{verdict.code}</code></dd>
                </>
              )}
            </dl>
          </td>
        </tr>
      )}
    </Fragment>
  );
}

/** Small columns, one per level; the text beside each is what a screen reader says. */
export function Distribution({ options }: { options: OptionProbability[] }) {
  const most = Math.max(...options.map((option) => option.probability));
  return (
    <ul class="dist">
      {options.map((option) => (
        <li key={option.label} class={option.probability === most ? "top" : ""} title={text.results.level(option.label, formatPercent(option.probability))}>
          <span class="unseen">{text.results.level(option.label, formatPercent(option.probability))}</span>
          <span class="bar" aria-hidden="true"><span style={{ height: `${(option.probability * 100).toFixed(1)}%` }} /></span>
          <span class="tick" aria-hidden="true">{option.label}</span>
        </li>
      ))}
    </ul>
  );
}

function RecordBar({ record }: { record: JudgeRecord }) {
  const told = useSignal("");
  const tell = (message: string) => {
    told.value = message;
    announcement.value = message;
  };
  const json = () => `${JSON.stringify(record, null, 2)}\n`;
  const copy = () =>
    navigator.clipboard.writeText(json()).then(
      () => tell(text.results.copied),
      () => tell(text.results.copyFailed),
    );
  const download = () => {
    const name = recordName(new Date());
    saveText(name, json(), "application/json");
    tell(text.results.downloaded(name));
  };
  const { timings } = record;
  return (
    <div class="record">
      <p class="figures" data-testid="timing">
        {text.results.timing(formatDuration(timings.total_ms), text.model.backend[record.backend], formatCount(timings.tokens), formatCount(timings.tokens_reused))}
      </p>
      <div class="record-keep">
        <div class="buttons">
          <button type="button" class="plain" onClick={() => void copy()}>{text.results.copy}</button>
          <button type="button" class="plain" onClick={download}>{text.results.download}</button>
          {told.value !== "" && <span class="hint">{told.value}</span>}
        </div>
        <p class="hint" data-testid="record-note">{record.checklist ? text.results.recordQuotes : text.results.recordNote}</p>
      </div>
    </div>
  );
}

function describe(rubric: Rubric, label: string): string {
  return rubric.options.find((option) => option.label === label)?.description ?? "";
}

/** Rows under their ability, in the order in which abilities first appear; the rubrics' own order is kept. */
function groupRows(rows: Row[]): { title: string; rows: Row[] }[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const title = row.rubric.ability === null ? text.skills.custom : text.skills.ability[row.rubric.ability];
    const group = groups.get(title);
    if (group) group.push(row);
    else groups.set(title, [row]);
  }
  return [...groups].map(([title, members]) => ({ title, rows: members }));
}
