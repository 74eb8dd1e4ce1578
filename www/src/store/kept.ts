/** The history's entries in the store: read, searched, deleted, carried to a file and back. */
import type { Kept } from "../history";
import type { JudgeRecord } from "../types";
import { tell, using, type KeptHead } from ".";

/** So many are read or written at a time: between two pieces the page can do something else. */
const PIECE = 100;
const TITLE = 160;

/** What a list shows of an entry. */
export function headOf(kept: Kept): KeptHead {
  const records = kept.kind === "judgement" ? [kept.record] : kept.kind === "comparison" ? kept.profiles : [];
  const { name, adapter } = kept.record.model;
  const title = kept.prompt.slice(0, 4 * TITLE).replaceAll(/\s+/g, " ").trim();
  return {
    id: kept.id,
    at: kept.at,
    kind: kept.kind,
    title: title.length > TITLE ? `${title.slice(0, TITLE)}…` : title,
    model: adapter === null ? name : `${name} + ${adapter.name}`,
    skills: [...new Set(records.flatMap(({ verdicts }) => verdicts.map(({ rubric_name }) => rubric_name)))],
    mean: kept.kind === "judgement" ? meanOf(kept.record) : null,
    // Browsers store text in one or two bytes per unit, as they like; JSON in UTF-8 lies between.
    bytes: new TextEncoder().encode(JSON.stringify(kept)).length,
  };
}

/** Mean of the scored rubrics, each brought to 0 to 1 by its own scale; null where none was scored (P16). */
export function meanOf(record: JudgeRecord): number | null {
  const shares = record.verdicts.flatMap(({ verdict }) =>
    verdict.kind === "scored" && verdict.max > verdict.min ? [(verdict.expected - verdict.min) / (verdict.max - verdict.min)] : []);
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Number.isFinite(mean) ? mean : null;
}

/** The heads, oldest first. */
export function all(): Promise<KeptHead[]> {
  return using((db) => db.getAll("heads"));
}

/** What all entries take. In pieces, since a long history would hold up whatever else the page does. */
export async function allTaken(): Promise<number> {
  let bytes = 0;
  let after: string | null = null;
  for (;;) {
    const range: IDBKeyRange | null = after === null ? null : IDBKeyRange.lowerBound(after, true);
    const piece: KeptHead[] = await using((db) => db.getAll("heads", range, PIECE));
    bytes += size(piece);
    if (piece.length < PIECE) return bytes;
    after = piece.at(-1)!.id;
  }
}

export function size(heads: Pick<KeptHead, "bytes">[]): number {
  return heads.reduce((sum, { bytes }) => sum + bytes, 0);
}

export function one(id: string): Promise<Kept | null> {
  return using(async (db) => (await db.get("kept", id)) ?? null);
}

export async function remove(ids: string[]): Promise<void> {
  await using(async (db) => {
    const work = db.transaction(["kept", "heads"], "readwrite");
    await Promise.all([...ids.flatMap((id) => [work.objectStore("kept").delete(id), work.objectStore("heads").delete(id)]), work.done]);
  });
  tell("history");
}

export async function clear(): Promise<void> {
  await using(async (db) => {
    const work = db.transaction(["kept", "heads"], "readwrite");
    await Promise.all([work.objectStore("kept").clear(), work.objectStore("heads").clear(), work.done]);
  });
  tell("history");
}

/** The entries piece by piece, oldest first. */
export async function* pieces(): AsyncGenerator<Kept[]> {
  let after: string | null = null;
  for (;;) {
    const range: IDBKeyRange | null = after === null ? null : IDBKeyRange.lowerBound(after, true);
    const piece: Kept[] = await using((db) => db.getAll("kept", range, PIECE));
    if (piece.length > 0) yield piece;
    if (piece.length < PIECE) return;
    after = piece.at(-1)!.id;
  }
}

/** Every text that a person could look for. */
function textsOf(kept: Kept): string[] {
  return [kept.prompt, ...(kept.kind === "judgement" ? [kept.response] : kept.responses), kept.reference ?? ""];
}

/** Alike is what differs only in case, or in how an accented letter is composed. */
export function plain(words: string): string {
  return words.normalize("NFC").toLowerCase();
}

/** Whether every word of the query stands in one of the texts. */
export function matches(kept: Kept, query: string): boolean {
  const texts = textsOf(kept).map(plain);
  return plain(query).split(/\s+/).filter((word) => word !== "").every((word) => texts.some((one) => one.includes(word)));
}

/** The ids of the entries in whose texts the words stand; null where it was called off. */
export async function find(query: string, signal: AbortSignal): Promise<Set<string> | null> {
  const found = new Set<string>();
  for await (const piece of pieces()) {
    if (signal.aborted) return null;
    for (const kept of piece) if (matches(kept, query)) found.add(kept.id);
  }
  return signal.aborted ? null : found;
}

