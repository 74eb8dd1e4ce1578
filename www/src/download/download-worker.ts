/// <reference lib="webworker" />
/** Fetches model files and stores them, one at a time. It runs no model: of the engine it uses the incremental SHA-256 alone. */
import init, { Sha256 } from "retort-engine";
import { hasRelaxedSimd } from "retort-engine/variant";
import wasmUrl from "retort-engine/wasm";
import relaxedUrl from "retort-engine/wasm-relaxed";
import { toFailure } from "../worker/failure";
import type { Failure } from "../worker/protocol";
import { deleteStored, listStored, openPreset } from "../worker/store";
import type { FromDownloader, ToDownloader } from "./protocol";

declare const self: DedicatedWorkerGlobalScope;

const PROGRESS_EVERY_MS = 100;

const post = (message: FromDownloader) => self.postMessage(message);

let running: { sha256: string; abort: AbortController; done: Promise<void> } | null = null;

const started = (async () => {
  try {
    // The files that the judging page has fetched already, so that this page costs no further ones.
    await init({ module_or_path: new URL(hasRelaxedSimd() ? relaxedUrl : wasmUrl, import.meta.url) });
    post({ type: "ready" });
    return true;
  } catch (thrown) {
    post({ type: "start_failed", error: toFailure(thrown) });
    return false;
  }
})();

self.addEventListener("message", (event: MessageEvent<ToDownloader>) => {
  const message = event.data;
  switch (message.type) {
    case "download":
      void download(message);
      break;
    case "pause":
      running?.abort.abort();
      break;
    case "delete":
      void remove(message.sha256);
      break;
    case "list":
      void tell(null);
      break;
  }
});

async function download({ url, source, wanted, profile }: Extract<ToDownloader, { type: "download" }>): Promise<void> {
  if (!(await started) || running) return;
  const abort = new AbortController();
  const done = (async () => {
    let last = 0;
    let lastStage = "";
    try {
      const { source: opened, origin } = await openPreset({
        url, source, profile,
        preset: wanted,
        kind: "model",
        in_memory: false,
        signal: abort.signal,
        new_hash: () => new Sha256(),
        on_progress: (stage, loaded_bytes, total_bytes) => {
          const now = performance.now();
          if (stage === lastStage && loaded_bytes < total_bytes && now - last < PROGRESS_EVERY_MS) return;
          last = now;
          lastStage = stage;
          post({ type: "progress", stage, loaded_bytes, total_bytes });
        },
        on_waiting: () => post({ type: "waiting" }),
      });
      opened.close();
      post({ type: "done", cached: origin === "cached" });
    } catch (thrown) {
      if (abort.signal.aborted) post({ type: "paused" });
      else post({ type: "failed", error: toFailure(thrown) });
    }
  })();
  running = { sha256: wanted.sha256, abort, done };
  await done;
  running = null;
  await tell(null);
}

async function remove(sha256: string): Promise<void> {
  if (running?.sha256 === sha256) {
    running.abort.abort();
    await running.done;
  }
  try {
    await deleteStored(sha256);
    await tell(null);
  } catch (thrown) {
    await tell(toFailure(thrown));
  }
}

async function tell(error: Failure | null): Promise<void> {
  post({ type: "stored", files: await listStored().catch(() => []), error });
}
