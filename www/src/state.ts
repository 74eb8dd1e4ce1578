/** Everything that the page shows, as one value, and the pure function that moves it on. */
import type {
  AdapterInfo, BackendChoice, ChecklistItem, EngineInfo, ItemVerdict, JudgeRecord, JudgeRequest, Rubric, RubricVerdict, Truncation, Vocabulary,
} from "./types";
import type { Profile } from "./worker/names";
import type { AdapterChoice, Failure, FromWorker, LoadStage, ModelSource, Offered, Origin, Preset, StoredFile } from "./worker/protocol";

export type ModelState =
  | { phase: "starting" }
  /** Nothing is loaded and nothing is being loaded: a load was cancelled or failed. */
  | { phase: "none" }
  | {
      phase: "loading";
      name: string;
      stage: LoadStage;
      loaded_bytes: number;
      total_bytes: number;
      /** Another tab is downloading the same model. */
      waiting: boolean;
    }
  /** `profile`: what whoever offered the stored file said of how it wants to be asked. */
  | { phase: "ready"; info: EngineInfo; origin: Origin; other_tab: boolean; profile: Profile | null };

/** A row of the results: one rubric that was asked for. */
export interface Row {
  rubric: Rubric;
  verdict: RubricVerdict | null;
}

/** One item of the checklist that was sent. */
export interface ItemRow {
  item: ChecklistItem;
  verdict: ItemVerdict | null;
}

export interface Run {
  run_id: number;
  phase: "running" | "done" | "cancelled" | "failed";
  /** Set between the press of Cancel and the engine's answer. */
  cancelling: boolean;
  rows: Row[];
  /** The skill-agnostic baseline, where it was asked for. */
  overall: Row | null;
  items: ItemRow[];
  /** The response that is judged: evidence points into this text, whatever the field holds by now. */
  response: string;
  done_tokens: number;
  total_tokens: number;
  /** What a judge that writes has written of the verdict that comes next, and by which rubric. */
  writing: { rubric_id: string; text: string } | null;
  truncations: Truncation[];
  record: JudgeRecord | null;
}

/** Which part of the page an error belongs to; it decides the ways out that are offered. */
export type ErrorPlace = "engine" | "model" | "adapter" | "judge";

/** The adapter on top of the loaded model. `changing`: the name of the one that is being applied, or "" for none. */
export interface AdapterState {
  adapter_id: number;
  applied: AdapterInfo | null;
  changing: string | null;
  /** What is asked for while it is being changed. */
  asked: AdapterChoice | null;
  /** How much of it has been fetched, where it has to be. */
  fetched: { loaded_bytes: number; total_bytes: number } | null;
}

export interface State {
  version: string | null;
  builtin: Rubric[];
  /** "One overall score" as a rubric. */
  overall: Rubric | null;
  vocabulary: Vocabulary | null;
  presets: Preset[];
  model: ModelState;
  load_id: number;
  source: ModelSource;
  backend: BackendChoice;
  /** Which adapter the next load applies. */
  choice: AdapterChoice;
  adapter: AdapterState;
  /** How the person says that the loaded model wants to be asked; null where they have not said. */
  asked_by: Profile | null;
  run: Run | null;
  /** Judge was pressed while the model was loading; the judgement starts by itself. */
  queued: boolean;
  error: { place: ErrorPlace; failure: Failure } | null;
  /** The worker has not answered for a while. */
  stalled: boolean;
  /** Bytes freed by the last "delete stored models", or null. */
  forgotten: number | null;
  worker_requests: { own: number; other: number; refused: number };
  /** What this browser has stored, as it was last asked; `freed` and `error` are of the last deletion. */
  stored: { files: StoredFile[]; freed: number | null; error: Failure | null } | null;
}

const NO_ADAPTER: AdapterState = { adapter_id: 0, applied: null, changing: null, asked: null, fetched: null };

