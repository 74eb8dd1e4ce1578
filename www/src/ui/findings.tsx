import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../engine";
import { outcomeOf, segmentsOf, tallyOf, type Outcome } from "../findings";
import { formatCount, formatPercent, formatWeight } from "../format";
import { announcement } from "../live";
import type { ItemRow, Run } from "../state";
import { text } from "../text";
import { Decider } from "./badges";

type Range = { start: number; end: number };

const evidenceOf = ({ verdict }: ItemRow): Range[] => (verdict?.by === "code" ? (verdict.finding.evidence ?? []) : []);

/** What became of each item, beside the response that it speaks of. */
export function Findings({ engine, run, rows }: { engine: EngineClient; run: Run; rows: ItemRow[] }) {
  /** The id of the item whose evidence is shown. */
  const chosen = useSignal<string | null>(null);
  const tally = tallyOf(rows);
  const row = rows.find(({ item }) => item.id === chosen.value);
  const decided = tally.verified + tally.judged;
  const counts = [
    text.findings.verified(tally.verified),
    text.findings.judged(tally.judged),
    text.findings.notApplicable(tally.not_applicable),
    text.findings.unscored(tally.unscored),
  ];
  const withEvidence = rows.some((one) => evidenceOf(one).length > 0);
  return (
    <section class="findings" aria-labelledby="findings-heading" data-testid="findings" aria-busy={run.phase === "running"}>
      <div class="findings-head">
        <h3 id="findings-heading">{text.findings.heading}</h3>
        <p class="findings-score" data-testid="checklist-score">
          {tally.score !== null ? (
            <><span class="score">{formatPercent(tally.score)}</span> <span class="of">{text.findings.scoreOf}</span></>
          ) : (
            <span class="no-score">{tally.waiting > 0 && run.phase === "running" ? text.findings.waitingScore : text.findings.noScore}</span>
          )}
        </p>
        <p class="figures" data-testid="checklist-tally">{text.findings.found(tally.found, decided)}; {counts.join(", ")}</p>
      </div>
      <div class={withEvidence ? "findings-body" : "findings-body lone"}>
        <ul class="found-items">
          {rows.map((one) => <FoundItem key={one.item.id} engine={engine} run={run} row={one} chosen={chosen} />)}
        </ul>
        {withEvidence && <JudgedText response={run.response} row={row ?? null} onHide={() => {
          document.getElementById(`show-${chosen.value}`)?.focus();
          chosen.value = null;
        }} />}
      </div>
    </section>
  );
}

function FoundItem({ engine, run, row, chosen }: { engine: EngineClient; run: Run; row: ItemRow; chosen: Signal<string | null> }) {
  const { phase, response } = run;
  const open = useSignal(false);
  const { item, verdict } = row;
  const outcome = outcomeOf(verdict);
  const evidence = evidenceOf(row);
  const shown = chosen.value === item.id;
  const weight = item.weight ?? 1;
  const state = outcome.kind === "waiting" && phase !== "running" ? "missing" : outcome.kind;
  const show = () => {
    chosen.value = shown ? null : item.id;
    const first = evidence[0];
    // What is to be seen is told too, for whoever does not see it.
    if (!shown && first) announcement.value = text.findings.marked(evidence.length, passage(response, first));
  };
  return (
    <li class={shown ? "found shown" : "found"} data-testid="found-item" data-item={item.id} data-state={state}>
      <Sign outcome={outcome} />
      <div class="found-text">
        <p class="found-question" dir="auto">
          {item.condition && <span class="hint">{text.checklist.conditionOf(item.condition)}: </span>}
          {item.question}
        </p>
        <p class="found-why">
          <Word outcome={outcome} phase={phase} />{" "}
          {verdict?.by === "code" && outcome.kind !== "not_applicable" && <><span dir="auto">{verdict.finding.sentence}</span>{" "}</>}
          {weight < 0 && <><span class="hint">({text.findings.against})</span>{" "}</>}
          {verdict && (
            <span class="found-links">
              {evidence.length > 0 && (
                <button type="button" class="link" id={`show-${item.id}`} aria-controls="judged-text" aria-label={shown ? text.findings.hideOf(item.question) : text.findings.showOf(item.question)} onClick={show}>
                  {shown ? text.findings.hide : text.findings.show(evidence.length)}
                </button>
              )}
              <button type="button" class="link toggle" aria-expanded={open.value} aria-label={text.results.detailsOf(item.question)} onClick={() => (open.value = !open.value)}>
                {text.findings.details}
              </button>
            </span>
          )}
        </p>
        {verdict?.by === "model" && outcome.kind === "judged" && (
          <div class="meter" title={text.findings.yesOf(formatPercent(outcome.value))} aria-hidden="true">
            <span style={{ width: `${(outcome.value * 100).toFixed(1)}%` }} />
          </div>
        )}
        {verdict && open.value && <Details engine={engine} row={row} />}
      </div>
      {verdict && outcome.kind !== "unscored" && (
        <Decider by={verdict.by} label={verdict.by === "code" ? text.findings.verifiedBadge : text.findings.judgedBadge} />
      )}
    </li>
  );
}

