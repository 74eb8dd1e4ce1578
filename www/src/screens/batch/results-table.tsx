import { useComputed, useSignal, type Signal } from "@preact/signals";
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { EngineClient } from "../../engine";
import { formatCount, formatPercent, formatReward, formatScore } from "../../format";
import { announcement } from "../../live";
import { labelsOf, scalesOf } from "../../own-rubrics";
import { text } from "../../text";
import { batchText as words } from "../../text/batch";
import { rewardsText } from "../../text/rewards";
import { RecordView } from "../../ui/record";
import { RewardTable } from "../../ui/rewards";
import type { Batch } from "./batch";
import { measuresOf } from "./measures";
import { belongs, hasWords, meanOf, plainWords, sorted, type Line, type Show, type Sort, type SortBy } from "./rows";
import type { Asks, BatchResult } from "./types";

const ROW_HEIGHT = 40;
const SEARCH_AFTER_MS = 200;
const SHOWS = Object.keys(words.table.shows) as Show[];
const PROMPT_LENGTH = 140;
/** A classifier may have a thousand outputs; the rest are in the record of a row and in what is exported. */
const MOST_COLUMNS = 40;

const sameSort = (a: SortBy, b: SortBy) => a.by === b.by && (a.by !== "cell" || (b.by === "cell" && a.at === b.at));

/** Every row with its scores: sorted, filtered, searched. Only the rows in sight are in the document. */
export function Results({ engine, batch }: { engine: EngineClient; batch: Batch }) {
  const head = batch.head.value!;
  const mean = meanOf(head.rubrics);
  const typed = useSignal("");
  const query = useSignal<string[]>([]);
  const show = useSignal<Show>("all");
  const sort = useSignal<Sort>({ by: "index", down: false });
  const opened = useSignal<number | null>(null);
  useEffect(() => {
    const wait = setTimeout(() => (query.value = plainWords(typed.value)), SEARCH_AFTER_MS);
    return () => clearTimeout(wait);
  }, [typed.value]);
  const shown = useComputed(() => sorted(batch.lines.value.filter((line) => belongs(line, show.value) && hasWords(batch.values(line.index), query.value)), sort.value));
  const count = words.table.count(formatCount(shown.value.length), formatCount(head.rows));
  useEffect(() => {
    if (query.value.length > 0 || show.value !== "all") announcement.value = count;
  }, [query.value, show.value]);
  return (
    <section class="card batch" aria-labelledby="batch-table-heading">
      <h2 id="batch-table-heading">{words.table.heading}</h2>
      <div class="batch-filters">
        <label>{words.table.search}
          <input type="search" value={typed.value} onInput={(event) => (typed.value = event.currentTarget.value)} />
        </label>
        <label>{words.table.show}
          <select value={show.value} onChange={(event) => (show.value = event.currentTarget.value as Show)}>
            {SHOWS.map((one) => <option key={one} value={one}>{words.table.shows[one]}</option>)}
          </select>
        </label>
        <span class="hint" data-testid="batch-count">{count}</span>
      </div>
      {shown.value.length === 0 ? <p>{words.table.none}</p> : <Grid batch={batch} lines={shown.value} sort={sort} opened={opened} />}
      <p class="hint">{words.table.help}</p>
      {head.head && <p class="hint" data-testid="batch-head-note">{words.head.table}</p>}
      {head.head && head.head.outputs > MOST_COLUMNS && <p class="hint">{words.head.moreOutputs(formatCount(MOST_COLUMNS), formatCount(head.head.outputs))}</p>}
      {scalesOf(head.rubrics).length > 1 && (
        <p class="hint" data-testid="batch-scales">
          {mean === null ? words.table.noMean : words.table.meanOf(formatCount(mean.places.length), String(mean.min), String(mean.max))}
        </p>
      )}
      {opened.value !== null && <Detail engine={engine} batch={batch} index={opened.value} key={opened.value} onClose={() => {
        const index = opened.value;
        opened.value = null;
        document.querySelector<HTMLElement>(`[data-batch-row="${index}"]`)?.focus();
      }} />}
    </section>
  );
}