export const INITIAL: State = {
  version: null,
  builtin: [],
  overall: null,
  vocabulary: null,
  presets: [],
  model: { phase: "starting" },
  load_id: 0,
  source: { kind: "preset", name: null },
  backend: "auto",
  choice: { kind: "preset", name: null },
  adapter: NO_ADAPTER,
  asked_by: null,
  run: null,
  queued: false,
  error: null,
  stalled: false,
  forgotten: null,
  worker_requests: { own: 0, other: 0, refused: 0 },
  stored: null,
};

/** What the page itself does. */
export type Action =
  | { type: "load_requested"; load_id: number; source: ModelSource; backend: BackendChoice; adapter: AdapterChoice }
  | { type: "adapter_requested"; adapter_id: number; adapter: AdapterChoice }
  | { type: "judge_requested"; run_id: number; request: JudgeRequest }
  | { type: "cancel_requested" }
  | { type: "profile_chosen"; profile: Profile }
  | { type: "queue_changed"; queued: boolean }
  | { type: "error_dismissed" }
  | { type: "worker_died"; message: string }
  | { type: "worker_restarted" }
  | { type: "stall_changed"; stalled: boolean };

/** The next state. A message of a load or run that is no longer current changes nothing. */
export function reduce(state: State, message: FromWorker | Action): State {
  switch (message.type) {
    case "ready":
      return { ...state, version: message.version, builtin: message.rubrics, overall: message.overall, vocabulary: message.vocabulary };
    case "start_failed":
      return failed({ ...state, model: { phase: "none" } }, "engine", message.error);
    case "presets":
      return { ...state, presets: message.presets };

    case "load_requested":
      return {
        ...state,
        load_id: message.load_id,
        source: message.source,
        backend: message.backend,
        choice: message.adapter,
        error: null,
        forgotten: null,
        adapter: NO_ADAPTER,
        asked_by: null,
        stored: state.stored && { ...state.stored, freed: null, error: null },
        model: {
          phase: "loading",
          name: sourceName(state, message.source),
          stage: "header",
          loaded_bytes: 0,
          total_bytes: 0,
          waiting: false,
        },
      };
    case "load_progress": {
      if (message.load_id !== state.load_id || state.model.phase !== "loading") return state;
      const { name, stage, loaded_bytes, total_bytes } = message;
      return { ...state, model: { phase: "loading", name, stage, loaded_bytes, total_bytes, waiting: false } };
    }
    case "load_waiting":
      if (message.load_id !== state.load_id || state.model.phase !== "loading") return state;
      return { ...state, model: { ...state.model, waiting: true } };
    case "loaded": {
      if (message.load_id !== state.load_id) return state;
      const { info, origin, other_tab, profile } = message;
      return { ...state, model: { phase: "ready", info, origin, other_tab, profile }, adapter: { ...NO_ADAPTER, applied: info.adapter } };
    }
    case "load_failed": {
      if (message.load_id !== state.load_id) return state;
      const next: State = { ...state, model: { phase: "none" }, queued: false };
      return message.error.code === "cancelled" ? next : failed(next, message.place, message.error);
    }

    case "adapter_requested": {
      const { adapter_id, adapter: asked } = message;
      return { ...state, error: null, adapter: { ...state.adapter, adapter_id, changing: choiceName(state, asked), asked, fetched: null } };
    }
    case "adapter_set":
      if (message.adapter_id !== state.adapter.adapter_id) return state;
      return {
        ...state,
        choice: state.adapter.asked ?? state.choice,
        adapter: { ...state.adapter, applied: message.adapter, changing: null, asked: null, fetched: null },
      };
    case "adapter_progress": {
      if (message.adapter_id !== state.adapter.adapter_id) return state;
      const { loaded_bytes, total_bytes } = message;
      return { ...state, adapter: { ...state.adapter, fetched: { loaded_bytes, total_bytes } } };
    }
    case "adapter_failed":
      if (message.adapter_id !== state.adapter.adapter_id) return state;
      return failed({ ...state, adapter: { ...state.adapter, changing: null, asked: null, fetched: null } }, "adapter", message.error);

    case "judge_requested": {
      const { rubrics, checklist, response } = message.request;
      const rows = rubrics.map((rubric) => ({ rubric, verdict: null }));
      return {
        ...state,
        error: null,
        queued: false,
        run: {
          run_id: message.run_id,
          phase: "running",
          cancelling: false,
          rows: rows.filter((row) => row.rubric.id !== state.overall?.id),
          overall: rows.find((row) => row.rubric.id === state.overall?.id) ?? null,
          items: (checklist?.items ?? []).map((item) => ({ item, verdict: null })),
          response,
          done_tokens: 0,
          total_tokens: 0,
          writing: null,
          truncations: [],
          record: null,
        },
      };
    }
    case "profile_chosen":
      return { ...state, asked_by: message.profile };
    case "cancel_requested":
      return state.run?.phase === "running" ? { ...state, run: { ...state.run, cancelling: true } } : state;
    case "judge_event": {
      const run = current(state, message.run_id);
      if (!run) return state;
      const { event } = message;
      switch (event.kind) {
        case "planned":
          return { ...state, run: { ...run, truncations: event.truncations } };
        case "progress":
          return { ...state, run: { ...run, done_tokens: event.done_tokens, total_tokens: event.total_tokens } };
        case "writing": {
          // Rubrics are asked one after the other, so that the one in question is the first without a verdict.
          const rubric = unanswered(run);
          if (!rubric) return state;
          const before = run.writing?.rubric_id === rubric.id ? run.writing.text : "";
          return { ...state, run: { ...run, writing: { rubric_id: rubric.id, text: before + event.piece } } };
        }
        case "verdict":
          return { ...state, run: { ...withVerdicts(run, [event.verdict], []), writing: null } };
        case "item":
          return { ...state, run: withVerdicts(run, [], [event.verdict]) };
      }
      return state;
    }
    case "judged": {
      const run = current(state, message.run_id);
      if (!run) return state;
      const { record } = message;
      return {
        ...state,
        run: {
          ...withVerdicts(run, record.verdicts, record.checklist?.items ?? []),
          phase: record.cancelled ? "cancelled" : "done",
          cancelling: false,
          writing: null,
          truncations: record.truncations,
          record,
        },
      };
    }
    case "judge_failed": {
      const run = current(state, message.run_id);
      if (!run) return state;
      if (message.error.code === "cancelled") return { ...state, run: { ...run, phase: "cancelled", cancelling: false } };
      return failed({ ...state, run: { ...run, phase: "failed", cancelling: false } }, "judge", message.error);
    }

    case "queue_changed":
      return { ...state, queued: message.queued };
    case "error_dismissed":
      return { ...state, error: null };
    case "stall_changed":
      return { ...state, stalled: message.stalled };
    case "worker_died":
      return failed(
        {
          ...state, model: { phase: "none" }, adapter: NO_ADAPTER, queued: false, stalled: false,
          run: interrupted(state.run),
        },
        "engine",
        { code: "worker_died", message: message.message },
      );
    case "worker_restarted":
      return {
        ...state,
        model: { phase: "starting" },
        adapter: NO_ADAPTER,
        error: null,
        stalled: false,
        run: interrupted(state.run),
        worker_requests: { own: 0, other: 0, refused: 0 },
      };
    case "models_forgotten":
      return { ...state, forgotten: message.bytes, model: { phase: "none" }, adapter: NO_ADAPTER, queued: false };
    case "unloaded":
      return { ...state, model: { phase: "none" }, adapter: NO_ADAPTER, queued: false };
    case "stored": {
      const { files, freed, error } = message;
      // A mere look at the list does not take away what was said of the last deletion.
      const said = freed === null && error === null ? state.stored : message;
      return { ...state, stored: { files, freed: said?.freed ?? null, error: said?.error ?? null } };
    }
    case "requests":
      return { ...state, worker_requests: { own: message.own, other: message.other, refused: message.refused } };
    case "answered":
    case "call_progress":
    case "call_failed":
    case "pong":
      return state;
  }
}

