import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { EngineClient } from "../engine";
import { formatBytes, formatPercent } from "../format";
import { announcement } from "../live";
import { ownFiles } from "../state";
import { shareArrived, standingOf, progressOf } from "../standing";
import { Reading } from "../reading";
import { pageRequests, refusedRequests } from "../requests";
import { text } from "../text";
import type { JudgeRequest, Rubric, SkillId } from "../types";
import { AsksPanel } from "./asks";
import { ErrorPanel } from "./errors";
import { Inputs, type InputsHandle } from "./inputs";
import { ModelPanel } from "./model";
import { Results } from "./results";
import { SkillsPanel, type Scope } from "./skills";

export function App({ engine }: { engine: EngineClient }) {
  const state = engine.state;
  const reading = useMemo(() => new Reading(engine), []);
  const custom = useSignal<Rubric[]>([]);
  /** Ids that were switched off, so that rubrics which arrive later are on. */
  const off = useSignal<ReadonlySet<string>>(new Set());
  const scope = useSignal<Scope>("all");
  const inputs = useRef<InputsHandle>(null);
  const chosen = useComputed(() => {
    const needed = reading.asks.value.annotation?.skills ?? [];
    const isOn = ({ id, ability }: Rubric) =>
      scope.value === "all" || (scope.value === "needed" && ability !== null ? needed.includes(id as SkillId) : !off.value.has(id));
    return [...state.value.builtin, ...custom.value].filter(isOn);
  });
  const dragging = useDrop((files) => {
    const [list] = files;
    if (files.length === 1 && list && /\.(toml|json)$/i.test(list.name)) return void reading.open(list);
    const source = ownFiles(files);
    if (source) engine.load(source, state.value.backend);
  });
  useAnnouncements(engine);

  const start = (texts: Pick<JudgeRequest, "prompt" | "response" | "reference">) => {
    const { skills, overall } = reading.modes.value;
    const rubrics = [...(skills ? chosen.value : []), ...(overall && state.value.overall ? [state.value.overall] : [])];
    const checklist = reading.sent();
    if (rubrics.length === 0 && checklist === null) {
      announcement.value = text.judge.nothing;
      return;
    }
    const { annotation } = reading.asks.value;
    engine.judge({ ...texts, rubrics, ...(checklist && { checklist }), ...(annotation && { annotation }) });
  };
  const judge = () => {
    if (state.value.run?.phase === "running" || state.value.queued) return;
    const texts = inputs.current?.read();
    if (!texts || state.value.model.phase === "none") return;
    // The annotation goes into the record, and the list is made of the prompt: both must be of these texts.
    void reading.settled().then(() => {
      if (state.value.run?.phase !== "running" && !state.value.queued) start(texts);
    });
  };

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      judge();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  return (
    <>
      <a class="skip" href="#prompt">{text.skipInput}</a>
      <a class="skip" href="#results">{text.skip}</a>
      <header class="masthead">
        <Mark />
        <div>
          <h1>{text.name}</h1>
          <p>{text.tagline}</p>
        </div>
      </header>
      <main>
        <ErrorPanel engine={engine} />
        <div class="bench">
          <div class="front">
            <Inputs engine={engine} reading={reading} handle={inputs} chosen={chosen} onJudge={judge} />
            <AsksPanel engine={engine} reading={reading} />
          </div>
          <div class="side">
            <ModelPanel engine={engine} />
            <SkillsPanel engine={engine} reading={reading} custom={custom} off={off} scope={scope} chosen={chosen} />
          </div>
        </div>
        <Results engine={engine} />
        <Privacy engine={engine} />
      </main>
      <footer class="foot">
        <span>{state.value.version === null ? text.name : text.footer.version(state.value.version)}</span>
        <span>{text.footer.licence}</span>
      </footer>
      {dragging.value && <div class="drop" aria-hidden="true">{text.model.drop}</div>}
      <div class="unseen" role="status" aria-live="polite" data-testid="live">{announcement}</div>
    </>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="44" height="44" aria-hidden="true">
      <rect class="mark-ground" width="32" height="32" rx="8" />
      <path class="mark-glass" d="M8.2 8.400h5.200M10.800 8.400c0 3 .3 3.600-1.300 5.200a6.600 6.600 0 1 0 9.700.4c2-1.700 4.300-1.200 6.800 2.600" />
      <circle class="mark-drop" cx="13.800" cy="19" r="2.300" />
    </svg>
  );
}

function Privacy({ engine }: { engine: EngineClient }) {
  const { own, other } = pageRequests.value;
  const worker = engine.state.value.worker_requests;
  const refused = refusedRequests.value + worker.refused;
  return (
    <section class="privacy" aria-labelledby="privacy-heading">
      <h2 id="privacy-heading">{text.privacy.heading}</h2>
      <p>{text.privacy.body} {text.privacy.check}</p>
      <p class="figures" data-testid="requests">
        {text.privacy.requests(String(own + worker.own), String(other + worker.other))}
        {refused > 0 && ` ${text.privacy.refused(String(refused))}`}
      </p>
    </section>
  );
}

/** Loading in quarters, the run's beginning and end: enough to follow, not enough to drown in. */
function useAnnouncements(engine: EngineClient): void {
  const last = useRef({ quarter: -1, phase: "", run: "", adapter: null as string | null });
  useSignalEffect(() => {
    const { model, run, forgotten, adapter } = engine.state.value;
    const seen = last.current;
    if (model.phase === "loading" && model.total_bytes > 0) {
      const share = model.loaded_bytes / model.total_bytes;
      const quarter = Math.floor(share * 4);
      const key = `${model.stage}${quarter}`;
      if (seen.phase !== key) announcement.value = text.live.loading(`${model.name}, ${text.model.stage[model.stage]}`, formatPercent(share));
      seen.phase = key;
    } else if (model.phase === "ready" && seen.phase !== "ready") {
      seen.phase = "ready";
      announcement.value = text.live.ready(model.info.model.name, text.model.backend[model.info.backend]);
    } else if (model.phase !== "ready" && model.phase !== "loading") {
      seen.phase = model.phase;
    }
    if (run) {
      const share = shareArrived(run);
      const key = `${run.run_id}${run.phase}${run.phase === "running" ? Math.floor(share * 4) : ""}`;
      if (seen.run !== key) {
        seen.run = key;
        announcement.value = run.phase !== "running" ? standingOf(run) : share === 0 ? text.live.judging : progressOf(run);
      }
    }
    const applied = adapter.applied?.title ?? null;
    if (applied !== seen.adapter) {
      seen.adapter = applied;
      announcement.value = applied === null ? text.live.adapterOff : text.live.adapterOn(applied);
    }
    if (forgotten !== null) announcement.value = text.model.forgotten(formatBytes(forgotten));
  });
}

/** A model file can be dropped anywhere; a text that is dragged into a field is left alone. */
function useDrop(onFiles: (files: FileList) => void) {
  const dragging = useSignal(false);
  useEffect(() => {
    const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const over = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      dragging.value = true;
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) dragging.value = false;
    };
    const drop = (event: DragEvent) => {
      dragging.value = false;
      const files = event.dataTransfer?.files;
      if (!files?.length) return;
      event.preventDefault();
      onFiles(files);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, []);
  return dragging;
}
