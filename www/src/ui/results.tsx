import { useComputed, useSignal, type ReadonlySignal } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { EngineClient } from "../engine";
import { formatCount, formatDuration, formatPercent, formatScore, recordName } from "../format";
import { isHard } from "../asks";
import { middleOf, type Interval } from "../interval";
import { LeaveOut } from "../leave-out";
import { announcement } from "../live";
import { radarOf } from "../radar";
import { saveText } from "../save";
import { standingOf } from "../standing";
import type { Row, Run } from "../state";
import { text } from "../text";
import type { JudgeRecord, JudgeRequest, OptionProbability, Rubric } from "../types";
import { Comparison, HardQuestions } from "./alternatives";
import { Findings } from "./findings";
import { RadarChart } from "./radar-chart";
import { Sentences } from "./sentences";
import { Summary } from "./summary";

interface Props {
  engine: EngineClient;
  /** What was asked for in the run that is shown, where it is known: questions about its sentences are of these texts. */
  asked: ReadonlySignal<JudgeRequest | null>;
}

export function Results({ engine, asked }: Props) {
  const run = useShown(engine);
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
      {run ? <RunResults engine={engine} run={run} asked={asked.value} /> : <Idle />}
      <p class="honest"><strong>{text.results.weak}</strong> {text.results.weakMore}</p>
    </section>
  );
}

