import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../../engine";
import { formatCount, formatPercent, formatScore } from "../../format";
import { middleOf } from "../../interval";
import { announcement } from "../../live";
import { labelsOf } from "../../own-rubrics";
import { radarOf } from "../../radar";
import { saveText } from "../../save";
import type { Row } from "../../state";
import { differ, scoredOf } from "../../summary";
import { compareText as words } from "../../text/compare";
import type { PairVerdict, Truncation } from "../../types";
import { LINES, RadarChart } from "../../ui/radar-chart";
import { TextDifferences } from "./differences";
import { aloneOf, leadOf, leadsByLength, longerPreferred, togetherOf } from "./lead";
import type { Entry, Outcome, Phase, Work } from "./work";

export function Results({ engine, work, stale }: { engine: EngineClient; work: Work; stale: boolean }) {
  const outcome = work.outcome.value;
  useTold(outcome);
  return (
    <section class="card results" id="cmp-results" tabIndex={-1} aria-labelledby="cmp-results-heading">
      <h2 id="cmp-results-heading">{words.results}</h2>
      {outcome ? <Shown engine={engine} outcome={outcome} stale={stale} key={outcome.key} /> : <p class="hint">{words.idle}</p>}
    </section>
  );
}

/** The end of each part, for whoever does not see it. */
function useTold(outcome: Outcome | null): void {
  const seen = useRef({ alone: "none" as Phase, together: "none" as Phase });
  useEffect(() => {
    for (const part of ["alone", "together"] as const) {
      const now = outcome?.[part];
      const phase = now?.phase ?? "none";
      if (seen.current[part] === "running" && phase !== "running") {
        if (phase === "done") announcement.value = part === "alone" ? words.doneAlone : words.doneTogether;
        if (phase === "cancelled") announcement.value = part === "alone" ? words.cancelledAlone : words.cancelledTogether;
        if (phase === "failed") announcement.value = words.failed(now?.problem ?? "");
      }
      seen.current[part] = phase;
    }
  }, [outcome?.alone.phase, outcome?.together.phase]);
}

function Shown({ engine, outcome, stale }: { engine: EngineClient; outcome: Outcome; stale: boolean }) {
  const { entries, alone, together, record } = outcome;
  return (
    <div class="cmp-shown" data-testid="cmp-outcome" data-alone={alone.phase} data-together={together.phase}>
      {stale && <p class="note" data-testid="cmp-stale">{words.stale}</p>}
      {alone.phase === "cancelled" && <p class="note">{words.cancelledAlone}</p>}
      {together.phase === "cancelled" && <p class="note">{words.cancelledTogether}</p>}
      {[alone, together].map(({ phase, problem }, i) => phase === "failed" && <p class="note" role="alert" key={i}>{words.failed(problem ?? "")}</p>)}
      {entries.flatMap(({ id, truncations }) => truncations.map((cut) => <p class="note" key={`${id} ${cut.text}`}>{words.truncation(id, ...figuresOf(cut))}</p>))}
      {record?.truncations.map((cut) => <p class="note" key={cut.text}>{words.truncationPair(...figuresOf(cut))}</p>)}
      {[...new Set([...entries.flatMap((entry) => entry.record?.notices ?? []), ...(record?.notices ?? [])])].map((notice) => <p class="note" key={notice}>{notice}</p>)}
      <Leads outcome={outcome} />
      {alone.phase !== "none" && <Profiles outcome={outcome} />}
      {record && record.pairs.length > 0 && <Pairs entries={entries} pairs={record.pairs} />}
      <TextDifferences entries={entries} />
      <Keep engine={engine} outcome={outcome} />
    </div>
  );
}

function figuresOf({ text: what, kept_characters, total_characters }: Truncation): [string, string, string] {
  return [words.truncated[what] ?? what, formatCount(kept_characters), formatCount(total_characters)];
}

function Leads({ outcome: { entries, alone, together, record } }: { outcome: Outcome }) {
  const ids = entries.map(({ id }) => id);
  // Half a profile is compared with nothing: a response that has not had its turn would look the worse for it.
  const byAlone = alone.phase === "none" ? ({ kind: "none", skills: 0 } as const) : aloneOf(entries);
  const byPairs = togetherOf(ids, record?.pairs ?? []);
  const lead = leadOf(byAlone, byPairs);
  const running = alone.phase === "running" || together.phase === "running";
  const lengths = entries.map(({ id, text }) => ({ id, length: text.length }));
  return (
    <section class="part" aria-labelledby="cmp-lead-heading" data-testid="cmp-lead" data-lead={lead.kind} data-clear={lead.kind === "leads" ? String(lead.clear) : undefined}>
      <h3 id="cmp-lead-heading">{words.lead}</h3>
      <p>{running && lead.kind !== "none" && <span class="hint">{words.soFar} </span>}<strong>{words.leadOf(lead)}</strong></p>
      <ul class="cmp-reasons">
        {alone.phase !== "none" && alone.phase !== "running" && (
          <li>
            {byAlone.kind === "none" ? words.aloneNone
              : byAlone.leader === null ? words.aloneLevel
              : byAlone.clear ? words.aloneClear(byAlone.leader, byAlone.skills) : words.aloneUnclear(byAlone.leader, byAlone.skills)}
          </li>
        )}
        {record && (
          <li>
            {byPairs.kind === "none" ? words.togetherNone
              : byPairs.leader === null ? words.togetherLevel
              : byPairs.clear ? words.togetherClear(byPairs.leader, ids.length - 1) : words.togetherUnclear(byPairs.leader)}
          </li>
        )}
        {lead.kind === "leads" && leadsByLength(lead.id, lengths) && <li>{words.byLength(lead.id)}</li>}
      </ul>
    </section>
  );
}

