/** What the download page knows of its worker, as one value, and the pure function that moves it on. */
import { models as words } from "../text/models";
import type { Profile } from "../worker/names";
import type { Failure, LoadStage, StoredFile, Wanted } from "../worker/protocol";
import type { FromDownloader } from "./protocol";

export interface Job {
  url: string;
  source: string;
  wanted: Wanted;
  profile: Profile;
}

export interface Current extends Job {
  phase: "running" | "paused" | "done" | "failed";
  stage: LoadStage | "starting" | "waiting";
  loaded_bytes: number;
  /** Where the line began this time, and when, for an estimate of what is left. */
  from: { bytes: number; at: number } | null;
  cached: boolean;
  failure: Failure | null;
}

export interface DownloadState {
  current: Current | null;
  stored: StoredFile[] | null;
  problem: Failure | null;
}

export const IDLE: DownloadState = { current: null, stored: null, problem: null };

/** The next state; `at`: the time now, in milliseconds. */
export function follow(state: DownloadState, message: FromDownloader, at: number): DownloadState {
  const { current } = state;
  const moved = (change: Partial<Current>): DownloadState => ({ ...state, current: current && { ...current, ...change } });
  switch (message.type) {
    case "ready":
      return state;
    case "start_failed":
      return { ...state, problem: { ...message.error, message: words.download.noWorker } };
    case "progress": {
      const { stage, loaded_bytes } = message;
      const from = stage !== "download" ? null : (current?.from ?? { bytes: loaded_bytes, at });
      return moved({ stage, loaded_bytes, from });
    }
    case "waiting":
      return moved({ stage: "waiting" });
    case "done":
      return moved({ phase: "done", cached: message.cached, loaded_bytes: current?.wanted.bytes ?? 0 });
    case "paused":
      return current?.phase === "running" ? moved({ phase: "paused", from: null }) : state;
    case "failed":
      return moved({ phase: "failed", failure: message.error, from: null });
    case "stored":
      return { ...state, stored: message.files, problem: message.error };
  }
}

/** Milliseconds that are left at the pace so far, or null where nothing can be said yet. */
export function timeLeft({ wanted, loaded_bytes, from }: Current, at: number): number | null {
  if (!from || at - from.at < 2000 || loaded_bytes <= from.bytes) return null;
  return ((wanted.bytes - loaded_bytes) * (at - from.at)) / (loaded_bytes - from.bytes);
}