/** All of the state that stands still while a judgement goes on; of the run only whether it is running. */
export type Still = Omit<State, "run"> & { running: boolean };

/** The same value as before where nothing of it has changed, so that who reads it is not drawn anew. */
export function stillOf({ run, ...rest }: State, before: Still | null): Still {
  const still: Still = { ...rest, running: run?.phase === "running" };
  return before !== null && (Object.keys(still) as (keyof Still)[]).every((key) => still[key] === before[key]) ? before : still;
}

/** Files chosen together are the parts of one model, whose names sort in their order; null for no file at all. */
export function ownFiles(files: Iterable<File>): ModelSource | null {
  const [first, ...others] = [...files].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return first === undefined ? null : { kind: "file", files: [first, ...others] };
}

/** What the server offers that a source means. */
export function presetOf({ presets }: Pick<State, "presets">, source: ModelSource): Preset | undefined {
  if (source.kind === "file") return undefined;
  if (source.kind === "stored") return presets.find((one) => one.sha256 === source.sha256);
  return source.name === null ? (presets.find((one) => one.default) ?? presets[0]) : presets.find((one) => one.name === source.name);
}

/** The adapters that are offered for the model that is loaded or being loaded. */
export function offeredAdapters(state: Pick<State, "presets" | "source">): Offered[] {
  return presetOf(state, state.source)?.adapters ?? [];
}