function Profiles({ outcome: { entries, alone } }: { outcome: Outcome }) {
  const rubrics = entries[0]?.rows.map(({ rubric }) => rubric) ?? [];
  const labels = labelsOf(rubrics);
  const radar = radarOf(entries[0]?.rows ?? []);
  const byAlone = aloneOf(entries);
  const rowOf = (entry: Entry, id: string) => entry.rows.find(({ rubric }) => rubric.id === id) ?? null;
  const scales = radar.kind === "chart" ? radar : null;
  return (
    <section class="part" aria-labelledby="cmp-profiles-heading">
      <h3 id="cmp-profiles-heading">{words.profiles}</h3>
      <div class={scales ? "profile" : "profile lone"}>
        <div class="cmp-scroll" tabIndex={0} role="region" aria-labelledby="cmp-profiles-heading">
          <table class="cmp-table" data-testid="cmp-profiles" aria-busy={alone.phase === "running"}>
            <caption class="unseen">{words.profilesCaption}</caption>
            <thead>
              <tr>
                <th scope="col">{words.skill}</th>
                {entries.map(({ id }, i) => <th scope="col" key={id}><Line at={i} /> {id}</th>)}
                <th scope="col">{words.difference}</th>
              </tr>
            </thead>
            <tbody>
              {rubrics.map((rubric, i) => (
                <tr key={rubric.id} data-testid="cmp-row" data-rubric={rubric.id}>
                  <th scope="row" dir="auto">{labels[i]}</th>
                  {entries.map((entry) => <td key={entry.id}><Score row={rowOf(entry, rubric.id)} phase={alone.phase} /></td>)}
                  <td class="hint">{apart(entries.map((entry) => ({ id: entry.id, row: rowOf(entry, rubric.id) })))}</td>
                </tr>
              ))}
              {byAlone.kind === "ranked" && scales && (
                <tr class="cmp-mean" data-testid="cmp-mean">
                  <th scope="row">{words.mean}</th>
                  {entries.map(({ id }) => {
                    const place = byAlone.order.find((one) => one.id === id)!.value;
                    return <td key={id}><span class="score">{formatScore(scales.min + place * (scales.max - scales.min))}</span></td>;
                  })}
                  <td class="hint">{byAlone.leader !== null && byAlone.clear ? words.above(byAlone.leader) : words.close}</td>
                </tr>
              )}
            </tbody>
          </table>
        </div>
        {scales ? (
          <figure class="radar" aria-hidden="true">
            <RadarChart radar={{ ...scales, lines: entries.map((entry) => ({ name: entry.id, values: valuesOf(entry.rows) })) }} />
            <figcaption>
              <span class="cmp-legend">{entries.map(({ id }, i) => <span key={id}><Line at={i} /> {id}</span>)}</span>
              {words.radarNote}
            </figcaption>
          </figure>
        ) : <p class="hint no-radar">{words.noRadar}</p>}
      </div>
    </section>
  );
}

function valuesOf(rows: Row[]): (number | null)[] {
  return rows.map(({ verdict }) => (verdict?.verdict.kind === "scored" ? verdict.verdict.expected : null));
}

function Score({ row, phase }: { row: Row | null; phase: Phase }) {
  const verdict = row?.verdict?.verdict;
  const score = verdict?.kind === "scored" ? formatScore(verdict.expected) : null;
  if (verdict?.kind === "scored" && score !== null) {
    const middle = verdict.method === "written" ? null : middleOf(verdict.distribution);
    return (
      <>
        <span class="score">{score}</span>
        {middle && <span class="cmp-middle">{words.middle(String(middle.low), String(middle.high))}</span>}
      </>
    );
  }
  if (verdict?.kind === "unscored") {
    return (
      <span class="no-score">
        <strong>{verdict.code === "not_applicable" ? words.notApplicable : words.unscored}.</strong> {verdict.message}
      </span>
    );
  }
  return <span class="no-score">{phase === "running" ? words.waiting : words.notReached}</span>;
}

