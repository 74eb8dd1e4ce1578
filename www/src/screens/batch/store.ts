/** Batches in the store: the rows of the file, and every result as it comes. */
import { tell, using } from "../../store";
import type { TableRow } from "../../types";
import type { BatchHead, BatchResult } from "./types";

/** Rows of a file that are kept together: few enough that writing them takes no noticeable time. */
const CHUNK = 250;
const PIECE = 200;

const within = (batch: string) => IDBKeyRange.bound([batch, 0], [batch, Number.MAX_SAFE_INTEGER]);

export function allBatches(): Promise<BatchHead[]> {
  return using((db) => db.getAll("batches"));
}

/** Keeps a new batch whole, or nothing of it. */
export async function create(head: BatchHead, rows: TableRow[]): Promise<void> {
  await using(async (db) => {
    const work = db.transaction(["batches", "batch_chunks"], "readwrite");
    const puts: Promise<unknown>[] = [work.objectStore("batches").put(head)];
    for (let at = 0; at * CHUNK < rows.length; at++) {
      puts.push(work.objectStore("batch_chunks").put({ batch: head.id, chunk: at, rows: rows.slice(at * CHUNK, (at + 1) * CHUNK) }));
    }
    await Promise.all([...puts, work.done]);
  });
  tell("batches");
}

export async function putHead(head: BatchHead): Promise<void> {
  await using((db) => db.put("batches", head));
}

/** As `putHead`, but what was deleted meanwhile does not come back. */
export async function changeHead(head: BatchHead): Promise<void> {
  await using(async (db) => {
    const work = db.transaction("batches", "readwrite");
    if (await work.store.get(head.id)) await work.store.put(head);
    await work.done;
  });
}

/** A result and the count of them, together or not at all. */
export async function putResult(head: BatchHead, result: BatchResult): Promise<void> {
  await using(async (db) => {
    const work = db.transaction(["batches", "batch_results"], "readwrite");
    await Promise.all([work.objectStore("batches").put(head), work.objectStore("batch_results").put(result), work.done]);
  });
}

export async function open(id: string): Promise<{ head: BatchHead; rows: TableRow[] } | null> {
  return using(async (db) => {
    const head = await db.get("batches", id);
    if (!head) return null;
    const chunks = await db.getAll("batch_chunks", within(id));
    return { head, rows: chunks.flatMap((chunk) => chunk.rows) };
  });
}

/** The results piece by piece, in the file's order. */
export async function* results(id: string): AsyncGenerator<BatchResult[]> {
  let from: IDBValidKey = [id, 0];
  let open = false;
  for (;;) {
    const range: IDBKeyRange = IDBKeyRange.bound(from, [id, Number.MAX_SAFE_INTEGER], open);
    const piece: BatchResult[] = await using((db) => db.getAll("batch_results", range, PIECE));
    if (piece.length > 0) yield piece;
    if (piece.length < PIECE) return;
    from = [id, piece.at(-1)!.index];
    open = true;
  }
}

export async function resultOf(id: string, index: number): Promise<BatchResult | null> {
  return using(async (db) => (await db.get("batch_results", [id, index])) ?? null);
}

export async function removeResults(head: BatchHead, indices: number[]): Promise<void> {
  await using(async (db) => {
    const work = db.transaction(["batches", "batch_results"], "readwrite");
    await Promise.all([work.objectStore("batches").put(head), ...indices.map((index) => work.objectStore("batch_results").delete([head.id, index])), work.done]);
  });
}

export async function removeBatch(id: string): Promise<void> {
  await using(async (db) => {
    const work = db.transaction(["batches", "batch_chunks", "batch_results"], "readwrite");
    await Promise.all([
      work.objectStore("batches").delete(id), work.objectStore("batch_chunks").delete(within(id)), work.objectStore("batch_results").delete(within(id)), work.done,
    ]);
  });
  tell("batches");
}
