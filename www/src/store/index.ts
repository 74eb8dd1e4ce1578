/**
 * Everything that the page keeps in IndexedDB: one database, one schema, one version, one way up from older ones.
 *
 * Storage may be denied (a private window, a policy), full, or held by a newer page in another tab. Whoever asks gets a
 * `StoreError` that says which, and goes on without.
 */
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import type { Kept } from "../history";
import type { BatchChunk, BatchHead, BatchResult } from "../screens/batch/types";

/** What a list shows of something that is kept, so that nobody reads all the texts for it. */
export interface KeptHead {
  id: string;
  at: number;
  kind: Kept["kind"];
  /** The beginning of the prompt. */
  title: string;
  /** The model's name, with its adapter's where there is one. */
  model: string;
  /** Names of the rubrics that were asked. */
  skills: string[];
  /** Mean of what was scored, each on 0 to 1; null where nothing was. */
  mean: number | null;
  /** About as much as it takes in the store. */
  bytes: number;
}

/** A named JSON thing, such as a rubric with its versions or a fitted readout. */
export interface Named {
  id: string;
}

interface Schema extends DBSchema {
  kept: { key: string; value: Kept };
  heads: { key: string; value: KeptHead };
  batches: { key: string; value: BatchHead };
  /** The rows of a batch's file, some hundreds to a piece. */
  batch_chunks: { key: [string, number]; value: BatchChunk };
  batch_results: { key: [string, number]; value: BatchResult };
  rubrics: { key: string; value: Named };
  readouts: { key: string; value: Named };
}

export type Database = IDBPDatabase<Schema>;

const NAME = "retort";

/** One step per version: what is here is never changed, only added to. */
const STEPS: ((db: Database) => void)[] = [
  (db) => {
    db.createObjectStore("kept", { keyPath: "id" });
    db.createObjectStore("heads", { keyPath: "id" });
    db.createObjectStore("batches", { keyPath: "id" });
    db.createObjectStore("batch_chunks", { keyPath: ["batch", "chunk"] });
    db.createObjectStore("batch_results", { keyPath: ["batch", "index"] });
    db.createObjectStore("rubrics", { keyPath: "id" });
    db.createObjectStore("readouts", { keyPath: "id" });
  },
];

/** `denied`: there is no storage here. `full`: the browser gives no more room. `newer`: another tab has a newer page. */
export type StoreTrouble = "denied" | "full" | "newer" | "failed";

export class StoreError extends Error {
  constructor(readonly trouble: StoreTrouble, message: string) {
    super(message);
    this.name = "StoreError";
  }
}

/** What a failure of the browser's means for whoever wanted to store something. */
export function troubleOf(thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const { name, message } = thrown instanceof Error || thrown instanceof DOMException ? thrown : { name: "", message: String(thrown) };
  const said = message === "" ? name : message;
  switch (name) {
    case "QuotaExceededError":
      return new StoreError("full", said);
    case "VersionError":
      return new StoreError("newer", said);
    case "SecurityError":
    case "InvalidStateError":
    case "NotAllowedError":
    case "UnknownError":
      return new StoreError("denied", said);
    default:
      return new StoreError("failed", said);
  }
}

let opened: Promise<Database> | null = null;

/** The database, opened once. Rejects with a `StoreError`; the next call tries again. */
export function openStore(): Promise<Database> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Database> {
  const forget = () => (opened = null);
  try {
    if (typeof indexedDB === "undefined") throw new StoreError("denied", "indexedDB");
    return await openDB<Schema>(NAME, STEPS.length, {
      upgrade: (db, from) => {
        for (const step of STEPS.slice(from)) step(db);
      },
      // A newer page in another tab waits for this one to let go.
      blocking: (_current, _blocked, event) => {
        (event.target as IDBDatabase).close();
        forget();
      },
      terminated: forget,
    });
  } catch (thrown) {
    forget();
    throw troubleOf(thrown);
  }
}

/** Does something with the database; whatever goes wrong comes out as a `StoreError`. */
export async function using<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const db = await openStore();
  try {
    return await work(db);
  } catch (thrown) {
    throw troubleOf(thrown);
  }
}

/** The stores of named things that screens keep by themselves. */
export type NamedStore = "rubrics" | "readouts";

/** Everything of a store, by key. What it holds was put there by `put`; its shape is the caller's. */
export function all<T extends Named>(store: NamedStore): Promise<T[]> {
  return using((db) => db.getAll(store) as Promise<T[]>);
}

export function get<T extends Named>(store: NamedStore, id: string): Promise<T | null> {
  return using(async (db) => ((await db.get(store, id)) as T | undefined) ?? null);
}

/** Puts a thing in the place of the one with the same id. It must be what JSON can hold. */
export async function put<T extends Named>(store: NamedStore, value: T): Promise<void> {
  await using((db) => db.put(store, value));
  tell(store);
}

export async function remove(store: NamedStore, id: string): Promise<void> {
  await using((db) => db.delete(store, id));
  tell(store);
}

/** What can change under a screen that shows it. */
export type Topic = NamedStore | "history" | "batches";

const listeners = new Set<(topic: Topic) => void>();

/** Other tabs hear of it too; where they cannot, they see it when they look again. */
const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("retort.store");
channel?.addEventListener("message", (event: MessageEvent<Topic>) => hear(event.data));
// In Node, which runs the unit tests, an open channel would keep the process alive.
(channel as { unref?: () => void } | null)?.unref?.();

function hear(topic: Topic): void {
  for (const listener of listeners) listener(topic);
}

/** Says here and in other tabs that something has changed. */
export function tell(topic: Topic): void {
  hear(topic);
  channel?.postMessage(topic);
}

/** Calls when something of the kind has changed, in this tab or another one. Gives what ends it. */
export function watch(topic: Topic, listener: () => void): () => void {
  const heard = (told: Topic) => {
    if (told === topic) listener();
  };
  listeners.add(heard);
  return () => void listeners.delete(heard);
}