/** Whether one response is above all others by more than the model's doubt. */
function apart(all: { id: string; row: Row | null }[]): string {
  const scored = all.flatMap(({ id, row }) => (row ? scoredOf([row]).map((one) => ({ id, ...one })) : []));
  if (all.some(({ row }) => !row?.verdict)) return "";
  // A response without a score may be above or below: nothing is said of its place.
  if (scored.length < all.length) return words.notAll;
  const [best, ...others] = scored.sort((a, b) => b.place - a.place);
  return others.every((other) => differ(best!, other)) ? words.above(best!.id) : words.close;
}

/** A piece of the line as the chart draws it: its dashes and its point. */
function Line({ at }: { at: number }) {
  const { dash, point } = LINES[at % LINES.length]!;
  return (
    <svg class={`cmp-line cmp-line-${at}`} viewBox="0 0 34 12" width="34" height="12" aria-hidden="true">
      <path d="M1 6h32" stroke-dasharray={dash.join(" ")} />
      {point === "circle" && <circle cx="17" cy="6" r="4" />}
      {point === "rect" && <rect x="13" y="2" width="8" height="8" />}
      {point === "triangle" && <path class="cmp-point" d="M17 1.500 22 10H12z" />}
      {point === "crossRot" && <path class="cmp-cross" d="M13 2l8 8M21 2l-8 8" />}
    </svg>
  );
}

function Pairs({ entries, pairs }: { entries: Entry[]; pairs: PairVerdict[] }) {
  const id = (place: number) => entries[place]?.id ?? "";
  const length = (place: number) => entries[place]?.text.length ?? 0;
  const { longer, of } = longerPreferred(pairs, entries.map(({ text }) => text.length));
  const scored = pairs.filter(({ verdict }) => verdict.kind === "scored");
  const flipped = scored.filter(({ verdict }) => verdict.kind === "scored" && verdict.flipped).length;
  return (
    <section class="part" aria-labelledby="cmp-pairs-heading">
      <h3 id="cmp-pairs-heading">{words.pairs}</h3>
      <div class="cmp-scroll" tabIndex={0} role="region" aria-labelledby="cmp-pairs-heading">
        <table class="cmp-table" data-testid="cmp-pairs">
          <caption class="unseen">{words.pairsCaption}</caption>
          <thead>
            <tr>
              {[words.pair, words.preferred, words.shownFirst, words.mean2, words.order, words.length].map((heading) => <th scope="col" key={heading}>{heading}</th>)}
            </tr>
          </thead>
          <tbody>
            {pairs.map((pair) => {
              const { first, second, verdict, shown } = pair;
              const gap = length(first) - length(second);
              return (
                <tr key={`${first} ${second}`} data-testid="cmp-pair" data-flipped={verdict.kind === "scored" ? String(verdict.flipped) : undefined}>
                  <th scope="row">{words.pairOf(id(first), id(second))}</th>
                  {verdict.kind === "unscored" ? <td colSpan={4} class="no-score">{words.pairUnscored(verdict.message)}</td> : (
                    <>
                      <td><strong>{verdict.preferred === null ? words.tie : id(verdict.preferred)}</strong></td>
                      <td>
                        <ul class="cmp-orders">
                          {shown.map((one) => <li key={one.shown_first}>{words.shownFirstOf(id(one.shown_first))}: {words.probability(id(first), formatPercent(one.first))}</li>)}
                        </ul>
                      </td>
                      <td>{words.probability(id(first), formatPercent(verdict.probability_first))}</td>
                      <td>{verdict.flipped ? <strong>{words.flipped}</strong> : words.steady}</td>
                    </>
                  )}
                  <td>{gap === 0 ? words.sameLength : words.lengthOf(id(gap > 0 ? first : second), formatCount(Math.abs(gap)))}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="hint" data-testid="cmp-flips">{words.flips(flipped, scored.length)} {of > 0 && words.longer(longer, of)} {words.tieNote}</p>
    </section>
  );
}

function Keep({ engine, outcome }: { engine: EngineClient; outcome: Outcome }) {
  const profiles = outcome.entries.flatMap(({ id, record }) => (record ? [{ response: id, record }] : []));
  if (profiles.length === 0 && outcome.record === null) return null;
  const model = (profiles[0]?.record ?? outcome.record)?.model.name ?? (engine.state.value.model.phase === "ready" ? engine.state.value.model.info.model.name : "");
  const save = () => {
    const name = `retort-comparison-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.json`;
    saveText(name, `${JSON.stringify({ responses: outcome.entries.map(({ id }) => id), alone: profiles, together: outcome.record }, null, 2)}\n`, "application/json");
    announcement.value = words.saved(name);
  };
  return (
    <div class="record">
      <p class="figures">{words.backendNote(model)}</p>
      <button type="button" class="plain" onClick={save}>{words.copy}</button>
    </div>
  );
}