function Grid({ batch, lines, sort, opened }: { batch: Batch; lines: Line[]; sort: Signal<Sort>; opened: Signal<number | null> }) {
  const head = batch.head.value!;
  const { mapping, checklist } = head.settings;
  const box = useRef<HTMLDivElement>(null);
  const drawn = useSignal(0);
  /** Place in `lines` of the row that the keyboard is at. */
  const at = useSignal(0);
  const wantsFocus = useRef(false);
  const count = useRef(0);
  const virtual = useMemo(() => new Virtualizer<HTMLDivElement, HTMLDivElement>({
    count: 0, getScrollElement: () => box.current, estimateSize: () => ROW_HEIGHT, overscan: 6, scrollToFn: elementScroll, observeElementRect, observeElementOffset,
    // The head stays on top of the rows.
    scrollPaddingStart: ROW_HEIGHT, initialRect: { width: 800, height: 480 },
    onChange: () => (drawn.value += 1),
  }), []);
  if (count.current !== lines.length) {
    count.current = lines.length;
    virtual.setOptions({ ...virtual.options, count: lines.length });
  }
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  const current = Math.min(at.value, lines.length - 1);
  void drawn.value;
  const items = virtual.getVirtualItems();
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const row = box.current?.querySelector<HTMLElement>(`[data-place="${current}"]`);
    if (!row) return;
    wantsFocus.current = false;
    row.focus({ preventScroll: true });
  });
  const hasMean = meanOf(head.rubrics) !== null;
  const headings = headingsOf(head);
  // Prompt and a person's score have no order of their own here.
  const columns: Column[] = [
    { name: words.table.line, by: { by: "index" }, num: true },
    { name: words.table.prompt, by: null, num: false },
    { name: words.table.state, by: { by: "state" }, num: false },
    ...(hasMean ? [{ name: words.table.mean, by: { by: "mean" }, num: true } as const] : []),
    ...(checklist ? [{ name: words.table.checklist, by: { by: "checklist" }, num: true } as const] : []),
    ...headings.map((name, at): Column => ({ name, by: { by: "cell", at }, num: true })),
    ...(mapping.human === undefined ? [] : [{ name: words.table.human, by: null, num: true }]),
  ];
  const figures = columns.length - 3;
  const grid = { gridTemplateColumns: `4.5rem minmax(14rem, 1fr) 6.5rem repeat(${figures}, 7rem)`, minWidth: `${27 + 7 * figures}rem` };
  const move = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).closest("[role=columnheader]")) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 400) / ROW_HEIGHT) - 2);
    const steps: Record<string, number> = { ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + page, PageUp: current - page, Home: 0, End: lines.length - 1 };
    const next = steps[event.key];
    if (next === undefined) {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        opened.value = lines[current]!.index;
      }
      return;
    }
    event.preventDefault();
    at.value = Math.max(0, Math.min(lines.length - 1, next));
    wantsFocus.current = true;
    virtual.scrollToIndex(at.value, { align: "auto" });
    drawn.value += 1;
  };
  const turn = (by: SortBy) => (sort.value = { ...by, down: sameSort(sort.value, by) && !sort.value.down });
  // The row that the keyboard is at stays in the document, or the focus would be lost when it is scrolled out of sight.
  const places = items.map(({ index }) => index).filter((place) => place < lines.length);
  if (!places.includes(current)) places.push(current);
  return (
    <div class="batch-grid" role="grid" aria-label={words.table.label} aria-rowcount={lines.length + 1} aria-colcount={columns.length} ref={box} onKeyDown={move} data-testid="batch-grid">
      <div role="rowgroup" class="batch-grid-head" style={{ minWidth: grid.minWidth }}>
        <div role="row" aria-rowindex={1} class="batch-grid-row" style={grid}>
          {columns.map(({ name, by, num }, i) => {
            const on = by !== null && sameSort(sort.value, by);
            return (
              <div role="columnheader" key={i} dir="auto" class={num ? "num" : ""} aria-sort={on ? (sort.value.down ? "descending" : "ascending") : undefined}>
                {by !== null
                  ? <button type="button" class="batch-sort" aria-label={words.table.sortBy(name)} title={name} onClick={() => turn(by)}>{name}<span aria-hidden="true">{on ? (sort.value.down ? " ↓" : " ↑") : ""}</span></button>
                  : name}
              </div>
            );
          })}
        </div>
      </div>
      <div role="rowgroup" class="batch-grid-body" style={{ height: `${virtual.getTotalSize()}px`, minWidth: grid.minWidth }}>
        {places.map((place) => {
          const line = lines[place]!;
          return (
            <div role="row" key={line.index} class={`batch-grid-row batch-${line.state}`} style={{ ...grid, transform: `translateY(${place * ROW_HEIGHT}px)` }} aria-rowindex={place + 2}
              tabIndex={place === current ? 0 : -1} data-place={place} data-batch-row={line.index} data-testid="batch-row" aria-selected={opened.value === line.index}
              onFocus={() => (at.value = place)} onClick={() => {
                at.value = place;
                opened.value = line.index;
              }}>
              <Cells batch={batch} line={line} shown={headings.length} hasMean={hasMean} checklist={checklist} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface Column {
  name: string;
  /** Null where rows cannot be sorted by it. */
  by: SortBy | null;
  num: boolean;
}

/** Each label, with the scale where there are several and it is not that of the mean. */
function headingsOf(asks: Asks): string[] {
  const measures = measuresOf(asks);
  const several = scalesOf(asks.rubrics).length > 1;
  const mean = meanOf(asks.rubrics);
  return labelsOf(measures).slice(0, asks.head ? MOST_COLUMNS : undefined).map((label, place) => {
    const { scale } = measures[place]!;
    return scale === null || !several || (mean?.min === scale.min && mean.max === scale.max) ? label : words.table.scaled(label, String(scale.min), String(scale.max));
  });
}

/** `shown`: of how many measures there are columns. */
function Cells({ batch, line, shown, hasMean, checklist }: { batch: Batch; line: Line; shown: number; hasMean: boolean; checklist: boolean }) {
  const { head, settings: { mapping } } = batch.head.value!;
  const format = head ? formatReward : formatScore;
  const prompt = batch.cell(line.index, mapping.prompt) ?? "";
  const waiting = line.state === "waiting";
  return (
    <>
      <div role="gridcell" class="num">{formatCount(batch.rows[line.index]?.line ?? 0)}</div>
      <div role="gridcell" dir="auto">{prompt.slice(0, PROMPT_LENGTH)}</div>
      <div role="gridcell" title={line.why ?? undefined}>{words.table.states[line.state]}</div>
      {hasMean && <Figure value={line.mean === null ? null : formatScore(line.mean)} waiting={waiting} why={line.why} />}
      {checklist && <Figure value={line.checklist === null ? null : formatPercent(line.checklist)} waiting={waiting} why={null} />}
      {line.cells.slice(0, shown).map(({ score, why }, i) => <Figure key={i} value={score === null ? null : format(score)} waiting={waiting || why === null} why={why} />)}
      {mapping.human !== undefined && <div role="gridcell" class="num" dir="auto">{(batch.cell(line.index, mapping.human) ?? "").slice(0, 40)}</div>}
    </>
  );
}

function Figure({ value, waiting, why }: { value: string | null; waiting: boolean; why: string | null }) {
  if (value !== null) return <div role="gridcell" class="num">{value}</div>;
  return <div role="gridcell" class="num none" title={why ?? undefined}>{waiting ? <span aria-label={words.table.notAskedWord} role="img">{words.table.notAsked}</span> : words.table.unscored}</div>;
}

function Detail({ batch, index, onClose }: { engine: EngineClient; batch: Batch; index: number; onClose: () => void }) {
  const result = useSignal<BatchResult | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const state = batch.lines.value[index]?.state;
  const { mapping } = batch.head.value!.settings;
  useEffect(() => {
    let left = false;
    void batch.result(index).then((got) => left || (result.value = got));
    return () => void (left = true);
  }, [index, state]);
  // At once: an Escape that follows an Enter must find the focus in here.
  useLayoutEffect(() => heading.current?.focus(), []);
  const outcome = result.value?.outcome;
  return (
    <section class="batch-detail" aria-labelledby="batch-detail-heading" data-testid="batch-detail" onKeyDown={(event) => {
      if (event.key === "Escape") onClose();
    }}>
      <div class="card-head">
        <h3 id="batch-detail-heading" ref={heading} tabIndex={-1}>{words.table.detail(formatCount(batch.rows[index]?.line ?? 0))}</h3>
        <span class="spread"><button type="button" class="link" onClick={onClose}>{words.table.closeDetail}</button></span>
      </div>
      {(["system", "prompt", "response", "reference"] as const).map((role) => {
        const body = batch.cell(index, mapping[role]);
        if (body === null || body === "") return null;
        return (
          <div key={role}>
            <h4>{words.columns.role[role]}</h4>
            <div class="batch-text" dir="auto" tabIndex={0} role="region" aria-label={words.columns.role[role]}>{body}</div>
          </div>
        );
      })}
      {outcome === undefined ? <p class="hint">{words.table.waitingRow}</p>
        : outcome.kind === "judged" ? <RecordView record={outcome.record} />
          : outcome.kind === "rewarded" ? <RewardTable record={outcome.record} names={[rewardsText.alone]} />
            : <p class="note"><strong>{text.results.unscored}.</strong> {outcome.message} <code>{outcome.code}</code></p>}
    </section>
  );
}
