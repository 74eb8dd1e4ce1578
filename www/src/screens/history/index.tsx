import "./style.css";
import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatCount, formatPercent } from "../../format";
import { historyLimit, incognito, notKept } from "../../history";
import { announcement } from "../../live";
import { hrefOf, route } from "../../router";
import { StoreError, watch, type KeptHead } from "../../store";
import { all, clear, find, oldestBeyond, remove, size } from "../../store/kept";
import { historyText as words } from "../../text/history";
import type { ScreenProps } from "..";
import { Confirm } from "./confirm";
import { Entry } from "./entry";
import { Carry, Storage } from "./storage";
import { whenOf } from "./when";

const PAGE = 50;
/** Typing has paused. */
const SEARCH_AFTER_MS = 250;

/** What was judged on this device. */
export default function History({ active }: ScreenProps) {
  const heads = useSignal<KeptHead[] | null>(null);
  const trouble = useSignal<StoreError | null>(null);
  const query = useSignal("");
  const model = useSignal("");
  const skill = useSignal("");
  const page = useSignal(0);
  /** Ids of the entries whose texts have the words; null where nothing is searched for. */
  const hits = useSignal<Set<string> | null>(null);
  const searching = useSignal(false);

  const refresh = () =>
    all().then(
      (got) => {
        heads.value = got;
        trouble.value = null;
      },
      (thrown: unknown) => (trouble.value = thrown as StoreError),
    );
  useEffect(() => {
    void refresh();
    return watch("history", () => void refresh());
  }, []);
  // Where tabs cannot hear one another, whoever comes back sees what has changed.
  useEffect(() => {
    if (active) void refresh();
  }, [active]);

  const total = heads.value?.length ?? 0;
  useEffect(() => {
    const wanted = query.value.trim();
    if (wanted === "") {
      hits.value = null;
      searching.value = false;
      return;
    }
    const called = new AbortController();
    searching.value = true;
    const wait = setTimeout(() => {
      find(wanted, called.signal).then(
        (found) => {
          if (found === null) return;
          hits.value = found;
          searching.value = false;
          announcement.value = words.found(formatCount(found.size), formatCount(total));
        },
        (thrown: unknown) => {
          searching.value = false;
          trouble.value = thrown as StoreError;
        },
      );
    }, SEARCH_AFTER_MS);
    return () => {
      clearTimeout(wait);
      called.abort();
    };
  }, [query.value, total]);

  const shown = useComputed(() =>
    (heads.value ?? [])
      .filter((head) => (hits.value?.has(head.id) ?? true) && (model.value === "" || head.model === model.value) && (skill.value === "" || head.skills.includes(skill.value)))
      .reverse());

  const id = route.value.screen === "history" ? route.value.params.get("entry") : null;
  if (id !== null) return <Entry id={id} />;

  const list = heads.value ?? [];
  const pages = Math.max(1, Math.ceil(shown.value.length / PAGE));
  const at = Math.min(page.value, pages - 1);
  const over = oldestBeyond(list, historyLimit.value * 0.9);
  const isOver = size(list) > historyLimit.value || notKept.value?.why === "limit";
  return (
    <section class="card history" aria-labelledby="history-heading">
      <h2 id="history-heading">{words.heading}</h2>
      <p>{words.intro}</p>
      {incognito.value && <p class="note">{words.incognitoNote}</p>}
      {trouble.value && (
        <div class="note" role="alert" data-testid="history-trouble">
          <p>{words.trouble(trouble.value.trouble, trouble.value.message)}</p>
          <p>{words.troubleElse}</p>
        </div>
      )}
      {isOver && over.length > 0 && (
        <div class="note" role="status" data-testid="history-over">
          <p>{words.over(formatCount(over.length))}</p>
          <Confirm label={words.deleteOldest(formatCount(over.length))} question={words.confirmOldest(formatCount(over.length))}
            onYes={() => deleteThem(over.map((head) => head.id), trouble)} />
        </div>
      )}
      {heads.value !== null && (
        <>
          {total === 0 ? <p class="hint" data-testid="history-empty">{words.empty}</p> : (
            <>
              <div class="history-filters">
                <label class="history-search">{words.searchLabel}
                  <input type="search" value={query.value} onInput={(event) => {
                    query.value = event.currentTarget.value;
                    page.value = 0;
                  }} />
                </label>
                <Choice label={words.modelLabel} chosen={model} options={distinct(list.map((head) => head.model))} onChange={() => (page.value = 0)} />
                <Choice label={words.skillLabel} chosen={skill} options={distinct(list.flatMap((head) => head.skills))} onChange={() => (page.value = 0)} />
              </div>
              <p class="hint" data-testid="history-count">{searching.value ? words.searching : words.found(formatCount(shown.value.length), formatCount(total))}</p>
              {shown.value.length === 0 && !searching.value ? <p>{words.noneFound}</p> : <Listing heads={shown.value.slice(at * PAGE, (at + 1) * PAGE)} />}
              {pages > 1 && (
                <nav class="buttons" aria-label={words.pages}>
                  <button type="button" class="plain" disabled={at === 0} onClick={() => (page.value = at - 1)}>{words.previous}</button>
                  <span>{words.page(formatCount(at + 1), formatCount(pages))}</span>
                  <button type="button" class="plain" disabled={at === pages - 1} onClick={() => (page.value = at + 1)}>{words.next}</button>
                </nav>
              )}
            </>
          )}
          <Carry count={total} />
          <Storage taken={size(list)} />
          {total > 0 && (
            <Confirm label={words.deleteAll} question={words.confirmAll(formatCount(total))} onYes={() =>
              clear().then(
                () => told(total),
                (thrown: unknown) => void (trouble.value = thrown as StoreError),
              )} />
          )}
        </>
      )}
    </section>
  );
}

function deleteThem(ids: string[], trouble: { value: StoreError | null }): Promise<void> {
  return remove(ids).then(
    () => told(ids.length),
    (thrown: unknown) => void (trouble.value = thrown as StoreError),
  );
}

function told(count: number): void {
  if (notKept.value?.why === "limit") notKept.value = null;
  announcement.value = words.deleted(formatCount(count));
}

const distinct = (names: string[]) => [...new Set(names)].sort((a, b) => a.localeCompare(b));

function Choice({ label, chosen, options, onChange }: { label: string; chosen: { value: string }; options: string[]; onChange: () => void }) {
  return (
    <label>{label}
      <select value={chosen.value} onChange={(event) => {
        chosen.value = event.currentTarget.value;
        onChange();
      }}>
        <option value="">{words.any}</option>
        {options.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
}

function Listing({ heads }: { heads: KeptHead[] }) {
  return (
    <div class="history-scroll">
      <table class="history-list">
        <caption class="unseen">{words.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{words.prompt}</th>
            <th scope="col">{words.when}</th>
            <th scope="col">{words.model}</th>
            <th scope="col" class="num" title={words.meanHint}>{words.mean}</th>
          </tr>
        </thead>
        <tbody>
          {heads.map((head) => {
            const title = head.title === "" ? words.noPrompt : head.title;
            return (
              <tr key={head.id} data-testid="history-row">
                <th scope="row">
                  <a href={hrefOf("history", { entry: head.id })} aria-label={words.open(title, whenOf(head.at))} dir="auto">{title}</a>
                </th>
                <td class="history-when">{whenOf(head.at)}</td>
                <td>{head.model}</td>
                <td class="num">{head.kind !== "judgement" ? words[head.kind] : head.mean === null ? words.noMean : words.meanOf(formatPercent(head.mean))}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="hint">{words.meanHint}</p>
    </div>
  );
}
