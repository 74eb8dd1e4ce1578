/**
 * Models on their way from a server into this browser's storage, and what lies there.
 *
 * Invariants: the final name exists only after size and SHA-256 were right; a download that was interrupted
 * is continued from what is there; only the tab that holds the model's lock writes (P33, P34, P41).
 */
import { text } from "../text";
import { RetortError, isQuota } from "./failure";
import { FOLDER, cacheNames, markerMatches, partOf, rangeStart, readMarker, type About, type CacheNames, type Marker, type Profile } from "./names";
import type { LoadStage, Origin, StoredFile, Wanted } from "./protocol";
import { BlobSource, HandleSource, type OwnedSource } from "./sources";

export interface Stored {
  source: OwnedSource;
  origin: Origin;
}

/** An incremental hash, as the engine's package exports it. */
export interface Hash {
  update(bytes: Uint8Array): void;
  finish_hex(): string;
}

export interface StoreOptions {
  /** Absolute address. */
  url: string;
  preset: Wanted;
  kind: About["kind"];
  /** How the model wants to be asked, as far as whoever offers it says so. */
  profile?: Profile;
  /** Where it comes from, in words for people; the address where it is absent. */
  source?: string;
  /** Whether a file is kept in memory where it cannot be stored; otherwise that is an error. */
  in_memory: boolean;
  signal: AbortSignal;
  new_hash: () => Hash;
  on_progress: (stage: LoadStage, loaded_bytes: number, total_bytes: number) => void;
  on_waiting: () => void;
}

/** Bytes per step when a stored file is read back or copied. */
const STEP = 4 << 20;
/** A download is made durable this often, so that little is lost when the tab is closed. */
const FLUSH_EVERY = 16 << 20;
/** How often a broken connection is taken up again before the person is asked. */
const ATTEMPTS = 4;

/** Opens an offered file, a model or an adapter: from storage if it is there, else by downloading it. */
export async function openPreset(options: StoreOptions): Promise<Stored> {
  const names = cacheNames(options.preset.sha256);
  const folder = await openFolder();
  // Without the lock nothing may be removed: what looks broken may be what another tab is committing.
  const cached = folder && (await openCommitted(folder, names, options, { mend: false }));
  if (cached) return { source: cached, origin: "cached" };
  return withLock(`retort-download-${options.preset.sha256}`, options, async () => {
    if (!folder) return downloadToMemory(options);
    // Another tab may have finished the download while this one waited.
    const finished = await openCommitted(folder, names, options, { mend: true });
    if (finished) return { source: finished, origin: "cached" };
    return downloadToFolder(folder, names, options);
  });
}

/** Opens a file that lies in storage, whoever put it there. Throws where it is missing or no longer what was verified. */
export async function openStored(
  sha256: string,
  options: Pick<StoreOptions, "new_hash" | "signal" | "on_progress">,
): Promise<{ source: OwnedSource; marker: Marker }> {
  const names = cacheNames(sha256);
  const folder = await openFolder();
  const marker = folder && (await readMarkerOf(folder, names));
  if (!folder || !marker) throw new RetortError("not_stored", text.failure.notStored);
  const source = await openCommitted(folder, names, { ...options, preset: marker }, { mend: false });
  if (!source) throw new RetortError("stored_changed", text.failure.storedChanged(marker.title ?? marker.name ?? sha256.slice(0, 12)));
  return { source, marker };
}

/** What lies in storage, finished or not, newest first. */
export async function listStored(): Promise<StoredFile[]> {
  const folder = await openFolder();
  if (!folder) return [];
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  const found: StoredFile[] = [];
  for (const name of names) {
    const entry = partOf(name);
    if (!entry || entry.part === "marker") continue;
    try {
      const { size } = await (await folder.getFileHandle(name)).getFile();
      const marker = entry.part === "file" ? await readMarkerOf(folder, cacheNames(entry.sha256)) : null;
      found.push({
        sha256: entry.sha256, bytes: size, finished: marker !== null && marker.bytes === size,
        name: marker?.name ?? "", title: marker?.title ?? "", source: marker?.source ?? "", licence: marker?.licence ?? "",
        at: marker?.at ?? null, kind: marker?.kind ?? null, profile: marker?.profile ?? null,
      });
    } catch {
      // Gone meanwhile: another tab deleted or committed it.
    }
  }
  return found.sort((a, b) => (b.at ?? 0) - (a.at ?? 0) || a.sha256.localeCompare(b.sha256));
}

