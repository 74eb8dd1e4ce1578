/**
 * Every message between the page and the worker that owns the model.
 *
 * Texts and files cross here and go no further. A `File` is passed as a handle: its bytes are read in the
 * worker and are never copied through a message (P36).
 */
import type {
  AdapterInfo, AnnotateRequest, Annotated, AnnotationRecord, BackendChoice, Checklist, ChecklistReading, ChecklistRequest, EngineInfo, JudgeEvent, JudgeRecord,
  JudgeRequest, Rubric, Vocabulary, WriteItemsRequest, WrittenItems,
} from "../types";

/** One model that the page's own server offers (an entry of `models/registry.json`). */
export interface Preset {
  /** What it is known by, also in records. */
  name: string;
  /** What people read. */
  title: string;
  file: string;
  /** Relative to the registry file; always on the page's own origin. */
  url: string;
  bytes: number;
  /** Lower-case hex. */
  sha256: string;
  licence: string;
  description: string;
  default: boolean;
}

/** What to load: the preset of that name (null: the default one), or a model of the person's own, in one file or several. */
export type ModelSource = { kind: "preset"; name: string | null } | { kind: "file"; files: readonly [File, ...File[]] };

/** An error in words: `message` says what happened, the page adds what can be done, chosen by `code`. */
export interface Failure {
  code: string;
  message: string;
}

/**
 * Where the model's bytes came from and whether they will be there next time.
 * - `cached`: read from this browser's storage, nothing was downloaded
 * - `stored`: downloaded, verified and stored
 * - `memory_quota`, `memory_unavailable`: downloaded and verified, but kept only in memory
 * - `local`: a file of the person's own, read in place
 */
export type Origin = "cached" | "stored" | "memory_quota" | "memory_unavailable" | "local";

/** Bytes done of a step of loading. `hashing`: reading what an interrupted download left. */
export type LoadStage = "download" | "hashing" | "header" | "weights" | "check";

/** What the page asks the engine besides loading and judging: what it gives, and what it gets. */
export interface Calls {
  read_rubrics: { give: { text: string; name: string }; get: Rubric[] };
  annotate: { give: { instruction: string }; get: Annotated };
  generate_checklist: { give: ChecklistRequest; get: Checklist };
  read_checklist: { give: { text: string; name: string }; get: ChecklistReading };
  write_checklist: { give: { checklist: Checklist; format: "toml" | "json" }; get: string };
  /** The loaded model annotates; it takes a while and can be cancelled. */
  ask_annotation: { give: AnnotateRequest; get: AnnotationRecord };
  /** The loaded model writes items; it takes a while and can be cancelled. */
  ask_items: { give: WriteItemsRequest; get: WrittenItems };
}

export type CallName = keyof Calls;

/** One call, of whichever kind. */
export type Call = { [Name in CallName]: { name: Name; give: Calls[Name]["give"] } }[CallName];

/** The calls that need the loaded model. */
export type ModelCall = Extract<Call, { name: "ask_annotation" | "ask_items" }>;

export type ToWorker =
  | { type: "start"; registry_url: string }
  | { type: "load"; load_id: number; source: ModelSource; backend: BackendChoice; tuning?: string | undefined }
  | { type: "cancel_load" }
  /** Applies an adapter to the loaded model; null takes it away. */
  | { type: "set_adapter"; adapter_id: number; file: File | null }
  | { type: "judge"; run_id: number; request: JudgeRequest }
  | { type: "cancel_judge"; run_id: number }
  | { type: "call"; call_id: number; call: Call }
  | { type: "cancel_call"; call_id: number }
  | { type: "forget_models" }
  | { type: "ping" };

export type FromWorker =
  | { type: "ready"; version: string; rubrics: Rubric[]; overall: Rubric; vocabulary: Vocabulary }
  | { type: "start_failed"; error: Failure }
  | { type: "presets"; presets: Preset[] }
  | { type: "load_progress"; load_id: number; name: string; stage: LoadStage; loaded_bytes: number; total_bytes: number }
  /** Another tab holds the lock on this download; it is waited for. */
  | { type: "load_waiting"; load_id: number }
  | { type: "loaded"; load_id: number; info: EngineInfo; origin: Origin; other_tab: boolean }
  | { type: "load_failed"; load_id: number; error: Failure }
  | { type: "adapter_set"; adapter_id: number; adapter: AdapterInfo | null }
  | { type: "adapter_failed"; adapter_id: number; error: Failure }
  | { type: "judge_event"; run_id: number; event: JudgeEvent }
  | { type: "judged"; run_id: number; record: JudgeRecord }
  | { type: "judge_failed"; run_id: number; error: Failure }
  /** `get` is what the call named; see `Calls`. */
  | { type: "answered"; call_id: number; get: Calls[CallName]["get"] }
  | { type: "call_progress"; call_id: number; done: number; total: number }
  | { type: "call_failed"; call_id: number; error: Failure }
  /** The model was unloaded, and so many bytes were deleted. */
  | { type: "models_forgotten"; bytes: number }
  /** Requests that the worker itself has made since it started. */
  | { type: "requests"; own: number; other: number; refused: number }
  | { type: "pong" };