/** The oldest ones that must go so that the rest takes no more than the limit. `heads` oldest first. */
export function oldestBeyond(heads: KeptHead[], limit: number): KeptHead[] {
  let over = size(heads) - limit;
  const go: KeptHead[] = [];
  for (const head of heads) {
    if (over <= 0) break;
    go.push(head);
    over -= head.bytes;
  }
  return go;
}

export const FORMAT = "retort.kept/1";

/** One line of an exported history. */
export function writeLine(kept: Kept): string {
  return `${JSON.stringify({ format: FORMAT, ...kept })}\n`;
}

type Thing = Record<string, unknown>;

const isThing = (value: unknown): value is Thing => typeof value === "object" && value !== null && !Array.isArray(value);

/** What is wrong with a line of an exported history: what the page shows of it must be there, and of its kind. */
export type LineFault = { fault: "json"; why: string } | { fault: "format"; found: string } | { fault: "field"; field: string };

/** Reads one line of an exported history. */
export function readLine(line: string): Kept | LineFault {
  let data: unknown;
  try {
    data = JSON.parse(line);
  } catch (thrown) {
    return { fault: "json", why: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  if (!isThing(data) || data["format"] !== FORMAT) return { fault: "format", found: isThing(data) ? String(data["format"]) : typeof data };
  const { format: _, ...kept } = data;
  const field = wrongField(kept);
  // Every field that the page reads was looked at.
  return field === null ? (kept as unknown as Kept) : { fault: "field", field };
}

function wrongField(kept: Thing): string | null {
  const isText = (value: unknown) => typeof value === "string";
  if (!isText(kept["id"]) || !/^[\w-]{1,64}$/.test(kept["id"] as string)) return "id";
  const at = kept["at"];
  if (typeof at !== "number" || !Number.isFinite(at) || Number.isNaN(new Date(at).getTime())) return "at";
  if (!isText(kept["prompt"])) return "prompt";
  if (kept["reference"] !== null && !isText(kept["reference"])) return "reference";
  const { record } = kept;
  switch (kept["kind"]) {
    case "judgement":
      return isText(kept["response"]) ? wrongRecord(record, "record") : "response";
    case "rewards": {
      const { responses } = kept;
      if (!Array.isArray(responses) || responses.length < 1 || !responses.every(isText)) return "responses";
      return wrongRewards(record, responses.length);
    }
    case "comparison": {
      const { responses, profiles } = kept;
      if (!Array.isArray(responses) || responses.length < 2 || !responses.every(isText)) return "responses";
      if (!Array.isArray(profiles)) return "profiles";
      for (const [i, profile] of profiles.entries()) {
        const wrong = wrongRecord(profile, `profiles[${i}]`);
        if (wrong !== null) return wrong;
      }
      return wrongComparison(record, responses.length);
    }
    default:
      return "kind";
  }
}

function wrongHead(record: Thing, place: string): string | null {
  const { model } = record;
  if (!isThing(model) || typeof model["name"] !== "string") return `${place}.model`;
  const { adapter } = model;
  if (adapter !== null && !(isThing(adapter) && typeof adapter["name"] === "string")) return `${place}.model.adapter`;
  if (record["backend"] !== "gpu" && record["backend"] !== "cpu") return `${place}.backend`;
  const { timings, truncations, notices } = record;
  if (!isThing(timings) || !["total_ms", "tokens", "tokens_reused"].every((name) => typeof timings[name] === "number")) return `${place}.timings`;
  const isCut = (cut: unknown) =>
    isThing(cut) && typeof cut["text"] === "string" && typeof cut["kept_characters"] === "number" && typeof cut["total_characters"] === "number";
  if (!Array.isArray(truncations) || !truncations.every(isCut)) return `${place}.truncations`;
  if (!Array.isArray(notices) || !notices.every((notice) => typeof notice === "string")) return `${place}.notices`;
  return null;
}

function wrongVerdict(verdict: unknown): boolean {
  if (!isThing(verdict)) return true;
  if (verdict["kind"] === "unscored") return typeof verdict["code"] !== "string" || typeof verdict["message"] !== "string";
  const { distribution } = verdict;
  const isOption = (option: unknown) => isThing(option) && typeof option["label"] === "string" && Number.isFinite(option["probability"]);
  return verdict["kind"] !== "scored" || !["expected", "min", "max", "mass"].every((name) => Number.isFinite(verdict[name])) || !Array.isArray(distribution) || !distribution.every(isOption);
}

function wrongRecord(record: unknown, place: string): string | null {
  if (!isThing(record)) return place;
  if (record["format"] !== "retort.judgement/1") return `${place}.format`;
  const head = wrongHead(record, place);
  if (head !== null) return head;
  const { verdicts, checklist } = record;
  if (!Array.isArray(verdicts)) return `${place}.verdicts`;
  for (const [i, given] of verdicts.entries()) {
    if (!isThing(given) || typeof given["rubric_id"] !== "string" || typeof given["rubric_name"] !== "string" || wrongVerdict(given["verdict"])) return `${place}.verdicts[${i}]`;
  }
  if (checklist === undefined) return null;
  if (!isThing(checklist) || !Array.isArray(checklist["items"])) return `${place}.checklist`;
  for (const [i, item] of (checklist["items"] as unknown[]).entries()) {
    const finding = isThing(item) ? item["finding"] : null;
    const good = isThing(item) && typeof item["question"] === "string" && typeof item["item_id"] === "string"
      && (item["by"] === "model" ? !wrongVerdict(item["verdict"]) : item["by"] === "code" && isThing(finding) && typeof finding["sentence"] === "string" && typeof finding["verdict"] === "string");
    if (!good) return `${place}.checklist.items[${i}]`;
  }
  return null;
}

function wrongRewards(record: unknown, responses: number): string | null {
  if (!isThing(record)) return "record";
  if (record["format"] !== "retort.reward/1") return "record.format";
  // Nothing is cut: what is too long has no reward.
  const head = wrongHead({ ...record, truncations: [] }, "record");
  if (head !== null) return head;
  const { rewards, labels } = record;
  if (!Array.isArray(labels) || !labels.every((label) => typeof label === "string")) return "record.labels";
  if (!Array.isArray(rewards) || rewards.length !== responses) return "record.rewards";
  for (const [i, reward] of rewards.entries()) {
    const outputs: unknown = isThing(reward) ? reward["outputs"] : null;
    const good = isThing(reward)
      && (reward["kind"] === "scored"
        ? Array.isArray(outputs) && outputs.every((value) => Number.isFinite(value))
        : reward["kind"] === "unscored" && typeof reward["message"] === "string");
    if (!good) return `record.rewards[${i}]`;
  }
  return null;
}

function wrongComparison(record: unknown, responses: number): string | null {
  if (!isThing(record)) return "record";
  if (record["format"] !== "retort.comparison/1") return "record.format";
  const head = wrongHead(record, "record");
  if (head !== null) return head;
  const { pairs } = record;
  if (!Array.isArray(pairs)) return "record.pairs";
  const isPlace = (value: unknown) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < responses;
  for (const [i, pair] of pairs.entries()) {
    const verdict: unknown = isThing(pair) ? pair["verdict"] : null;
    const good = isThing(pair) && isPlace(pair["first"]) && isPlace(pair["second"]) && isThing(verdict)
      && (verdict["kind"] === "scored"
        ? Number.isFinite(verdict["probability_first"]) && (verdict["preferred"] === null || isPlace(verdict["preferred"]))
        : verdict["kind"] === "unscored" && typeof verdict["message"] === "string");
    if (!good) return `record.pairs[${i}]`;
  }
  return null;
}

export interface Imported {
  added: number;
  /** Of the same id as what is there already. */
  known: number;
  faults: { line: number; fault: LineFault }[];
  /** Good lines that the limit left no room for. */
  beyond: number;
}

/** Takes in what an export has written. A bad line is reported and nothing else is lost; nothing is there twice. */
export async function importLines(content: string, limit: number): Promise<Imported> {
  const told: Imported = { added: 0, known: 0, faults: [], beyond: 0 };
  let taken = await allTaken();
  const lines = content.replace(/^\uFEFF/, "").split("\n");
  try {
    for (let from = 0; from < lines.length; from += PIECE) {
      await using(async (db) => {
        const good: Kept[] = [];
        for (const [i, line] of lines.slice(from, from + PIECE).entries()) {
          if (line.trim() === "") continue;
          const read = readLine(line);
          if ("fault" in read) told.faults.push({ line: from + i + 1, fault: read });
          else good.push(read);
        }
        const work = db.transaction(["kept", "heads"], "readwrite");
        let [added, known, beyond, bytes] = [0, 0, 0, 0];
        for (const kept of good) {
          if ((await work.objectStore("heads").getKey(kept.id)) !== undefined) {
            known += 1;
            continue;
          }
          const head = headOf(kept);
          if (taken + bytes + head.bytes > limit) {
            beyond += 1;
            continue;
          }
          bytes += head.bytes;
          added += 1;
          void work.objectStore("kept").put(kept).catch(() => undefined);
          void work.objectStore("heads").put(head).catch(() => undefined);
        }
        // What was counted is there only once the whole piece is.
        await work.done;
        taken += bytes;
        told.added += added;
        told.known += known;
        told.beyond += beyond;
      });
    }
  } finally {
    if (told.added > 0) tell("history");
  }
  return told;
}
