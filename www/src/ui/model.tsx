import type { EngineClient } from "../engine";
import { formatBytes, formatBytesOf, formatCount, formatParameters } from "../format";
import { ownFiles, type ModelState } from "../state";
import { text } from "../text";
import type { BackendChoice } from "../types";

const CHOICES: BackendChoice[] = ["auto", "gpu", "cpu"];

export function ModelPanel({ engine }: { engine: EngineClient }) {
  const { model, presets, source, backend, forgotten } = engine.state.value;
  const current = source.kind === "preset" ? (source.name ?? presets.find((preset) => preset.default)?.name ?? "") : "";
  return (
    <section class="card model" aria-labelledby="model-heading">
      <div class="card-head">
        <h2 id="model-heading">{text.model.heading}</h2>
        {model.phase === "ready" && (
          <span class="badge" data-testid="backend" data-backend={model.info.backend}>
            {text.model.backend[model.info.backend]}
          </span>
        )}
      </div>
      {presets.length > 1 && (
        <label class="stacked">
          {text.model.choose}
          <select value={current} onChange={(event) => engine.load({ kind: "preset", name: event.currentTarget.value }, backend)}>
            {source.kind === "file" && <option value="">{source.files[0].name}</option>}
            {presets.map((preset) => <option key={preset.name} value={preset.name}>{`${preset.title} (${formatBytes(preset.bytes)})`}</option>)}
          </select>
        </label>
      )}
      <Status engine={engine} model={model} />
      <fieldset class="choices">
        <legend>{text.model.backendLegend}</legend>
        <div class="segments">
          {CHOICES.map((choice) => (
            <label key={choice}>
              <input type="radio" name="backend" value={choice} checked={backend === choice} onChange={() => engine.load(source, choice)} />
              <span>{text.model.backendChoice[choice]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <div class="file-row">
        <ModelPick engine={engine} label={text.model.file} />
        <span class="hint">{text.model.fileHint}</span>
      </div>
      {source.kind === "file" && (
        <button type="button" class="link" onClick={() => engine.load({ kind: "preset", name: null }, backend)}>{text.model.preset}</button>
      )}
      {model.phase === "ready" && <AdapterPanel engine={engine} />}
      {model.phase === "ready" && (
        <details class="more">
          <summary>{text.model.more}</summary>
          <dl>
            <dt>{text.model.device}</dt>
            <dd>{model.info.device}</dd>
            <dt>{text.model.size}</dt>
            <dd>{text.model.sizeOf(formatParameters(model.info.model.parameters), model.info.model.quantization, formatBytes(model.info.model.file_bytes))}</dd>
            <dt>{text.model.context}</dt>
            <dd>{text.model.contextOf(formatCount(model.info.model.context_length))}</dd>
            <dt>{text.model.stored}</dt>
            <dd>{text.model.origin[model.origin]}</dd>
          </dl>
          <button type="button" class="link" onClick={() => engine.forgetModels()}>{text.model.forget}</button>
        </details>
      )}
      {forgotten !== null && <p class="hint">{text.model.forgotten(formatBytes(forgotten))}</p>}
    </section>
  );
}

function Status({ engine, model }: { engine: EngineClient; model: ModelState }) {
  switch (model.phase) {
    case "starting":
      return <p class="model-line">{text.model.starting}</p>;
    case "none": {
      const { source, backend } = engine.state.value;
      return (
        <div class="model-line">
          <p>{text.model.none}</p>
          <button type="button" class="plain" onClick={() => engine.load(source, backend)}>{text.model.load}</button>
        </div>
      );
    }
    case "loading":
      return (
        <div class="loading" data-testid="loading">
          {model.name !== "" && <p class="model-name">{model.name}</p>}
          <progress aria-label={text.model.progressLabel} max={model.total_bytes || 1} value={model.total_bytes > 0 ? model.loaded_bytes : undefined} />
          <div class="loading-line">
            <span>{model.waiting ? text.model.waiting : text.model.stage[model.stage]}</span>
            {model.total_bytes > 0 && <span class="figures">{formatBytesOf(model.loaded_bytes, model.total_bytes)}</span>}
          </div>
          <button type="button" class="link" onClick={() => engine.cancelLoad()}>{text.model.cancel}</button>
        </div>
      );
    case "ready":
      return (
        <div class="ready" data-testid="ready">
          <p class="model-name">{titleOf(engine, model.info.model.name)}</p>
          <p class="model-why">{model.info.reason}</p>
          {(model.origin === "memory_quota" || model.origin === "memory_unavailable") && <p class="note">{text.model.origin[model.origin]}</p>}
          {model.other_tab && <p class="note">{text.model.otherTab}</p>}
        </div>
      );
  }
}

/** A preset's title; a file goes by its name. */
function titleOf(engine: EngineClient, name: string): string {
  const { source, presets } = engine.state.value;
  return source.kind === "preset" ? (presets.find((preset) => preset.name === name)?.title ?? name) : name;
}

/** The adapter on top of the model: which one, and how to get or lose it. */
function AdapterPanel({ engine }: { engine: EngineClient }) {
  const { adapter, run } = engine.state.value;
  const busy = run?.phase === "running";
  return (
    <fieldset class="adapter" data-testid="adapter" disabled={busy || adapter.changing !== null}>
      <legend>{text.model.adapter.legend}</legend>
      {adapter.applied !== null && (
        <p class="adapter-name">{text.model.adapter.applied(adapter.applied.title, adapter.applied.rank)}</p>
      )}
      <div class="file-row">
        <AdapterPick engine={engine} label={text.model.adapter.pick} />
        {adapter.applied !== null && (
          <button type="button" class="link" onClick={() => engine.setAdapter(null)}>{text.model.adapter.remove}</button>
        )}
      </div>
      <p class="hint">
        {adapter.changing !== null ? text.model.adapter.changing(adapter.changing) : busy ? text.model.adapter.busy : text.model.adapter.hint}
      </p>
    </fieldset>
  );
}

export function ModelPick({ engine, label }: { engine: EngineClient; label: string }) {
  return (
    <FilePick id="model-file" label={label} multiple onFiles={(files) => {
      const source = ownFiles(files);
      if (source) engine.load(source, engine.state.value.backend);
    }} />
  );
}

export function AdapterPick({ engine, label }: { engine: EngineClient; label: string }) {
  return <FilePick id="adapter-file" label={label} onFiles={([file]) => file && engine.setAdapter(file)} />;
}

/** A file input that looks like a button; the input itself stays in the tab order. */
function FilePick({ id, label, multiple = false, onFiles }: {
  /** For tests: several of a kind can be on the page, so it is no `id`. */
  id: string;
  label: string;
  multiple?: boolean;
  onFiles: (files: File[]) => void;
}) {
  return (
    <label class="file-pick">
      <input type="file" accept=".gguf" data-testid={id} multiple={multiple} onChange={(event) => {
        const input = event.currentTarget;
        onFiles([...(input.files ?? [])]);
        // So that choosing the same file again counts as a choice.
        input.value = "";
      }} />
      <span>{label}</span>
    </label>
  );
}
