import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../engine";
import { formatCount, formatDuration, formatPercent, formatScore, recordName } from "../format";
import { announcement } from "../live";
import { radarOf } from "../radar";
import type { Row, Run } from "../state";
import { text } from "../text";
import type { JudgeRecord, OptionProbability, Rubric } from "../types";
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
      {run ? <RunResults run={run} key={run.run_id} /> : <Idle />}
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
  const scored = run.rows.filter((row) => row.verdict?.verdict.kind === "scored").length;
  const say = { running: text.results.running, done: text.results.done, cancelled: text.results.cancelled, failed: text.results.stopped }[run.phase];
  return <span class="standing" data-testid="standing" data-phase={run.phase}>{say(scored, run.rows.length)}</span>;
}

function RunResults({ run }: { run: Run }) {
  const radar = radarOf(run.rows);
  return (
    <>
      {run.truncations.map((cut) => (
        <p class="note" key={cut.text} data-testid="truncation">
          {text.results.truncation(text.results.truncated[cut.text] ?? cut.text, formatCount(cut.kept_characters), formatCount(cut.total_characters))}
        </p>
      ))}
      {run.record?.notices.map((notice) => <p class="note" key={notice} data-testid="notice">{notice}</p>)}
      <div class={radar.kind === "chart" ? "profile" : "profile lone"}>
        <Table run={run} />
        {radar.kind === "chart"
          ? <figure class="radar" aria-hidden="true"><RadarChart radar={radar} /><figcaption>{text.results.radarNote}</figcaption></figure>
          : <p class="hint no-radar" data-testid="no-radar">{text.results.noRadar[radar.why]}</p>}
      </div>
      {run.record && <RecordBar record={run.record} />}
    </>
  );
}

function Table({ run }: { run: Run }) {
  const groups = groupRows(run.rows);
  return (
    <table class="scores" data-testid="scores" aria-busy={run.phase === "running"}>
      <caption class="unseen">{text.results.caption}</caption>
      <thead>
        <tr>
          <th scope="col">{text.results.skill}</th>
          <th scope="col" class="num">{text.results.score}</th>
          <th scope="col">{text.results.distribution}</th>
        </tr>
      </thead>
      {groups.map((group) => (
        <tbody key={group.title}>
          <tr class="group">
            <th scope="rowgroup" colSpan={3}>{group.title}</th>
          </tr>
          {group.rows.map((row) => <ScoreRow key={row.rubric.id} row={row} phase={run.phase} />)}
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
              <><strong>{text.results.unscored}.</strong> {verdict.message}</>
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
function Distribution({ options }: { options: OptionProbability[] }) {
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
    const address = URL.createObjectURL(new Blob([json()], { type: "application/json" }));
    const anchor = document.createElement("a");
    anchor.href = address;
    anchor.download = name;
    anchor.click();
    // The download reads the address after this task.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    tell(text.results.downloaded(name));
  };
  const { timings } = record;
  return (
    <div class="record">
      <p class="figures" data-testid="timing">
        {text.results.timing(formatDuration(timings.total_ms), text.model.backend[record.backend], formatCount(timings.tokens), formatCount(timings.tokens_reused))}
      </p>
      <div class="buttons">
        <button type="button" class="plain" onClick={() => void copy()}>{text.results.copy}</button>
        <button type="button" class="plain" onClick={download}>{text.results.download}</button>
        {told.value !== "" && <span class="hint">{told.value}</span>}
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
