/**
 * Every message between the page and the worker that owns the model.
 *
 * Texts and files cross here and go no further. A `File` is passed as a handle: its bytes are read in the
 * worker and are never copied through a message (P36).
 */
import type {
  AdapterInfo, Agreement, AnnotateRequest, Annotated, AnnotationRecord, BackendChoice, Checklist, ChecklistReading, ChecklistRequest, CompareRecord,
  CompareRequest, EngineInfo, FitRequest, JudgeEvent, JudgeRecord, JudgeRequest, Readout, Rubric, StateRecord, StateRequest, Table, Vocabulary,
  RewardRecord, RewardRequest, WriteItemsRequest, WrittenItems,
} from "../types";
import type { Profile } from "./names";

/** One file that the page's own server offers, a model or an adapter. */
export interface Offered {
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
  /** Whether it is used where nobody chose. */
  default: boolean;
}

/** What must be known of a file before it is fetched. */
export type Wanted = Pick<Offered, "name" | "title" | "bytes" | "sha256" | "licence">;

/** One model (an entry of `models/registry.json`), and the adapters that were made for it. */
export interface Preset extends Offered {
  adapters: Offered[];
}

/**
 * Which adapter the model gets: the offered one of that name (null, or a name that the model has no adapter of: its default
 * one, if it has one), none, or a file of the person's own. A model of the person's own has no offered adapters.
 */
export type AdapterChoice = { kind: "preset"; name: string | null } | { kind: "none" } | { kind: "file"; file: File };

/**
 * What to load: the preset of that name (null: the default one), a file that this browser has stored, by its SHA-256, or a model
 * of the person's own, in one file or several.
 */
export type ModelSource =
  | { kind: "preset"; name: string | null }
  | { kind: "stored"; sha256: string }
  | { kind: "file"; files: readonly [File, ...File[]] };

/** A file in this browser's storage. */
export interface StoredFile {
  sha256: string;
  /** How many bytes are there. */
  bytes: number;
  /** False for a download that was interrupted; it goes on from here when it is started again. */
  finished: boolean;
  /** "" where an earlier version stored it and left no word. */
  name: string;
  title: string;
  source: string;
  licence: string;
  /** Milliseconds since 1970, or null where it is not known. */
  at: number | null;
  kind: "model" | "adapter" | null;
  profile: Profile | null;
}

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

/** Bytes done of a step of loading. `adapter`: getting the adapter, which comes first. `hashing`: reading what an interrupted download left. */
export type LoadStage = "adapter" | "download" | "hashing" | "header" | "weights" | "check";

/** What the page asks the engine besides loading and judging: what it gives, and what it gets. */
export interface Calls {
  read_rubrics: { give: { text: string; name: string }; get: Rubric[] };
  /** Fails for rubrics that `read_rubrics` would refuse. */
  write_rubrics: { give: { rubrics: Rubric[]; format: "toml" | "json" }; get: string };
  annotate: { give: { instruction: string }; get: Annotated };
  generate_checklist: { give: ChecklistRequest; get: Checklist };
  read_checklist: { give: { text: string; name: string }; get: ChecklistReading };
  write_checklist: { give: { checklist: Checklist; format: "toml" | "json" }; get: string };
  /** The bytes are a file's; nothing else knows the page's files. */
  read_table: { give: { bytes: Uint8Array; name: string }; get: Table };
  write_table: { give: { table: Table; container: Table["container"] }; get: string };
  /** How two columns agree, with bootstrap intervals: by group, where groups are given. */
  agreement: { give: { first: (number | null)[]; second: (number | null)[]; groups: string[] | null; seed: number }; get: Agreement };
  fit_readout: { give: FitRequest; get: Readout };
  /** Null where the readout needs the model’s own score and there is none. */
  apply_readout: { give: { readout: Readout; state: Float32Array; own: number | null }; get: number | null };
  /** The loaded model compares responses in both orders; it takes a while and can be cancelled. */
  compare: { give: CompareRequest; get: CompareRecord };
  /** What the loaded model's own head says of responses; it takes a while and can be cancelled. */
  reward: { give: RewardRequest; get: RewardRecord };
  /** The loaded model reads the texts of a request that may be asked soon, so that its scores come sooner; it can be cancelled. */
  read_ahead: { give: JudgeRequest; get: void };
  /** What the loaded model has inside of one response. */
  states: { give: StateRequest; get: StateRecord };
  /** The loaded model annotates; it takes a while and can be cancelled. */
  ask_annotation: { give: AnnotateRequest; get: AnnotationRecord };
  /** The loaded model writes items; it takes a while and can be cancelled. */
  ask_items: { give: WriteItemsRequest; get: WrittenItems };
}

