/**
 * A value as text for a link's fragment, and back: JSON, deflated (zlib, whose checksum shows damage), in base64url.
 *
 * What comes out of a link was written by a stranger: `unpackState` promises JSON and a bounded size, nothing more. Whoever
 * calls it checks every field.
 */
import { formatBytes, formatCount } from "./format";
import { shareText } from "./text/share";

/** Characters of a packed state. Browsers take much longer addresses; mail and chat programs do not. */
export const MAX_PACKED = 16_000;
/** Bytes that a link may unpack to. Deflate can shrink a thousandfold, so the packed length bounds nothing. */
export const MAX_UNPACKED = 400_000;

export type ShareErrorCode = "too_long" | "damaged" | "too_large" | "unsupported" | "unserializable";

/** `message` is a sentence for people. */
export class ShareError extends Error {
  constructor(readonly code: ShareErrorCode, message: string) {
    super(message);
    this.name = "ShareError";
  }
}

/**
 * Packs plain data.
 *
 * @throws ShareError `too_long` where the text would have more than `MAX_PACKED` characters or the data more than
 * `MAX_UNPACKED` bytes, `unserializable` where it is no JSON, `unsupported` where the browser has no compression streams.
 */
export async function packState(value: unknown): Promise<string> {
  const json = toJson(value);
  const bytes = new TextEncoder().encode(json);
  // Every link that is made can also be opened.
  if (bytes.length > MAX_UNPACKED) throw new ShareError("too_long", shareText.tooMuch(formatBytes(bytes.length), formatBytes(MAX_UNPACKED)));
  if (typeof CompressionStream === "undefined") throw new ShareError("unsupported", shareText.unsupported);
  const packed = toBase64Url(await read(bytes, new CompressionStream("deflate"), Infinity));
  if (packed.length > MAX_PACKED) throw new ShareError("too_long", shareText.tooLong(formatCount(packed.length), formatCount(MAX_PACKED)));
  return packed;
}

/**
 * Unpacks what `packState` made.
 *
 * @throws ShareError `damaged` where it is not whole, `too_large` where it is longer than any link made here or unpacks to more
 * than `MAX_UNPACKED` bytes (no more than that is ever unpacked), `unsupported` where the browser has no compression streams.
 */
export async function unpackState(packed: string): Promise<unknown> {
  if (packed.length > MAX_PACKED) throw tooLarge();
  if (typeof DecompressionStream === "undefined") throw new ShareError("unsupported", shareText.unsupported);
  const bytes = await read(fromBase64Url(packed), new DecompressionStream("deflate"), MAX_UNPACKED);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw damaged();
  }
}

const damaged = () => new ShareError("damaged", shareText.damaged);
const tooLarge = () => new ShareError("too_large", shareText.tooLarge(formatBytes(MAX_UNPACKED)));

function toJson(value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    // A cycle or a bigint.
  }
  if (json === undefined) throw new ShareError("unserializable", shareText.unserializable);
  return json;
}

/** Everything that comes out of a stream of compression, unless it is more than `limit` bytes. */
async function read(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream, limit: number): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const step = await reader.read().catch(() => {
      throw damaged();
    });
    if (step.done) break;
    length += step.value.length;
    if (length > limit) {
      void reader.cancel().catch(() => undefined);
      throw tooLarge();
    }
    parts.push(step.value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  if (text === "" || !/^[\w-]+$/.test(text)) throw damaged();
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
  } catch {
    throw damaged();
  }
}