/** Deletes one stored file with all that belongs to it; returns how many bytes that freed. */
export async function deleteStored(sha256: string): Promise<number> {
  const folder = await openFolder();
  if (!folder) return 0;
  const { file, partial, marker } = cacheNames(sha256);
  let freed = 0;
  // The marker last: where the file is in use, it must keep what vouches for it.
  for (const name of [file, partial, marker]) {
    try {
      const size = (await (await folder.getFileHandle(name)).getFile()).size;
      await folder.removeEntry(name);
      freed += size;
    } catch (thrown) {
      if (thrown instanceof DOMException && thrown.name === "NotFoundError") continue;
      throw new RetortError("file_in_use", text.failure.inUse);
    }
  }
  return freed;
}

async function readMarkerOf(folder: FileSystemDirectoryHandle, names: CacheNames): Promise<Marker | null> {
  try {
    return readMarker(await (await (await folder.getFileHandle(names.marker)).getFile()).text());
  } catch {
    return null;
  }
}

/** Deletes the stored file of this hash, whose content turned out to be another. */
export async function discard(sha256: string): Promise<void> {
  const folder = await openFolder();
  const { file, marker } = cacheNames(sha256);
  for (const name of folder ? [marker, file] : []) await remove(folder!, name);
}

/** Deletes every stored model; returns how many bytes that freed. Files that another tab reads are left. */
export async function forgetModels(): Promise<number> {
  const folder = await openFolder();
  if (!folder) return 0;
  let freed = 0;
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  // A marker without its file vouches for nothing, so it may go first or last; a file without its marker is as
  // good as lost. Files that are in use therefore keep theirs.
  const kept = new Set<string>();
  const stem = (name: string) => name.split(".")[0]!;
  for (const name of names.sort((a, b) => Number(a.endsWith(".json")) - Number(b.endsWith(".json")))) {
    if (kept.has(stem(name))) continue;
    try {
      const size = (await (await folder.getFileHandle(name)).getFile()).size;
      await folder.removeEntry(name);
      freed += size;
    } catch {
      // In use by another tab.
      kept.add(stem(name));
    }
  }
  return freed;
}

/** The model folder, or null where the browser offers no private file system (private window, old browser). */
async function openFolder(): Promise<FileSystemDirectoryHandle | null> {
  try {
    if (typeof FileSystemFileHandle === "undefined" || !("createSyncAccessHandle" in FileSystemFileHandle.prototype)) {
      return null;
    }
    const root = await navigator.storage.getDirectory();
    return await root.getDirectoryHandle(FOLDER, { create: true });
  } catch {
    return null;
  }
}

async function withLock<T>(name: string, options: StoreOptions, work: () => Promise<T>): Promise<T> {
  if (!navigator.locks) return work();
  const NOT_FREE = Symbol();
  const first = await navigator.locks.request(name, { ifAvailable: true }, (lock) => (lock ? work() : NOT_FREE));
  if (first !== NOT_FREE) return first as T;
  options.on_waiting();
  return (await navigator.locks.request(name, { signal: options.signal }, work)) as T;
}

/**
 * The committed file, if it is there, has the right size and was verified; `mend`: anything else is removed. A file that was
 * written to since it was verified is verified again.
 */
async function openCommitted(
  folder: FileSystemDirectoryHandle,
  names: CacheNames,
  options: Pick<StoreOptions, "new_hash" | "signal" | "on_progress"> & { preset: Pick<Wanted, "bytes" | "sha256"> },
  { mend }: { mend: boolean },
): Promise<OwnedSource | null> {
  const { preset } = options;
  let handle: FileSystemFileHandle;
  let file: File;
  let text: string;
  try {
    handle = await folder.getFileHandle(names.file);
    file = await handle.getFile();
    text = await (await (await folder.getFileHandle(names.marker)).getFile()).text();
  } catch {
    return null;
  }
  const modified = readMarker(text)?.modified;
  const good =
    file.size === preset.bytes &&
    markerMatches(text, preset.bytes, preset.sha256) &&
    (modified === undefined || modified === file.lastModified || hashOf(file, options) === preset.sha256);
  if (!good) {
    if (mend) {
      await remove(folder, names.marker);
      await remove(folder, names.file);
    }
    return null;
  }
  return openForReading(handle, file);
}

function hashOf(file: File, { new_hash, signal, on_progress }: Pick<StoreOptions, "new_hash" | "signal" | "on_progress">): string {
  const source = new BlobSource(file);
  const hash = new_hash();
  const piece = new Uint8Array(STEP);
  for (let at = 0; at < file.size; at += STEP) {
    signal.throwIfAborted();
    const part = piece.subarray(0, Math.min(STEP, file.size - at));
    source.read(at, part);
    hash.update(part);
    on_progress("hashing", at + part.byteLength, file.size);
  }
  return hash.finish_hex();
}

/** Prefers a handle that several tabs can hold; where there is none, the File is read in place. */
async function openForReading(handle: FileSystemFileHandle, file: File): Promise<OwnedSource> {
  try {
    const open = handle.createSyncAccessHandle as (options?: { mode: string }) => Promise<FileSystemSyncAccessHandle>;
    return new HandleSource(await open.call(handle, { mode: "read-only" }));
  } catch {
    return new BlobSource(file);
  }
}

