import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { formatPercent } from "../../format";
import type { Kept } from "../../history";
import { announcement } from "../../live";
import { go, hrefOf } from "../../router";
import type { StoreError } from "../../store";
import { one, remove } from "../../store/kept";
import { historyText as words } from "../../text/history";
import type { PairVerdict } from "../../types";
import { RecordFoot, RecordView } from "../../ui/record";
import { RewardTable } from "../../ui/rewards";
import { Confirm } from "./confirm";
import { whenOf } from "./when";

/** One entry: what was judged, and what came of it. */
export function Entry({ id }: { id: string }) {
  const found = useSignal<{ kept: Kept | null } | { trouble: StoreError } | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    let left = false;
    found.value = null;
    one(id).then(
      (kept) => left || (found.value = { kept }),
      (thrown: unknown) => left || (found.value = { trouble: thrown as StoreError }),
    );
    return () => void (left = true);
  }, [id]);
  const ready = found.value !== null;
  useLayoutEffect(() => {
    if (ready) heading.current?.focus();
  }, [ready, id]);

  const kept = found.value !== null && "kept" in found.value ? found.value.kept : null;
  return (
    <section class="card history" aria-labelledby="history-entry-heading">
      <p><a href={hrefOf("history")}>{words.back}</a></p>
      <h2 id="history-entry-heading" ref={heading} tabIndex={-1}>
        {kept === null ? words.heading : `${words[kept.kind]}, ${whenOf(kept.at)}`}
      </h2>
      {found.value !== null && "trouble" in found.value && <p role="alert">{words.trouble(found.value.trouble.trouble, found.value.trouble.message)}</p>}
      {found.value !== null && "kept" in found.value && kept === null && <p data-testid="history-gone">{words.gone}</p>}
      {kept && (
        <div class="history-entry" data-testid="history-entry">
          <Text title={words.prompt} body={kept.prompt} />
          {kept.kind === "judgement"
            ? <Text title={words.response} body={kept.response} />
            : kept.responses.map((response, i) => <Text key={i} title={words.responseAt(String(i + 1))} body={response} />)}
          {kept.reference !== null && <Text title={words.reference} body={kept.reference} />}
          {kept.kind === "judgement" ? (
            <section aria-labelledby="history-scores-heading">
              <h3 id="history-scores-heading">{words.scores}</h3>
              <RecordView record={kept.record} />
            </section>
          ) : kept.kind === "rewards" ? (
            <section aria-labelledby="history-rewards-heading">
              <h3 id="history-rewards-heading">{words.rewards}</h3>
              <RewardTable record={kept.record} names={kept.responses.map((_, i) => words.responseAt(String(i + 1)))} />
            </section>
          ) : (
            <>
              <section aria-labelledby="history-pairs-heading">
                <h3 id="history-pairs-heading">{words.pairs}</h3>
                <ul class="history-pairs">{kept.record.pairs.map((pair) => <Pair key={`${pair.first}-${pair.second}`} pair={pair} />)}</ul>
                <RecordFoot record={kept.record} />
              </section>
              {kept.profiles.map((profile, i) => (
                <section key={i} aria-label={words.responseAt(String(i + 1))}>
                  <h3>{words.responseAt(String(i + 1))}</h3>
                  <RecordView record={profile} />
                </section>
              ))}
            </>
          )}
          <Confirm label={words.delete} question={words.confirmOne} onYes={() =>
            remove([id]).then(
              () => {
                announcement.value = words.deleted("1");
                go("history");
              },
              (thrown: unknown) => void (found.value = { trouble: thrown as StoreError }),
            )} />
        </div>
      )}
    </section>
  );
}

function Text({ title, body }: { title: string; body: string }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <div class="history-text" dir="auto" tabIndex={0} role="region" aria-label={title}>{body}</div>
    </section>
  );
}

function Pair({ pair }: { pair: PairVerdict }) {
  const { verdict } = pair;
  const [first, second] = [String(pair.first + 1), String(pair.second + 1)];
  return (
    <li>
      <strong>{words.pair(first, second)}</strong>:{" "}
      {verdict.kind === "unscored" ? verdict.message
        : verdict.preferred === null ? words.tie
          : words.preferred(String(verdict.preferred + 1), formatPercent(verdict.preferred === pair.first ? verdict.probability_first : 1 - verdict.probability_first))}
      {verdict.kind === "scored" && verdict.flipped && ` ${words.flipped}`}
    </li>
  );
}
