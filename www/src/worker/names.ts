/** How stored models are named. Pure, so that tests can pin it. */
import { text } from "../text";
import type { WrittenForm } from "../types";

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

/** How a model wants to be asked: by the probabilities of options, by its own scalar head, or by a verdict written in a form of its own. */
export type Profile = "options" | "head" | WrittenForm;

export const FORMS: readonly WrittenForm[] = ["prometheus", "flow_judge", "selene", "glider"];
export const PROFILES: readonly Profile[] = ["options", "head", ...FORMS];

/** What is known of a stored file besides its bytes; markers of earlier versions have none of it. */
export interface About {
  /** What it is known by, also in records. */
  name: string;
  /** What people read. */
  title: string;
  /** Where it came from: an address, or a path on the page's own server. */
  source: string;
  licence: string;
  /** Milliseconds since 1970 at which it was verified and stored. */
  at: number;
  kind: "model" | "adapter";
  profile: Profile;
  /** The file's own time when it was verified: another one means that somebody wrote to it since. */
  modified: number;
}

/** The content of a marker. */
export interface Marker extends Partial<About> {
  bytes: number;
  sha256: string;
}

/** Reads a marker; null where it vouches for nothing. A field that is missing or of another kind is left out. */
export function readMarker(text: string): Marker | null {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof data !== "object" || data === null) return null;
  const fields = data as Record<string, unknown>;
  const { bytes, sha256 } = fields;
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0 || typeof sha256 !== "string" || !SHA256.test(sha256)) return null;
  const marker: Marker = { bytes, sha256 };
  for (const key of ["name", "title", "source", "licence"] as const) {
    const value = fields[key];
    if (typeof value === "string") marker[key] = value;
  }
  for (const key of ["at", "modified"] as const) {
    const value = fields[key];
    if (typeof value === "number" && Number.isFinite(value)) marker[key] = value;
  }
  if (fields["kind"] === "model" || fields["kind"] === "adapter") marker.kind = fields["kind"];
  const profile = PROFILES.find((one) => one === fields["profile"]);
  if (profile) marker.profile = profile;
  return marker;
}

/** Whether a marker's text vouches for a file of this size and hash. Anything unreadable does not. */
export function markerMatches(text: string, bytes: number, sha256: string): boolean {
  const marker = readMarker(text);
  return marker?.bytes === bytes && marker.sha256 === sha256;
}

/** Which stored file a name in the folder belongs to, and as what; null for anything else. */
export function partOf(name: string): { sha256: string; part: "file" | "partial" | "marker" } | null {
  const [sha256 = "", end, ...more] = name.split(".");
  const part = end === "gguf" ? "file" : end === "part" ? "partial" : end === "json" ? "marker" : undefined;
  return SHA256.test(sha256) && part !== undefined && more.length === 0 ? { sha256, part } : null;
}

/** Where a 206 answer starts, from its Content-Range header; null when the header is missing or malformed. */
export function rangeStart(header: string | null): number | null {
  const match = /^bytes (\d+)-\d+\/(?:\d+|\*)$/.exec(header ?? "");
  return match ? Number(match[1]) : null;
}