/** Which of the offered adapters is applied, if one of them is: by hash, since a file of one's own may have any name. */
export function appliedOffer(state: Pick<State, "presets" | "source" | "adapter">): Offered | undefined {
  const { applied } = state.adapter;
  return applied === null ? undefined : offeredAdapters(state).find(({ name, sha256 }) => applied.name === name && applied.sha256 === sha256);
}

/** What an adapter that was asked for is called; "" for none. */
function choiceName(state: State, choice: AdapterChoice): string {
  if (choice.kind === "none") return "";
  if (choice.kind === "file") return choice.file.name;
  const adapters = offeredAdapters(state);
  return (adapters.find((one) => one.name === choice.name) ?? adapters.find((one) => one.default))?.title ?? "";
}

export function sourceName({ stored }: Pick<State, "stored">, source: ModelSource): string {
  if (source.kind === "file") return source.files[0].name;
  if (source.kind === "preset") return source.name ?? "";
  const file = stored?.files.find(({ sha256 }) => sha256 === source.sha256);
  return file?.title || file?.name || "";
}

function failed(state: State, place: ErrorPlace, failure: Failure): State {
  return { ...state, queued: false, error: { place, failure } };
}

function current(state: State, run_id: number): Run | null {
  return state.run?.run_id === run_id && state.run.phase === "running" ? state.run : null;
}

/** The rubric whose verdict comes next, if it is not an item's turn. */
function unanswered({ rows, overall }: Run): Rubric | null {
  return [...rows, ...(overall ? [overall] : [])].find(({ verdict }) => verdict === null)?.rubric ?? null;
}

/** A run whose worker is gone keeps the scores that had arrived. */
function interrupted(run: Run | null): Run | null {
  return run?.phase === "running" ? { ...run, phase: "failed", cancelling: false } : run;
}

/**
 * Puts verdicts where they belong, by the id of their rubric or item and never by position: the record of a cancelled
 * run may hold fewer, and it is authoritative over the events, of which one may have been missed (P19).
 */
function withVerdicts(run: Run, verdicts: RubricVerdict[], items: ItemVerdict[]): Run {
  const byRubric = new Map(verdicts.map((verdict) => [verdict.rubric_id, verdict]));
  const byItem = new Map(items.map((verdict) => [verdict.item_id, verdict]));
  const filled = (row: Row): Row => {
    const verdict = byRubric.get(row.rubric.id);
    return verdict ? { ...row, verdict } : row;
  };
  return {
    ...run,
    rows: run.rows.map(filled),
    overall: run.overall && filled(run.overall),
    items: run.items.map((row) => {
      const verdict = byItem.get(row.item.id);
      return verdict ? { ...row, verdict } : row;
    }),
  };
}
