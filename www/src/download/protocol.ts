/** The messages between the download page and the worker that stores. */
import type { Profile } from "../worker/names";
import type { Failure, LoadStage, StoredFile, Wanted } from "../worker/protocol";

export type ToDownloader =
  | { type: "download"; url: string; source: string; wanted: Wanted; profile: Profile }
  /** What has arrived stays. */
  | { type: "pause" }
  /** Ends a download of that file, if there is one, and deletes what there is of it. */
  | { type: "delete"; sha256: string }
  | { type: "list" };

export type FromDownloader =
  | { type: "ready" }
  | { type: "start_failed"; error: Failure }
  | { type: "progress"; stage: LoadStage; loaded_bytes: number; total_bytes: number }
  | { type: "waiting" }
  | { type: "done"; cached: boolean }
  | { type: "paused" }
  | { type: "failed"; error: Failure }
  | { type: "stored"; files: StoredFile[]; error: Failure | null };
