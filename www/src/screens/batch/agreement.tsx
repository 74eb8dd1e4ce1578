import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Asked, EngineClient } from "../../engine";
import { formatCount } from "../../format";
import { announcement } from "../../live";
import { batchText as words } from "../../text/batch";
import type { Agreement, Estimate } from "../../types";
import type { Failure } from "../../worker/protocol";
import { readingOf } from "./agree";
import type { Batch } from "./batch";
import { HumanColumns } from "./human-columns";
import { numberOf } from "./mapping";
import { hasOverall, onScale, pairingsOf, type Pairing } from "./pairs";

const SEED = 1;
const MEASURES = ["spearman", "pearson", "kendall", "alpha", "mean_error"] as const;
/** They take the two figures for figures of one scale. */
const OF_ONE_SCALE: readonly string[] = ["alpha", "mean_error"];

const intervalOf = (estimate: Estimate) =>
  estimate === null ? words.agree.undefined : words.agree.interval(estimate.value.toFixed(2), estimate.low.toFixed(2), estimate.high.toFixed(2));

/** Of what has no bounds no difference from another scale says anything, and so those figures are not there at all. */
const measuresFor = (byHead: boolean) => MEASURES.filter((name) => !byHead || !OF_ONE_SCALE.includes(name));

const nameOf = ({ what }: Pairing) => (what.kind === "mean" ? words.agree.meanRow : what.kind === "overall" ? words.agree.overallRow : what.label);

interface Found {
  name: string;
  column: string;
  /** Whether the column's numbers lie on the scale of the scores. */
  fits: boolean;
  agreement: Agreement;
}

const breath = () => new Promise<void>((resolve) => setTimeout(resolve));

/** How well the scores agree with the columns that a person has filled in. */
export function AgreementPart({ engine, batch }: { engine: EngineClient; batch: Batch }) {
  const head = batch.head.value!;
  const { settings, table } = head;
  const { mapping } = settings;
  const found = useSignal<Found[] | null>(null);
  const problem = useSignal("");
  /** How many pairs of columns are done, of how many; null where nothing is being worked out. */
  const working = useSignal<{ done: number; of: number } | null>(null);
  const asked = useRef<Asked<"agreement"> | null>(null);
  /** A later one, or a cancel, makes what an earlier one is at worthless. */
  const turn = useRef(0);
  const pairings = pairingsOf(table.columns, head, settings);
  const stop = () => {
    turn.current += 1;
    asked.current?.cancel();
    working.value = null;
  };
  useEffect(() => stop, []);
  const work = async () => {
    const mine = ++turn.current;
    problem.value = "";
    found.value = null;
    working.value = { done: 0, of: pairings.length };
    announcement.value = words.agree.working;
    const lines = batch.lines.value;
    const groups = lines.map(({ index }) => batch.cell(index, mapping.prompt) ?? String(index));
    const got: Found[] = [];
    try {
      for (const pairing of pairings) {
        await breath();
        if (mine !== turn.current) return;
        const second = lines.map(({ index }) => numberOf(batch.cell(index, pairing.column)));
        asked.current = engine.call("agreement", { first: lines.map(pairing.scoreOf), second, groups, seed: SEED });
        const agreement = await asked.current.answer;
        if (mine !== turn.current) return;
        got.push({ name: nameOf(pairing), column: pairing.column, fits: onScale(second, pairing.scale), agreement });
        working.value = { done: got.length, of: pairings.length };
      }
      const [first] = got;
      if (!first || got.every(({ agreement }) => agreement.n === 0)) announcement.value = problem.value = words.agree.noNumbers;
      else {
        found.value = got;
        announcement.value = `${first.name}: ${words.agree.reading[readingOf(first.agreement)]}`;
      }
    } catch (thrown) {
      if (mine === turn.current) problem.value = words.agree.failed((thrown as Failure).message ?? String(thrown));
    } finally {
      if (mine === turn.current) working.value = null;
    }
  };
  const change = (human: string | undefined, human_by_skill: Record<string, string>) => {
    stop();
    found.value = null;
    problem.value = "";
    void batch.mapHuman(human, human_by_skill);
  };
  const nothing = pairings.length === 0;
  const measures = measuresFor(head.head !== undefined);
  const now = working.value;
  return (
    <section class="card batch" aria-labelledby="batch-agree-heading" aria-busy={now !== null} data-testid="batch-agreement">
      <h2 id="batch-agree-heading">{words.agree.heading}</h2>
      {hasOverall(head) && (
        <div class="batch-filters">
          <label>{words.agree.column}
            <select value={mapping.human ?? ""} onChange={(event) => change(event.currentTarget.value || undefined, settings.human_by_skill)}>
              <option value="">{words.columns.none}</option>
              {table.columns.map((name) => <option key={name} value={name}>{name}</option>)}
            </select>
          </label>
        </div>
      )}
      <HumanColumns columns={table.columns} asks={head} settings={settings} onChange={(human_by_skill) => change(mapping.human, human_by_skill)} />
      <div class="buttons">
        <button type="button" class="plain" aria-disabled={nothing || now !== null} onClick={() => !nothing && now === null && void work()}>{words.agree.work}</button>
        {now !== null && (
          <button type="button" class="plain" onClick={() => {
            stop();
            announcement.value = words.agree.cancelled;
          }}>{words.agree.cancel}</button>
        )}
      </div>
      {now !== null && (
        <div data-testid="agreement-working">
          <progress aria-label={words.agree.progress} value={now.done === 0 ? undefined : now.done} max={now.of} />
          <p class="hint">{words.agree.workingAt(formatCount(now.done), formatCount(now.of))}</p>
        </div>
      )}
      {nothing && <p class="hint">{hasOverall(head) ? words.agree.noColumn : words.head.noColumn}</p>}
      <div role="alert">{problem.value !== "" && <p class="bad">{problem.value}</p>}</div>
      {found.value && (
        <>
          <div class="batch-scroll" role="region" aria-label={words.agree.heading} tabIndex={0}>
            <table class="batch-figures">
              <thead>
                <tr>
                  <th scope="col">{words.agree.against}</th>
                  <th scope="col" class="num">{words.agree.n}</th>
                  <th scope="col" class="num">{words.agree.left}</th>
                  {measures.map((name) => <th scope="col" class="num" key={name}>{words.agree.measures[name]}</th>)}
                </tr>
              </thead>
              <tbody>
                {found.value.map(({ name, column, fits, agreement }) => (
                  <tr key={`${name}\n${column}`} data-testid="agreement-row">
                    <th scope="row"><bdi>{name}</bdi> <span class="hint batch-column">{words.agree.with(column)}</span></th>
                    <td class="num">{formatCount(agreement.n)}</td>
                    <td class="num">{formatCount(agreement.left_out)}</td>
                    {measures.map((measure) => (
                      <td class="num" key={measure}>{fits || !OF_ONE_SCALE.includes(measure) ? intervalOf(agreement[measure]) : words.agree.otherScale}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <ul class="batch-readings" data-testid="agreement-reading">
            {found.value.map(({ name, column, agreement }) => <li key={`${name}\n${column}`}><strong>{name}.</strong> {words.agree.reading[readingOf(agreement)]}</li>)}
          </ul>
          <p class="hint">{head.head ? words.head.agreeNote(String(SEED)) : words.agree.note(String(SEED))}</p>
        </>
      )}
    </section>
  );
}
