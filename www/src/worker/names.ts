/** How stored models are named. Pure, so that tests can pin it. */
import { text } from "../text";

/** The folder in the origin's private file system. */
export const FOLDER = "retort-models";

export interface CacheNames {
  /** The committed file: it exists only under this name once size and hash were right (P33). */
  file: string;
  /** What a download writes to; an interrupted one is continued from here. */
  partial: string;
  /** Says that the committed file was verified, with its size and hash. */
  marker: string;
}

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Names by content, not by title: a new version of a model under an old title is another file (P31).
 * Throws when `sha256` is not 64 lower-case hex digits, so that no name from a registry reaches the file system.
 */
export function cacheNames(sha256: string): CacheNames {
  if (!SHA256.test(sha256)) {
    throw new Error(text.failure.badSha(sha256.slice(0, 80)));
  }
  return { file: `${sha256}.gguf`, partial: `${sha256}.part`, marker: `${sha256}.json` };
}

/** The content of a marker. */
export interface Marker {
  bytes: number;
  sha256: string;
}

/** Whether a marker's text vouches for a file of this size and hash. Anything unreadable does not. */
export function markerMatches(text: string, bytes: number, sha256: string): boolean {
  try {
    const marker = JSON.parse(text) as Partial<Marker> | null;
    return marker?.bytes === bytes && marker.sha256 === sha256;
  } catch {
    return false;
  }
}

/** Where a 206 answer starts, from its Content-Range header; null when the header is missing or malformed. */
export function rangeStart(header: string | null): number | null {
  const match = /^bytes (\d+)-\d+\/(?:\d+|\*)$/.exec(header ?? "");
  return match ? Number(match[1]) : null;
}