function passage(response: string, { start, end }: Range): string {
  const words = response.slice(start, end).replaceAll(/\s+/g, " ").trim();
  return text.asks.quoted(words.length > 80 ? `${words.slice(0, 80)}…` : words);
}

/** A sign for the eye; the word beside it is what is read out. */
function Sign({ outcome }: { outcome: Outcome }) {
  const paths: Record<Outcome["kind"], string> = {
    met: "M4 10.500 8.200 14.700 16 5.800",
    not_met: "M5 5 15 15M15 5 5 15",
    judged: "M10 4.500v11M4.500 10h11",
    not_applicable: "M5 10h10",
    unscored: "M7.200 7.500a2.800 2.800 0 1 1 4 2.600c-.8.4-1.200.9-1.200 1.900M10 14.800v.4",
    waiting: "M5.500 10h.1M10 10h.1M14.500 10h.1",
  };
  const leaning = outcome.kind === "judged" ? (outcome.value > 0.5 ? paths.met : paths.not_met) : paths[outcome.kind];
  return (
    <svg class={`sign ${outcome.kind}`} viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d={leaning} /></svg>
  );
}

function Word({ outcome, phase }: { outcome: Outcome; phase: Run["phase"] }) {
  switch (outcome.kind) {
    case "met":
      return <strong>{text.findings.met}.</strong>;
    case "not_met":
      return <strong>{text.findings.notMet}.</strong>;
    case "judged":
      return <strong class="figures">{text.findings.yes(formatPercent(outcome.value))}</strong>;
    case "not_applicable":
      return <><strong>{text.results.notApplicable}.</strong> <span dir="auto">{outcome.reason}</span></>;
    case "unscored":
      return <><strong>{text.results.unscored}.</strong> <span dir="auto">{outcome.reason}</span></>;
    case "waiting":
      return phase === "running"
        ? <span class="waiting">{text.results.waiting}</span>
        : <><strong>{text.results.unscored}.</strong> {phase === "cancelled" ? text.results.notReached : text.results.lost}</>;
  }
}

function Details({ engine, row }: { engine: EngineClient; row: ItemRow }) {
  const { item, verdict } = row;
  const skill = engine.state.value.vocabulary?.skills.find(({ id }) => id === item.skill)?.name;
  const judged = verdict?.by === "model" ? verdict.verdict : null;
  return (
    <dl class="found-details">
      <dt>{text.findings.decided}</dt>
      <dd>{verdict?.by === "code" ? text.findings.byCode : text.findings.byModel}</dd>
      {skill && <><dt>{text.findings.skill}</dt><dd>{skill}</dd></>}
      <dt>{text.findings.weight}</dt>
      <dd>{formatWeight(item.weight ?? 1)}</dd>
      {item.condition && <><dt>{text.findings.condition}</dt><dd dir="auto">{item.condition}</dd></>}
      {item.passage && <><dt>{text.findings.passage}</dt><dd dir="auto">{item.passage}</dd></>}
      {judged?.kind === "scored" && (
        <>
          <dt>{text.results.mass}</dt>
          <dd>{text.results.massOf(formatPercent(judged.mass))}{judged.truncated && ` ${text.results.truncatedRow}`}</dd>
          {judged.not_applicable !== undefined && <><dt>{text.results.naShare}</dt><dd>{text.results.naShareOf(formatPercent(judged.not_applicable))}</dd></>}
        </>
      )}
      {judged?.kind === "unscored" && <><dt>{text.error.technical}</dt><dd><code>{judged.code}</code></dd></>}
    </dl>
  );
}

/** The judged text itself, read-only, with the passages of the chosen item marked. */
function JudgedText({ response, row, onHide }: { response: string; row: ItemRow | null; onHide: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  const ranges = row ? evidenceOf(row) : [];
  const segments = segmentsOf(response, ranges);
  useEffect(() => {
    const first = box.current?.querySelector("mark");
    // Only the box is moved: whoever chose the item keeps it in sight.
    if (box.current && first) box.current.scrollTop = first.offsetTop - box.current.clientHeight / 3;
  }, [row?.item.id]);
  return (
    <div class={row ? "judged chosen" : "judged"} id="judged-text">
      <div class="card-head">
        <h4 id="judged-heading">{text.findings.response}</h4>
        <span class="count">{text.findings.whole(formatCount(response.length))}</span>
        {row && <span class="spread"><button type="button" class="link" onClick={onHide}>{text.findings.hide}</button></span>}
      </div>
      {!row && <p class="hint">{text.findings.pick}</p>}
      <div class="judged-box" ref={box} tabIndex={0} role="region" aria-labelledby="judged-heading" dir="auto" data-testid="judged-text">
        {segments.map((segment, i) => (segment.marked ? <mark key={i}>{segment.text}</mark> : <span key={i}>{segment.text}</span>))}
      </div>
    </div>
  );
}
