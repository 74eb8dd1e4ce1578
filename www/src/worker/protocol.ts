/**
 * Every message between the page and the worker that owns the model.
 *
 * Texts and files cross here and go no further. A `File` is passed as a handle: its bytes are read in the
 * worker and are never copied through a message (P36).
 */
import type { AdapterInfo, BackendChoice, EngineInfo, JudgeEvent, JudgeRecord, JudgeRequest, Rubric } from "../types";

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

export type ToWorker =
  | { type: "start"; registry_url: string }
  | { type: "load"; load_id: number; source: ModelSource; backend: BackendChoice; tuning?: string | undefined }
  | { type: "cancel_load" }
  /** Applies an adapter to the loaded model; null takes it away. */
  | { type: "set_adapter"; adapter_id: number; file: File | null }
  | { type: "judge"; run_id: number; request: JudgeRequest }
  | { type: "cancel_judge"; run_id: number }
  | { type: "read_rubrics"; read_id: number; text: string; name: string }
  | { type: "forget_models" }
  | { type: "ping" };

export type FromWorker =
  | { type: "ready"; version: string; rubrics: Rubric[] }
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
  | { type: "rubrics_read"; read_id: number; rubrics: Rubric[] }
  | { type: "rubrics_failed"; read_id: number; error: Failure }
  /** The model was unloaded, and so many bytes were deleted. */
  | { type: "models_forgotten"; bytes: number }
  /** Requests that the worker itself has made since it started. */
  | { type: "requests"; own: number; other: number; refused: number }
  | { type: "pong" };
