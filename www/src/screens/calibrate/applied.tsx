import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../../engine";
import { hrefOf } from "../../router";
import { calibrate as words } from "../../text/calibrate";
import type { Failure } from "../../worker/protocol";
import { readExample, saved, watchSaved } from "./desk";
import { keyOfEngine, onScale } from "./labels";

interface Texts {
  prompt: string;
  response: string;
  reference?: string;
}

/** The response that was judged last, on the scale of a person's own labels. Nothing is computed before it is asked for. */
export function Applied({ engine, texts }: { engine: EngineClient; texts: Texts | null }) {
  const chosen = useSignal<string | null>(null);
  const outcome = useSignal<{ text: string; bad: boolean } | "working" | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(watchSaved, []);
  useEffect(() => {
    abort.current?.abort();
    outcome.value = null;
  }, [texts?.prompt, texts?.response, texts?.reference]);
  const { model, adapter, builtin } = engine.state.value;
  if (model.phase !== "ready" || texts === null) return null;
  const key = keyOfEngine(model.info, adapter.applied);
  const fitting = saved.value.filter((one) => one.key === key);
  const one = fitting.find(({ id }) => id === chosen.value) ?? fitting[0];
  const score = async () => {
    if (!one) return;
    const mine = new AbortController();
    abort.current = mine;
    outcome.value = "working";
    const { readout } = one;
    try {
      const read = await readExample(engine, { prompt: texts.prompt, response: texts.response, reference: texts.reference ?? null }, one.aspect, key, mine.signal);
      const own = read.own === null ? null : onScale(read.own, { min: read.own_min, max: read.own_max }, readout);
      const value = await engine.call("apply_readout", { readout, state: read.state, own }).answer;
      if (mine.signal.aborted) return;
      outcome.value = value === null ? { text: words.applied.noOwn, bad: true } : { text: words.applied.score(value.toFixed(2), readout.min, readout.max), bad: false };
    } catch (thrown) {
      outcome.value = mine.signal.aborted ? null : { text: words.applied.failed((thrown as Failure).message), bad: true };
    }
  };
  const aspect = one && (one.aspect === "overall" ? words.settings.overall : (builtin.find(({ id }) => id === one.aspect)?.name ?? one.aspect));
  return (
    <section class="part" aria-labelledby="applied-heading" data-testid="applied">
      <h3 id="applied-heading">{words.applied.heading}</h3>
      {one === undefined ? (
        <p class="hint">{saved.value.length > 0 ? words.applied.other : words.applied.none} <a href={hrefOf("calibrate")}>{words.heading}</a></p>
      ) : (
        <>
          <div class="buttons">
            {fitting.length > 1 && (
              <label>
                {words.applied.pick}{" "}
                <select value={one.id} onChange={(event) => {
                  chosen.value = event.currentTarget.value;
                  outcome.value = null;
                }}>
                  {fitting.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
                </select>
              </label>
            )}
            <button type="button" class="plain" aria-disabled={outcome.value === "working"} onClick={() => outcome.value !== "working" && void score()}>{words.applied.button}</button>
            {outcome.value === "working" && <button type="button" class="link" onClick={() => abort.current?.abort()}>{words.applied.cancel}</button>}
          </div>
          <p role="status">
            {outcome.value === "working" ? words.applied.working : outcome.value && <strong class={outcome.value.bad ? "field-error" : undefined}>{outcome.value.text}</strong>}
          </p>
          <p class="hint">{words.applied.by(one.name, one.readout.n, aspect!)} {!one.readout.helps && words.applied.weak}</p>
        </>
      )}
    </section>
  );
}
