import { useEffect, useRef } from "preact/hooks";
import { formatCount, formatPercent, formatReward } from "../format";
import { announcement } from "../live";
import { highestOf, type RewardOutcome, type Rewards } from "../rewards";
import { text } from "../text";
import { rewardsText as words } from "../text/rewards";
import type { RewardRecord } from "../types";
import { RecordFoot } from "./record";

/** What a reward model's head says, with how far it has come. */
export function RewardsCard({ rewards, id }: { rewards: Rewards; id: string }) {
  const outcome = rewards.outcome.value;
  const section = useRef<HTMLElement>(null);
  const before = useRef<RewardOutcome["phase"] | null>(null);
  const phase = outcome?.phase ?? null;
  useEffect(() => {
    if (phase === "running") section.current?.scrollIntoView({ block: "nearest" });
    if (before.current === "running" && outcome && phase !== "running") {
      announcement.value = phase === "done" ? words.done(outcome.texts.responses.length)
        : phase === "cancelled" ? words.cancelled : words.failed(outcome.problem?.message ?? "");
    }
    before.current = phase;
  }, [phase]);
  return (
    <section class="card results" ref={section} aria-labelledby={`${id}-heading`} data-testid={id} data-phase={phase ?? "none"}>
      <h2 id={`${id}-heading`}>{words.heading}</h2>
      {outcome === null ? <p class="hint">{words.idle}</p> : <Shown outcome={outcome} rewards={rewards} />}
    </section>
  );
}

function Shown({ outcome, rewards }: { outcome: RewardOutcome; rewards: Rewards }) {
  const { phase, record, texts, share, cancelling, problem } = outcome;
  return (
    <>
      {phase === "running" && (
        <div class="judge-bar">
          <div class="judge-state">
            <progress aria-label={words.progress} max={1} value={share} />
            <span class="figures">{words.running} {formatPercent(share)}</span>
          </div>
          <button type="button" class="plain" aria-disabled={cancelling} onClick={() => rewards.cancel()}>{cancelling ? words.cancelling : words.cancel}</button>
        </div>
      )}
      {phase === "cancelled" && <p class="note">{words.cancelled}</p>}
      {phase === "failed" && <p class="note" role="alert">{words.failed(problem?.message ?? "")} {text.advice[problem?.code ?? ""]}</p>}
      {record && <RewardTable record={record} names={texts.responses.map(({ id }) => id)} />}
    </>
  );
}

/** One row per response, one column per output. */
export function RewardTable({ record, names }: { record: RewardRecord; names: string[] }) {
  const outputs = Math.max(1, ...record.rewards.map((reward) => (reward.kind === "scored" ? reward.outputs.length : 0)));
  const highest = highestOf(record.rewards);
  return (
    <>
      {record.notices.map((notice) => <p class="note" key={notice}>{notice}</p>)}
      <table class="reward-table" data-testid="rewards">
        <caption class="unseen">{words.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{words.response}</th>
            {Array.from({ length: outputs }, (_, at) => <th scope="col" class="num" key={at} dir="auto">{words.called(record.labels[at], at + 1, outputs)}</th>)}
          </tr>
        </thead>
        <tbody>
          {record.rewards.map((reward, at) => (
            <tr key={at} class="row" data-testid="reward" data-state={reward.kind}>
              <th scope="row" dir="auto">{names[at] ?? formatCount(at + 1)}</th>
              {reward.kind === "scored"
                ? reward.outputs.map((value, place) => (
                  <td class="num" key={place}>
                    {highest.length === 1 && highest[0] === at && <span class="badge">{words.highest}</span>} <span class="score">{formatReward(value) ?? text.results.unscored}</span>
                  </td>
                ))
                : <td class="no-score" colSpan={outputs}><strong>{text.results.unscored}.</strong> {reward.message}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {highest.length > 1 && <p>{words.level(highest.map((at) => names[at] ?? "").join(", "))}</p>}
      <p class="hint">{outputs === 1 ? words.scale : words.several}</p>
      <RecordFoot record={record} />
    </>
  );
}
