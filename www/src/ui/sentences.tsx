import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../engine";
import { formatScore, formatSigned } from "../format";
import type { Evidence, LeaveOut } from "../leave-out";
import { announcement } from "../live";
import { MOST_PIECES, strongest, type Movement, type Piece } from "../sentences";
import type { Run } from "../state";
import { text } from "../text";
import type { Rubric } from "../types";

/** Which sentences move one score: asked for by a button, since it takes a judgement for each. */
export function Sentences({ engine, run, rubric, evidence }: { engine: EngineClient; run: Run; rubric: Rubric; evidence: LeaveOut }) {
  const now = evidence.of.value.get(rubric.id);
  const { pieces } = evidence;
  const ready = useComputed(() => engine.state.value.model.phase === "ready").value;
  const id = `sentences-${rubric.id.replace(/[^\w-]/g, "_")}`;
  const why = pieces.length < 2 ? text.sentences.single
    : !ready ? text.sentences.noModel
    : run.phase === "running" ? text.sentences.busy
    : null;
  const was = useRef(now?.phase);
  useEffect(() => {
    if (was.current === "running" && now && now.phase !== "running") {
      announcement.value = now.phase === "done" ? text.sentences.finished(rubric.name) : text.sentences.cancelled;
    }
    was.current = now?.phase;
  }, [now?.phase]);
  return (
    <div class="judge-sentences" data-testid="sentences" data-phase={now?.phase ?? "none"}>
      <div class="buttons">
        {now?.phase !== "running" && (
          <button type="button" class="plain" aria-disabled={why !== null} aria-describedby={`${id}-why`} aria-label={now ? undefined : text.sentences.askOf(rubric.name)}
            onClick={() => why === null && void evidence.start(rubric)}>
            {now ? text.sentences.again : text.sentences.ask}
          </button>
        )}
        {now?.phase === "running" && (
          <>
            <button type="button" class="plain" aria-disabled={now.cancelling} onClick={() => evidence.cancel(rubric.id)}>
              {now.cancelling ? text.sentences.cancelling : text.sentences.cancel}
            </button>
            <progress aria-label={text.sentences.progress} max={pieces.length + 1} value={now.done} />
            <span class="figures">{text.sentences.done(now.done, pieces.length + 1)}</span>
          </>
        )}
        {now && now.phase !== "running" && <button type="button" class="link" onClick={() => evidence.forget(rubric.id)}>{text.sentences.close}</button>}
      </div>
      <p class="hint" id={`${id}-why`}>{why ?? text.sentences.hint(pieces.length)}</p>
      {now && <Moved run={run} rubric={rubric} now={now} id={id} />}
    </div>
  );
}

function Moved({ run, rubric, now, id }: { run: Run; rubric: Rubric; now: Evidence; id: string }) {
  const { whole, movements, pieces, phase } = now;
  const { raises, lowers } = strongest(movements);
  const by = (at: number) => {
    const one = movements[at];
    return one?.kind === "scored" ? formatSigned(one.moved) : "";
  };
  const any = movements.some(({ kind }) => kind === "scored");
  return (
    <section class="judge-moved" aria-labelledby={`${id}-heading`}>
      <h4 id={`${id}-heading`} dir="auto">{text.sentences.heading(rubric.name)}</h4>
      {phase === "cancelled" && <p class="note">{text.sentences.cancelled}</p>}
      {phase === "failed" && <p class="note">{text.sentences.failed(now.problem ?? "")}</p>}
      {run.truncations.length > 0 && <p class="note">{text.sentences.cut}</p>}
      {whole && (
        <p data-testid="sentences-whole">
          {whole.kind === "scored" ? text.sentences.whole(formatScore(whole.expected) ?? "", String(whole.max)) : text.sentences.wholeUnscored(whole.message)}{" "}
          {raises !== null && `${text.sentences.raisesMost(raises + 1, by(raises))} `}
          {lowers !== null && `${text.sentences.lowersMost(lowers + 1, by(lowers))} `}
          {any && phase === "done" && raises === null && lowers === null && text.sentences.nothingMoves}
        </p>
      )}
      {any && (
        <>
          <p class="hint">{text.sentences.meaning} {pieces.length === MOST_PIECES && text.sentences.merged}</p>
          <div class="judged-box" tabIndex={0} role="region" aria-label={text.sentences.judged} dir="auto" data-testid="sentences-text">
            {pieces.map((piece, i) => <Marked key={i} response={run.response} piece={piece} movement={movements[i]!} />)}
          </div>
          <div class="judge-moved-scroll" tabIndex={0} role="region" aria-label={text.sentences.caption(rubric.name)}>
            <table data-testid="sentences-table">
              <caption class="unseen">{text.sentences.caption(rubric.name)}</caption>
              <thead>
                <tr>
                  <th scope="col">{text.sentences.piece}</th>
                  <th scope="col" class="num">{text.sentences.without}</th>
                  <th scope="col">{text.sentences.moved}</th>
                  <th scope="col">{text.sentences.text}</th>
                </tr>
              </thead>
              <tbody>
                {pieces.map((piece, i) => <MovedRow key={i} place={i + 1} movement={movements[i]!} words={shortened(run.response.slice(piece.start, piece.end))} />)}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}

function MovedRow({ place, movement, words }: { place: number; movement: Movement; words: string }) {
  return (
    <tr data-testid="moved-row" data-state={movement.kind}>
      <th scope="row">{place}</th>
      {movement.kind === "scored" ? (
        <>
          <td class="num">{formatScore(movement.without)}</td>
          <td class="judge-movement"><strong>{formatSigned(movement.moved)}</strong> {text.sentences.sign[movement.sign]}</td>
        </>
      ) : (
        <td colSpan={2} class="no-score">{movement.kind === "waiting" ? text.sentences.waiting : text.sentences.unscored(movement.message)}</td>
      )}
      <td dir="auto">{words}</td>
    </tr>
  );
}

/** The figure with its sign stands in front of what moves the score: the line under it is not the only mark. */
function Marked({ response, piece, movement }: { response: string; piece: Piece; movement: Movement }) {
  const words = response.slice(piece.start, piece.end);
  if (movement.kind !== "scored" || movement.sign === "hardly") return <span>{words}</span>;
  const lead = /^\s*/.exec(words)![0];
  const body = words.trim();
  return (
    <>
      {lead}
      <mark class={`judge-${movement.sign}`} data-sign={movement.sign}>
        <span class="judge-by"><span class="unseen">{text.sentences.before[movement.sign]} </span>{formatSigned(movement.moved)}</span>
        {body}
      </mark>
      {words.slice(lead.length + body.length)}
    </>
  );
}

function shortened(words: string): string {
  const plain = words.replaceAll(/\s+/g, " ").trim();
  return plain.length > 160 ? `${plain.slice(0, 160)}…` : plain;
}