/** What a download is written to. */
interface Sink {
  readonly size: number;
  append(bytes: Uint8Array<ArrayBuffer>): void;
  restart(): void;
}

class FileSink implements Sink {
  #size: number;
  #unflushed = 0;

  constructor(readonly handle: FileSystemSyncAccessHandle) {
    this.#size = handle.getSize();
  }

  get size(): number {
    return this.#size;
  }

  append(bytes: Uint8Array<ArrayBuffer>): void {
    let done = 0;
    while (done < bytes.byteLength) {
      const written = this.handle.write(bytes.subarray(done), { at: this.#size });
      if (written === 0) throw new DOMException("Nothing could be written.", "QuotaExceededError");
      done += written;
      this.#size += written;
    }
    this.#unflushed += bytes.byteLength;
    if (this.#unflushed >= FLUSH_EVERY) {
      this.handle.flush();
      this.#unflushed = 0;
    }
  }

  restart(): void {
    this.handle.truncate(0);
    this.#size = 0;
  }
}

class MemorySink implements Sink {
  #parts: BlobPart[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  append(bytes: Uint8Array<ArrayBuffer>): void {
    // A Blob lives outside the script heap, and the browser may page it to disk.
    this.#parts.push(new Blob([bytes]));
    this.#size += bytes.byteLength;
  }

  restart(): void {
    this.#parts = [];
    this.#size = 0;
  }

  blob(): Blob {
    return new Blob(this.#parts);
  }
}

async function downloadToMemory(options: StoreOptions): Promise<Stored> {
  if (!options.in_memory) throw new RetortError("no_storage", text.failure.noStorage);
  const sink = new MemorySink();
  await fill(sink, options, null);
  return { source: new BlobSource(sink.blob()), origin: "memory_unavailable" };
}

async function downloadToFolder(
  folder: FileSystemDirectoryHandle,
  names: CacheNames,
  options: StoreOptions,
): Promise<Stored> {
  let partial: FileSystemFileHandle;
  let handle: FileSystemSyncAccessHandle;
  try {
    partial = await folder.getFileHandle(names.partial, { create: true });
    handle = await partial.createSyncAccessHandle();
  } catch {
    return downloadToMemory(options);
  }
  const memory = new MemorySink();
  let overflowed = false;
  try {
    // When storage is full, what is already there moves to memory and the same download goes on there.
    await fill(new FileSink(handle), options, !options.in_memory ? null : (sink, rest) => {
      const had = sink.size;
      copy(handle, had, (bytes) => memory.append(bytes));
      memory.append(rest);
      overflowed = true;
      return memory;
    });
    if (!overflowed) handle.flush();
  } catch (thrown) {
    if (overflowed) handle.truncate(0);
    throw thrown;
  } finally {
    handle.close();
  }
  if (overflowed) {
    await remove(folder, names.partial);
    return { source: new BlobSource(memory.blob()), origin: "memory_quota" };
  }
  const committed = await commit(folder, names, partial, options);
  return { source: await openForReading(committed, await committed.getFile()), origin: "stored" };
}

/** Downloads into the sink what it lacks, and checks size and hash of the whole. */
async function fill(
  first: Sink,
  options: StoreOptions,
  overflow: ((sink: Sink, rest: Uint8Array<ArrayBuffer>) => Sink) | null,
): Promise<void> {
  const { preset, signal, on_progress } = options;
  let sink = first;
  if (sink.size > preset.bytes) sink.restart();
  let hash = options.new_hash();
  const resumed = sink.size > 0;
  if (resumed && sink instanceof FileSink) {
    let hashed = 0;
    const total = sink.size;
    copy(sink.handle, total, (bytes) => {
      hash.update(bytes);
      hashed += bytes.byteLength;
      on_progress("hashing", hashed, total);
    });
  }

  let failures = 0;
  while (sink.size < preset.bytes) {
    signal.throwIfAborted();
    const before = sink.size;
    try {
      const response = await request(options.url, sink.size, signal);
      // Another origin may keep this header from scripts; then the hash of the whole has to tell.
      const range = response.headers.get("content-range");
      if (response.status === 206 && !(range === null && response.type === "cors") && rangeStart(range) !== sink.size) {
        throw new RetortError("bad_server", text.failure.wrongRange);
      }
      if (response.status === 200 || response.status === 416) {
        // The server gave the whole file, or has a shorter one than what is here: begin again.
        sink.restart();
        hash = options.new_hash();
        if (response.status === 416) continue;
      }
      on_progress("download", sink.size, preset.bytes);
      const reader = response.body!.getReader();
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          if (sink.size + value.byteLength > preset.bytes) {
            throw new RetortError("size_mismatch", text.failure.tooMuch(preset.bytes));
          }
          hash.update(value);
          const at = sink.size;
          try {
            sink.append(value);
          } catch (thrown) {
            if (!overflow || !isQuota(thrown)) throw thrown;
            sink = overflow(sink, value.subarray(sink.size - at));
            overflow = null;
          }
          on_progress("download", sink.size, preset.bytes);
        }
      } finally {
        await reader.cancel().catch(() => {});
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof RetortError) throw thrown;
      if (isQuota(thrown)) throw new RetortError("storage_full", text.failure.storageFull(sink.size, preset.bytes));
      // Attempts are counted only while nothing arrives, so that a slow but working line is never given up.
      failures = sink.size > before ? 0 : failures + 1;
      if (failures >= ATTEMPTS) {
        const why = thrown instanceof Error ? thrown.message : String(thrown);
        throw new RetortError("download_interrupted", text.failure.interrupted(sink.size, preset.bytes, why));
      }
      await pause(500 * 2 ** failures, signal);
      continue;
    }
    if (sink.size < preset.bytes && sink.size === before && ++failures >= ATTEMPTS) {
      throw new RetortError("download_interrupted", text.failure.interrupted(sink.size, preset.bytes, text.failure.ended));
    }
  }

