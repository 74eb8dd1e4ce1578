import type { EngineClient } from "../engine";
import { text } from "../text";
import { AdapterPick, ModelPick } from "./model";

/** What went wrong, what to do, and the buttons that do it. */
export function ErrorPanel({ engine }: { engine: EngineClient }) {
  const { error, stalled, source, backend, model } = engine.still.value;
  return (
    <div role="alert" class="alerts">
      {error && (
        <section class="error" data-testid="error" data-code={error.failure.code} aria-labelledby="error-heading">
          <h2 id="error-heading">{text.error.heading[error.place]}</h2>
          <p class="error-message">{error.failure.message}</p>
          {text.advice[error.failure.code] && <p>{text.advice[error.failure.code]}</p>}
          <div class="buttons">
            {error.place === "engine" && <button type="button" class="plain" onClick={() => engine.restart()}>{text.error.restart}</button>}
            {error.place === "model" && <button type="button" class="plain" onClick={() => engine.load(source, backend)}>{text.error.retry}</button>}
            {error.place === "model" && source.kind === "file" && <ModelPick engine={engine} label={text.error.file} />}
            {error.place === "adapter" && model.phase === "none" && (
              <>
                <button type="button" class="plain" onClick={() => engine.load(source, backend)}>{text.error.retry}</button>
                <button type="button" class="plain" onClick={() => engine.setAdapter({ kind: "none" })}>{text.error.noAdapter}</button>
              </>
            )}
            {error.place === "adapter" && <AdapterPick engine={engine} label={text.error.file} />}
            {["engine", "model"].includes(error.place) && source.kind !== "preset" && (
              <button type="button" class="plain" onClick={() => engine.load({ kind: "preset", name: null }, backend)}>{text.error.preset}</button>
            )}
            {backend !== "cpu" && ["no_gpu", "gpu_failed", "out_of_memory"].includes(error.failure.code) && (
              <button type="button" class="plain" onClick={() => engine.load(source, "cpu")}>{text.error.cpu}</button>
            )}
            {error.place !== "engine" && ["out_of_memory", "gpu_failed", "unexpected"].includes(error.failure.code) && (
              <button type="button" class="plain" onClick={() => engine.restart()}>{text.error.restart}</button>
            )}
            <button type="button" class="link" onClick={() => engine.dismissError()}>{text.error.dismiss}</button>
          </div>
          <p class="hint">{text.error.technical}: <code>{error.failure.code}</code></p>
        </section>
      )}
      {stalled && (
        <section class="error mild">
          <p>{text.error.stalled}</p>
          <button type="button" class="plain" onClick={() => engine.restart()}>{text.error.restart}</button>
        </section>
      )}
    </div>
  );
}