/** The run, as the same value while only its count of tokens goes on: that happens many times a second and is shown elsewhere. */
function useShown(engine: EngineClient): Run | null {
  const last = useRef<Run | null>(null);
  return useComputed(() => {
    const { run } = engine.state.value;
    const before = last.current;
    const same = run !== null && before !== null && (Object.keys(run) as (keyof Run)[]).every((key) => key === "done_tokens" || key === "total_tokens" || run[key] === before[key]);
    if (!same) last.current = run;
    return last.current;
  }).value;
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

/** Everything is made anew for another run, with what was opened or told of it, but for the chart, which takes longer than all the rest. */
function RunResults({ engine, run, asked }: { engine: EngineClient; run: Run; asked: JudgeRequest | null }) {
  const evidence = useMemo(() => (asked ? new LeaveOut(engine, asked) : null), [asked]);
  useEffect(() => () => evidence?.end(), [evidence]);
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
      <Summary run={run} key={`summary ${run.run_id}`} />
      <Comparison run={run} questions={questions} key={`comparison ${run.run_id}`} />
      {run.rows.length > 0 && (
        <div class={radar.kind === "chart" ? "profile" : "profile lone"}>
          <Table key={run.run_id} groups={groupRows(run.rows)} run={run} engine={engine} evidence={evidence} caption={text.results.caption} heading={text.results.skill} testid="scores" />
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
      {list.length > 0 && <Findings engine={engine} run={run} rows={list} key={`findings ${run.run_id}`} />}
      {questions.length > 0 && <HardQuestions engine={engine} run={run} rows={questions} key={`hard ${run.run_id}`} />}
      {run.overall && (
        <section class="part" aria-labelledby="overall-heading" data-testid="overall" key={`overall ${run.run_id}`}>
          <h3 id="overall-heading">{text.overall.heading}</h3>
          <Table groups={[{ title: null, rows: [run.overall] }]} run={run} engine={engine} evidence={evidence} caption={text.overall.caption} heading={text.overall.rubric} testid="overall-score" />
        </section>
      )}
      {run.record && <RecordBar record={run.record} key={`record ${run.run_id}`} />}
    </>
  );
}

interface Context {
  engine: EngineClient;
  run: Run;
  evidence: LeaveOut | null;
}

function Table({ groups, caption, heading, testid, ...context }: Context & {
  groups: { title: string | null; rows: Row[] }[];
  caption: string;
  heading: string;
  testid: string;
}) {
  const all = groups.flatMap(({ rows }) => rows);
  const byWriting = context.run.writing !== null || all.some(({ verdict }) => verdict?.written !== undefined);
  return (
    <table class={byWriting ? "scores by-writing" : "scores"} data-testid={testid} aria-busy={context.run.phase === "running"}>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{heading}</th>
          <th scope="col" class="num">{text.results.score} {!byWriting && <span class="middle head">{text.results.middle}</span>}</th>
          <th scope="col">{byWriting ? text.results.written : text.results.distribution}</th>
        </tr>
      </thead>
      {groups.map((group) => (
        <tbody key={group.title}>
          {group.title !== null && (
            <tr class="group">
              <th scope="rowgroup" colSpan={3}>{group.title}</th>
            </tr>
          )}
          {group.rows.map((row) => <ScoreRow key={row.rubric.id} row={row} {...context} />)}
        </tbody>
      ))}
    </table>
  );
}

function ScoreRow({ row, engine, run, evidence }: Context & { row: Row }) {
  const open = useSignal(false);
  const { rubric } = row;
  const { phase } = run;
  const verdict = row.verdict?.verdict ?? null;
  const score = verdict?.kind === "scored" ? formatScore(verdict.expected) : null;
  const byWriting = verdict?.kind === "scored" && verdict.method === "written";
  // Of what a judge wrote, all is on one level; that says nothing of how sure it was.
  const middle = verdict?.kind === "scored" && !byWriting ? middleOf(verdict.distribution) : null;
  const writing = run.writing?.rubric_id === rubric.id ? run.writing.text : null;
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
            <td class="num">
              <span class="score">{score}</span> <span class="of">{text.results.of(String(verdict.max))}</span>
              {middle && (
                <span class="middle" data-testid="middle">
                  <span aria-hidden="true">{text.results.middleShort(String(middle.low), String(middle.high))}</span>
                  <span class="unseen">{text.results.middleSaid(String(middle.low), String(middle.high))}</span>
                </span>
              )}
            </td>
            <td>{byWriting ? <Written text={row.verdict?.written} /> : <Distribution options={verdict.distribution} middle={middle} />}</td>
          </>
        ) : (
          <td class="no-score" colSpan={2}>
            {verdict?.kind === "unscored" ? (
              <><strong>{verdict.code === "not_applicable" ? text.results.notApplicable : text.results.unscored}.</strong> {verdict.message} <Written text={row.verdict?.written} /></>
            ) : writing !== null && phase === "running" ? (
              <Written text={writing} running />
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
                          {!byWriting && <span class="figures">{formatPercent(option.probability)}</span>}
                          <span dir="auto">{describe(rubric, option.label)}</span>
                        </li>
                      ))}
                    </ul>
                  </dd>
                  {middle && (
                    <>
                      <dt>{text.results.middleTerm}</dt>
                      <dd>{text.results.middleOf(String(middle.low), String(middle.high))}</dd>
                    </>
                  )}
                  {!byWriting && (
                    <>
                      <dt>{text.results.mass}</dt>
                      <dd>{text.results.massOf(formatPercent(verdict.mass))}</dd>
                    </>
                  )}
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
            {open.value && evidence && verdict.kind === "scored" && <Sentences engine={engine} run={run} rubric={rubric} evidence={evidence} />}
          </td>
        </tr>
      )}
    </Fragment>
  );
}

/** What a judge wrote, as it wrote it: text of a model's, and whatever it quotes. */
export function Written({ text: written, running = false }: { text: string | undefined; running?: boolean }) {
  if (written === undefined || written.trim() === "") return null;
  return <blockquote class="written" dir="auto" data-testid="written" aria-label={running ? text.results.writing : text.results.written}>{written.trim()}</blockquote>;
}

/** Small columns, one per level; the text beside each is what a screen reader says. */
export function Distribution({ options, middle = null }: { options: OptionProbability[]; middle?: Interval | null }) {
  const within = ({ value }: OptionProbability) => middle !== null && value >= middle.low && value <= middle.high;
  const most = Math.max(...options.map((option) => option.probability));
  return (
    <ul class="dist">
      {options.map((option) => (
        <li key={option.label} class={`${option.probability === most ? "top" : ""}${within(option) ? " mid" : ""}`} title={text.results.level(option.label, formatPercent(option.probability))}>
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
        <p class="hint" data-testid="record-note">{record.form ? text.results.recordWritten : record.checklist ? text.results.recordQuotes : text.results.recordNote}</p>
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