  const found = hash.finish_hex();
  if (found !== preset.sha256) {
    sink.restart();
    // What an earlier visit left may be to blame; a fresh download decides.
    if (resumed) return fill(sink, options, overflow);
    throw new RetortError("hash_mismatch", text.failure.wrongHash(found, preset.sha256));
  }
}

async function request(url: string, from: number, signal: AbortSignal): Promise<Response> {
  const response = await fetch(url, {
    signal,
    // Another origin learns no more than which file is wanted.
    credentials: "same-origin",
    referrerPolicy: "no-referrer",
    // The private file system is the cache; a second copy in the HTTP cache would only take space.
    cache: "no-store",
    ...(from > 0 ? { headers: { range: `bytes=${from}-` } } : {}),
  });
  if (response.status === 404) throw new RetortError("model_missing", text.failure.missing(new URL(url).pathname));
  if (response.status === 401 || response.status === 403) throw new RetortError("gated", text.failure.gated(new URL(url).pathname));
  if (![200, 206, 416].includes(response.status)) throw new Error(text.failure.answered(response.status));
  return response;
}

/** Renames the verified file, then writes its marker; only both together make a cached model. */
async function commit(
  folder: FileSystemDirectoryHandle,
  names: CacheNames,
  partial: FileSystemFileHandle,
  { preset, kind, profile, source, url }: StoreOptions,
): Promise<FileSystemFileHandle> {
  await remove(folder, names.marker);
  await remove(folder, names.file);
  const movable = partial as FileSystemFileHandle & { move?: (name: string) => Promise<void> };
  if (movable.move) {
    await movable.move(names.file);
  } else {
    const from = await partial.createSyncAccessHandle();
    const target = await folder.getFileHandle(names.file, { create: true });
    const to = await target.createSyncAccessHandle();
    try {
      const sink = new FileSink(to);
      sink.restart();
      copy(from, from.getSize(), (bytes) => sink.append(bytes));
      to.flush();
    } finally {
      from.close();
      to.close();
    }
    await remove(folder, names.partial);
  }
  const { lastModified } = await (await folder.getFileHandle(names.file)).getFile();
  const { bytes, sha256, name, title, licence } = preset;
  const marker: Marker = {
    bytes, sha256, name, title, licence, kind, source: source ?? new URL(url).pathname, at: Date.now(), modified: lastModified,
    ...(profile !== undefined && { profile }),
  };
  const handle = await (await folder.getFileHandle(names.marker, { create: true })).createSyncAccessHandle();
  try {
    handle.truncate(0);
    handle.write(new TextEncoder().encode(JSON.stringify(marker)), { at: 0 });
    handle.flush();
  } finally {
    handle.close();
  }
  return folder.getFileHandle(names.file);
}

function copy(from: FileSystemSyncAccessHandle, bytes: number, give: (bytes: Uint8Array<ArrayBuffer>) => void): void {
  for (let at = 0; at < bytes; ) {
    const piece = new Uint8Array(Math.min(STEP, bytes - at));
    const read = from.read(piece, { at });
    if (read === 0) throw new RetortError("storage_failed", text.failure.unreadable);
    give(piece.subarray(0, read));
    at += read;
  }
}

async function remove(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  await folder.removeEntry(name).catch((thrown: unknown) => {
    if (!(thrown instanceof DOMException && thrown.name === "NotFoundError")) throw thrown;
  });
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    }, { once: true });
  });
}
