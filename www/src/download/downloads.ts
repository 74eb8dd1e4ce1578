/** The page's side of the worker that stores: what runs, and what is stored. */
import { signal, type Signal } from "@preact/signals";
import { models as words } from "../text/models";
import { startWorker } from "../worker/start";
import workerUrl from "./download-worker.ts?worker&url";
import { IDLE, follow, type DownloadState, type Job } from "./follow";
import type { FromDownloader, ToDownloader } from "./protocol";

export class Downloads {
  readonly state: Signal<DownloadState> = signal(IDLE);
  readonly #worker: Worker;

  constructor() {
    this.#worker = startWorker(workerUrl, "retort-download");
    this.#worker.addEventListener("message", (event: MessageEvent<FromDownloader>) => {
      this.state.value = follow(this.state.value, event.data, performance.now());
    });
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.state.value = { ...this.state.value, problem: { code: "worker_died", message: words.download.noWorker } };
    });
    this.#send({ type: "list" });
  }

  start(job: Job): void {
    if (this.state.value.current?.phase === "running") return;
    // A browser that asks does so now, in answer to a press; one that refuses may clear the file later, no more.
    void navigator.storage?.persist?.().catch(() => false);
    this.state.value = {
      ...this.state.value, problem: null,
      current: { ...job, phase: "running", stage: "starting", loaded_bytes: 0, from: null, cached: false, failure: null },
    };
    this.#send({ type: "download", ...job });
  }

  pause(): void {
    this.#send({ type: "pause" });
  }

  /** Ends the download and deletes what has arrived. */
  cancel(): void {
    const { current } = this.state.value;
    if (!current) return;
    this.state.value = { ...this.state.value, current: null };
    this.#send({ type: "delete", sha256: current.wanted.sha256 });
  }

  delete(sha256: string): void {
    this.#send({ type: "delete", sha256 });
  }

  list(): void {
    this.#send({ type: "list" });
  }

  dismiss(): void {
    this.state.value = { ...this.state.value, current: null };
  }

  #send(message: ToDownloader): void {
    this.#worker.postMessage(message);
  }
}