export type CallName = keyof Calls;

/** One call, of whichever kind. */
export type Call = { [Name in CallName]: { name: Name; give: Calls[Name]["give"] } }[CallName];

/** The calls that need the loaded model. */
export type ModelCall = Extract<Call, { name: "ask_annotation" | "ask_items" | "compare" | "read_ahead" | "reward" | "states" }>;

export function isModelCall(call: Call): call is ModelCall {
  return ["ask_annotation", "ask_items", "compare", "read_ahead", "reward", "states"].includes(call.name);
}

export type ToWorker =
  | { type: "start"; registry_url: string }
  | { type: "load"; load_id: number; source: ModelSource; backend: BackendChoice; adapter: AdapterChoice; tuning?: string | undefined }
  | { type: "cancel_load" }
  /** Changes the adapter of the loaded model. */
  | { type: "set_adapter"; adapter_id: number; adapter: AdapterChoice }
  | { type: "judge"; run_id: number; request: JudgeRequest }
  | { type: "cancel_judge"; run_id: number }
  | { type: "call"; call_id: number; call: Call }
  | { type: "cancel_call"; call_id: number }
  | { type: "forget_models" }
  /** Answered by `stored`. */
  | { type: "list_stored" }
  /** Deletes one stored file; where it is the loaded model, that is unloaded first. Answered by `stored`. */
  | { type: "delete_stored"; sha256: string }
  | { type: "ping" };

export type FromWorker =
  | { type: "ready"; version: string; rubrics: Rubric[]; overall: Rubric; vocabulary: Vocabulary }
  | { type: "start_failed"; error: Failure }
  | { type: "presets"; presets: Preset[] }
  | { type: "load_progress"; load_id: number; name: string; stage: LoadStage; loaded_bytes: number; total_bytes: number }
  /** Another tab holds the lock on this download; it is waited for. */
  | { type: "load_waiting"; load_id: number }
  /** `profile`: what was stored with the file. */
  | { type: "loaded"; load_id: number; info: EngineInfo; origin: Origin; other_tab: boolean; profile: Profile | null }
  /** `place`: whether it was the model or its adapter that could not be had. */
  | { type: "load_failed"; load_id: number; place: "model" | "adapter"; error: Failure }
  | { type: "adapter_set"; adapter_id: number; adapter: AdapterInfo | null }
  | { type: "adapter_failed"; adapter_id: number; error: Failure }
  /** An offered adapter is being fetched. */
  | { type: "adapter_progress"; adapter_id: number; loaded_bytes: number; total_bytes: number }
  | { type: "judge_event"; run_id: number; event: JudgeEvent }
  | { type: "judged"; run_id: number; record: JudgeRecord }
  | { type: "judge_failed"; run_id: number; error: Failure }
  /** `get` is what the call named; see `Calls`. */
  | { type: "answered"; call_id: number; get: Calls[CallName]["get"] }
  | { type: "call_progress"; call_id: number; done: number; total: number }
  | { type: "call_failed"; call_id: number; error: Failure }
  /** The model was unloaded, and so many bytes were deleted. */
  | { type: "models_forgotten"; bytes: number }
  /** The loaded model was unloaded without another one being asked for. */
  | { type: "unloaded" }
  /** What is stored. `freed`: bytes that were just deleted, or null; `error`: why they could not be. */
  | { type: "stored"; files: StoredFile[]; freed: number | null; error: Failure | null }
  /** Requests that the worker itself has made since it started. */
  | { type: "requests"; own: number; other: number; refused: number }
  | { type: "pong" };
