/**
 * What Hugging Face says of a repository: its GGUF files with their sizes and SHA-256.
 *
 * They are read from its model API and not from the headers of the file (`x-linked-etag`): those stand on a redirect, which a
 * browser follows without showing it to scripts.
 */
import { models as words } from "../text/models";
import { RetortError, toFailure } from "../worker/failure";

export const HUB = "https://huggingface.co";

export interface Address {
  /** Owner and name. */
  repo: string;
  revision: string;
  /** Path within the repository, or null for all of it. */
  file: string | null;
}

export interface HubFile {
  path: string;
  bytes: number;
  /** Lower-case hex; null where the hub states none, so that the file could not be checked. */
  sha256: string | null;
  /** One part of several, which only load together. */
  split: boolean;
}

export interface Repo {
  repo: string;
  /** The commit that files are fetched from, so that a new version in mid-download cannot mix with the old one. */
  commit: string;
  gated: boolean;
  licence: string;
  /** GGUF files, smallest first. */
  files: HubFile[];
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const COMMIT = /^[0-9a-f]{40}$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** Reads "owner/repo", "owner/repo/file.gguf", or the address of a page on the hub; null for anything else. */
export function parseAddress(given: string): Address | null {
  const path = given.trim().replace(/^(?:https?:\/\/)?(?:www\.)?(?:huggingface\.co|hf\.co)\//i, "").replace(/[?#].*$/, "").replace(/\/+$/, "");
  if (/^[a-z]+:/i.test(path)) return null;
  let parts: string[];
  try {
    parts = path.split("/").map(decodeURIComponent);
  } catch {
    return null;
  }
  const [owner, name, ...rest] = parts;
  if (!owner || !name || !NAME.test(owner) || !NAME.test(name)) return null;
  const repo = `${owner}/${name}`;
  if (rest.length === 0) return { repo, revision: "main", file: null };
  const onPage = ["blob", "resolve", "raw", "tree"].includes(rest[0]!);
  const revision = onPage ? rest[1] : "main";
  const within = onPage ? rest.slice(2) : rest;
  if (revision === undefined || !NAME.test(revision)) return null;
  if (within.length === 0) return { repo, revision, file: null };
  if (within.some((part) => part === "" || part === "." || part === "..") || !/\.gguf$/i.test(within.at(-1)!)) return null;
  return { repo, revision, file: within.join("/") };
}

/** Where files are fetched from: the hub, or a mirror of it on the page's own server, named by `?hub=`. */
export function hubBase(search: string, page: string): string {
  const asked = new URLSearchParams(search).get("hub");
  if (asked === null) return HUB;
  try {
    const mirror = new URL(asked, page);
    // Any other origin is refused by the policy as well; this only says so sooner.
    return mirror.origin === new URL(page).origin ? mirror.href.replace(/\/+$/, "") : HUB;
  } catch {
    return HUB;
  }
}

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");

/** The address of a file's bytes. */
export function fileUrl(base: string, { repo, commit }: Pick<Repo, "repo" | "commit">, path: string): string {
  return `${base}/${encoded(repo)}/resolve/${commit}/${encoded(path)}`;
}

/** Reads the hub's answer about a repository; null where it is not what it should be. */
export function readRepo(repo: string, json: string): Repo | null {
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch {
    return null;
  }
  if (typeof data !== "object" || data === null) return null;
  const { sha, gated, cardData, siblings } = data as Record<string, unknown>;
  if (typeof sha !== "string" || !COMMIT.test(sha) || !Array.isArray(siblings)) return null;
  const licence = (cardData as { license?: unknown } | null | undefined)?.license;
  const files: HubFile[] = [];
  for (const sibling of siblings as unknown[]) {
    const { rfilename: path, size, lfs } = (sibling ?? {}) as { rfilename?: unknown; size?: unknown; lfs?: { sha256?: unknown; size?: unknown } | null };
    if (typeof path !== "string" || !/\.gguf$/i.test(path)) continue;
    const bytes = lfs?.size ?? size;
    if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes <= 0) continue;
    const sha256 = typeof lfs?.sha256 === "string" && SHA256.test(lfs.sha256) ? lfs.sha256 : null;
    files.push({ path, bytes, sha256, split: /-\d{5}-of-\d{5}\.gguf$/i.test(path) });
  }
  files.sort((a, b) => a.bytes - b.bytes || a.path.localeCompare(b.path));
  return { repo, commit: sha, gated: gated !== undefined && gated !== false && gated !== null, licence: typeof licence === "string" ? licence : "", files };
}

/** Asks the hub about a repository. Throws a `RetortError`. */
export async function askHub(base: string, { repo, revision }: Address): Promise<Repo> {
  let response: Response;
  try {
    response = await fetch(`${base}/api/models/${encoded(repo)}/revision/${encodeURIComponent(revision)}?blobs=true`, {
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
  } catch (thrown) {
    throw new RetortError("hub_unreachable", words.download.hub.unreachable(toFailure(thrown).message));
  }
  // The hub answers 401 for what does not exist, so as not to tell what is private.
  if (response.status === 401 || response.status === 404) throw new RetortError("hub_missing", words.download.hub.missing(repo));
  if (response.status === 403) throw new RetortError("gated", words.download.hub.gated(repo));
  if (!response.ok) throw new RetortError("hub_failed", words.download.hub.answered(response.status));
  const read = readRepo(repo, await response.text());
  if (!read) throw new RetortError("hub_failed", words.download.hub.unreadable);
  return read;
}
