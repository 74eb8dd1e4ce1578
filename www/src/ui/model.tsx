import type { EngineClient } from "../engine";
import { formatBytes, formatBytesOf, formatCount, formatParameters } from "../format";
import { hrefOf } from "../router";
import { appliedOffer, offeredAdapters, ownFiles, sourceName, type ModelState } from "../state";
import { text } from "../text";
import type { BackendChoice } from "../types";

const CHOICES: BackendChoice[] = ["auto", "gpu", "cpu"];

/** Screens stay mounted, so that names and ids of one screen's panel must not be those of another's. */
type Place = "judge" | "models";
const namer = (place: Place) => (name: string) => (place === "judge" ? name : `${place}-${name}`);

/** Which model, and how to get another. `onFiles`: what is done with files of the person's own; they are loaded where it is absent. */
export function ModelPanel({ engine, place = "judge", onFiles }: { engine: EngineClient; place?: Place; onFiles?: (files: File[]) => void }) {
  const { model, presets, source, backend, forgotten } = engine.still.value;
  const id = namer(place);
  const current = source.kind === "preset" ? (source.name ?? presets.find((preset) => preset.default)?.name ?? "") : "";
  return (
    <section class="card model" aria-labelledby={id("model-heading")}>
      <div class="card-head">
        <h2 id={id("model-heading")}>{text.model.heading}</h2>
        {model.phase === "ready" && (
          <span class="badge" data-testid={id("backend")} data-backend={model.info.backend}>
            {text.model.backend[model.info.backend]}
          </span>
        )}
      </div>
      {presets.length > 1 && (
        <label class="stacked">
          {text.model.choose}
          <select value={current} onChange={(event) => engine.load({ kind: "preset", name: event.currentTarget.value }, backend)}>
            {source.kind !== "preset" && <option value="">{sourceName(engine.still.value, source)}</option>}
            {presets.map((preset) => <option key={preset.name} value={preset.name}>{`${preset.title} (${formatBytes(preset.bytes)})`}</option>)}
          </select>
        </label>
      )}
      <Status engine={engine} model={model} id={id} />
      <fieldset class="choices">
        <legend>{text.model.backendLegend}</legend>
        <div class="segments">
          {CHOICES.map((choice) => (
            <label key={choice}>
              <input type="radio" name={id("backend")} value={choice} checked={backend === choice} onChange={() => engine.load(source, choice)} />
              <span>{text.model.backendChoice[choice]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <div class="file-row">
        {onFiles ? <FilePick id={id("model-file")} label={text.model.file} multiple onFiles={onFiles} /> : <ModelPick engine={engine} label={text.model.file} />}
        <span class="hint">{text.model.fileHint}</span>
      </div>
      {source.kind !== "preset" && (
        <button type="button" class="link" onClick={() => engine.load({ kind: "preset", name: null }, backend)}>{text.model.preset}</button>
      )}
      {model.phase === "ready" && <AdapterPanel engine={engine} id={id} />}
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
      {place === "judge" && <a class="link" href={hrefOf("models")}>{text.model.moreModels}</a>}
      {forgotten !== null && <p class="hint">{text.model.forgotten(formatBytes(forgotten))}</p>}
    </section>
  );
}

function Status({ engine, model, id }: { engine: EngineClient; model: ModelState; id: (name: string) => string }) {
  switch (model.phase) {
    case "starting":
      return <p class="model-line">{text.model.starting}</p>;
    case "none": {
      const { source, backend } = engine.still.value;
      return (
        <div class="model-line">
          <p>{text.model.none}</p>
          <button type="button" class="plain" onClick={() => engine.load(source, backend)}>{text.model.load}</button>
        </div>
      );
    }
    case "loading":
      return (
        <div class="loading" data-testid={id("loading")}>
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
        <div class="ready" data-testid={id("ready")}>
          <p class="model-name">{titleOf(engine, model.info.model.name)}</p>
          <p class="model-why">{model.info.reason}</p>
          {(model.origin === "memory_quota" || model.origin === "memory_unavailable") && <p class="note">{text.model.origin[model.origin]}</p>}
          {model.other_tab && <p class="note">{text.model.otherTab}</p>}
        </div>
      );
  }
}

/** A preset's title, and a stored model's; a file goes by its name. */
function titleOf(engine: EngineClient, name: string): string {
  const { source, presets } = engine.still.value;
  if (source.kind === "stored") return sourceName(engine.still.value, source) || name;
  return source.kind === "preset" ? (presets.find((preset) => preset.name === name)?.title ?? name) : name;
}

/** The adapter on top of the model: which one, and how to get another or none. */
function AdapterPanel({ engine, id }: { engine: EngineClient; id: (name: string) => string }) {
  const { adapter, running: busy } = engine.still.value;
  const { applied, asked, changing, fetched } = adapter;
  const offered = offeredAdapters(engine.still.value);
  const current = appliedOffer(engine.still.value);
  const own = applied !== null && !current;
  // What is being changed to already stands as chosen; if it fails, what is applied does again.
  const shown = asked ? (asked.kind === "preset" ? asked.name : asked.kind) : applied === null ? "none" : (current?.name ?? "file");
  return (
    <fieldset class="adapter" data-testid={id("adapter")} disabled={busy || changing !== null}>
      <legend>{text.model.adapter.legend}</legend>
      {offered.length > 0 && (
        <div class="adapter-choices">
          {offered.map(({ name, title, description, default: isDefault }) => (
            <div key={name} class="adapter-choice">
              <label>
                <input type="radio" name={id("adapter")} value={name} checked={shown === name} aria-describedby={id(`adapter-${name}`)}
                  onChange={() => engine.setAdapter({ kind: "preset", name })} />
                {isDefault ? text.model.adapter.default(title) : title}
              </label>
              <p class="hint" id={id(`adapter-${name}`)}>{description}</p>
            </div>
          ))}
          <div class="adapter-choice">
            <label>
              <input type="radio" name={id("adapter")} value="none" checked={shown === "none"} aria-describedby={id("adapter-none")}
                onChange={() => engine.setAdapter({ kind: "none" })} />
              {text.model.adapter.none}
            </label>
            <p class="hint" id={id("adapter-none")}>{text.model.adapter.noneHint}</p>
          </div>
        </div>
      )}
      {own && <p class="adapter-name">{text.model.adapter.applied(applied.title, applied.rank)}</p>}
      <div class="file-row">
        <AdapterPick engine={engine} label={offered.length > 0 ? text.model.adapter.own : text.model.adapter.pick} />
        {own && (
          <button type="button" class="link" onClick={() => engine.setAdapter({ kind: "none" })}>{text.model.adapter.remove}</button>
        )}
      </div>
      {fetched && changing !== null && (
        <>
          <progress aria-label={text.model.adapter.progressLabel} max={fetched.total_bytes} value={fetched.loaded_bytes} />
          <p class="hint figures">{formatBytesOf(fetched.loaded_bytes, fetched.total_bytes)}</p>
        </>
      )}
      <p class="hint">
        {changing !== null ? text.model.adapter.changing(changing) : busy ? text.model.adapter.busy : offered.length > 0 ? text.model.adapter.ownHint : text.model.adapter.hint}
      </p>
    </fieldset>
  );
}

export function ModelPick({ engine, label }: { engine: EngineClient; label: string }) {
  return (
    <FilePick id="model-file" label={label} multiple onFiles={(files) => {
      const source = ownFiles(files);
      if (source) engine.load(source, engine.still.value.backend);
    }} />
  );
}

export function AdapterPick({ engine, label }: { engine: EngineClient; label: string }) {
  return <FilePick id="adapter-file" label={label} onFiles={([file]) => file && engine.setAdapter({ kind: "file", file })} />;
}

/** A file input that looks like a button; the input itself stays in the tab order. */
export function FilePick({ id, label, multiple = false, onFiles }: {
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
