import type { ByteSource } from "../types";

/** A source that may hold a file open. */
export interface OwnedSource extends ByteSource {
  close(): void;
}

/** Reads a Blob or File in place, piece by piece; it never holds the whole file (P36). */
export class BlobSource implements OwnedSource {
  readonly #reader = new FileReaderSync();

  constructor(
    readonly blob: Blob,
    readonly name?: string,
  ) {}

  get size(): number {
    return this.blob.size;
  }

  read(offset: number, into: Uint8Array): number {
    const bytes = this.#reader.readAsArrayBuffer(this.blob.slice(offset, offset + into.byteLength));
    into.set(new Uint8Array(bytes));
    return bytes.byteLength;
  }

  close(): void {}
}

/** Reads a stored file through its synchronous access handle. */
export class HandleSource implements OwnedSource {
  readonly size: number;
  constructor(private readonly handle: FileSystemSyncAccessHandle) {
    this.size = handle.getSize();
  }

  read(offset: number, into: Uint8Array): number {
    return this.handle.read(into as Uint8Array<ArrayBuffer>, { at: offset });
  }

  close(): void {
    this.handle.close();
  }
}
