/** A person's labels and what the model has read so far, as one value; all pure. */
import type { EngineInfo, FitRequest, ModelIdentity, Readout, Table } from "../../types";
import { calibrate as words } from "../../text/calibrate";

/** What the model gave for one response: its own score and its state, and which model that was. */
export interface Reading {
  /** `keyOf` the model and adapter, and the aspect that was asked. */
  stamp: string;
  /** In the unit of the aspect's rubric; null where the model gave none. */
  own: number | null;
  own_min: number;
  own_max: number;
  layer: number;
  model: ModelIdentity;
  /** Mean and last state, one after the other. */
  state: Float32Array;
}

export interface Example {
  id: string;
  prompt: string;
  response: string;
  reference: string | null;
  label: number | null;
  reading: Reading | null;
}

export interface Work {
  /** "overall" or the id of a skill. */
  aspect: string;
  min: number;
  max: number;
  examples: Example[];
}

export const EMPTY: Work = { aspect: "overall", min: 1, max: 5, examples: [] };

/** Which model and adapter: states and scores of another one say nothing here. */
export function keyOf(model: Pick<ModelIdentity, "name" | "sha256">, adapter: { name: string; sha256: string | null; strength: number } | null): string {
  return [model.sha256 ?? model.name, adapter ? (adapter.sha256 ?? adapter.name) : "", adapter?.strength ?? ""].join(" ");
}

export function keyOfEngine(info: EngineInfo, adapter: EngineInfo["adapter"]): string {
  return keyOf(info.model, adapter);
}

export interface Added {
  work: Work;
  added: number;
  /** Were in the list already: a label that comes with them is taken where there was none. */
  known: number;
}

/** Puts responses into the list, each once. */
export function add(work: Work, given: Pick<Example, "prompt" | "response" | "reference" | "label">[], newId: () => string): Added {
  const sign = (one: Pick<Example, "prompt" | "response">) => JSON.stringify([one.prompt, one.response]);
  const places = new Map(work.examples.map((example, at) => [sign(example), at]));
  const examples = [...work.examples];
  let added = 0;
  let known = 0;
  for (const one of given) {
    const at = places.get(sign(one));
    if (at === undefined) {
      places.set(sign(one), examples.length);
      examples.push({ ...one, id: newId(), reading: null });
      added += 1;
    } else {
      known += 1;
      const before = examples[at]!;
      if (before.label === null && one.label !== null) examples[at] = { ...before, label: one.label };
    }
  }
  return { work: { ...work, examples }, added, known };
}

export function change(work: Work, id: string, part: Partial<Omit<Example, "id">>): Work {
  return { ...work, examples: work.examples.map((example) => (example.id === id ? { ...example, ...part } : example)) };
}

export function without(work: Work, id: string): Work {
  return { ...work, examples: work.examples.filter((example) => example.id !== id) };
}

/** The place of the next example without a label behind `at`, from the beginning again; `at` where all have one. */
export function nextUnrated(work: Work, at: number): number {
  const count = work.examples.length;
  for (let step = 1; step <= count; step++) {
    const place = (at + step) % count;
    if (work.examples[place]!.label === null) return place;
  }
  return at;
}

/** Whether a scale can be rated with: whole numbers, from 1 to 10 apart. */
export function isScale(min: number, max: number): boolean {
  return Number.isInteger(min) && Number.isInteger(max) && max - min >= 1 && max - min <= 10;
}

/** Examples whose label lies on the scale. */
export function labelled(work: Work): (Example & { label: number })[] {
  return work.examples.filter((example): example is Example & { label: number } => example.label !== null && example.label >= work.min && example.label <= work.max);
}

export function outside(work: Work): number {
  return work.examples.filter(({ label }) => label !== null).length - labelled(work).length;
}

/** Labelled examples that the model has still to read. */
export function unread(work: Work, stamp: string): Example[] {
  return labelled(work).filter(({ reading }) => reading?.stamp !== stamp);
}

/** A score carried to the labels' scale by its place on its own (P14). */
export function onScale(value: number, from: { min: number; max: number }, to: { min: number; max: number }): number {
  return to.min + ((value - from.min) / (from.max - from.min)) * (to.max - to.min);
}

/** The model's own score of an example in the unit of the labels; null where it has none. */
export function ownOf(reading: Reading, work: Pick<Work, "min" | "max">): number | null {
  return reading.own === null ? null : onScale(reading.own, { min: reading.own_min, max: reading.own_max }, work);
}

/** What is fitted; null where too little has been read. */
export function fitRequest(work: Work, stamp: string, seed: number): FitRequest | null {
  const read = labelled(work).flatMap(({ reading, label, prompt }) => (reading?.stamp === stamp ? [{ reading, label, prompt }] : []));
  const [first] = read;
  if (!first || read.length < 4) return null;
  return {
    examples: read.map(({ reading, label, prompt }) => ({ state: reading.state, own: ownOf(reading, work), label, group: prompt })),
    layer: first.reading.layer,
    model: first.reading.model,
    min: work.min,
    max: work.max,
    seed,
  };
}

/**
 * How many more labels would narrow the interval of the gain until it leaves zero, were the gain what it seems: widths go with
 * the root of the number. Null where the gain is not above zero or the interval leaves zero already.
 */
export function moreNeeded(readout: Pick<Readout, "gain" | "n" | "helps">): number | null {
  const { gain, n, helps } = readout;
  if (helps || gain === null || gain.value <= 0) return null;
  const below = gain.value - gain.low;
  const needed = Math.ceil(n * (below / gain.value) ** 2) - n;
  return needed > 0 ? needed : null;
}

export interface Mapping {
  prompt: string | null;
  response: string | null;
  reference: string | null;
  human: string | null;
}

export function mappingOf(table: Pick<Table, "roles">): Mapping {
  const { prompt = null, response = null, reference = null, human = null } = table.roles;
  return { prompt, response, reference, human };
}

/** The rows of a file as examples, and what was left out. */
export function rowsOf(table: Pick<Table, "columns" | "rows">, mapping: Mapping): {
  examples: Pick<Example, "prompt" | "response" | "reference" | "label">[];
  incomplete: number;
  bad_labels: number;
} {
  const at = (column: string | null) => (column === null ? -1 : table.columns.indexOf(column));
  const [prompt, response, reference, human] = [mapping.prompt, mapping.response, mapping.reference, mapping.human].map(at) as [number, number, number, number];
  let incomplete = 0;
  let bad_labels = 0;
  const examples = table.rows.flatMap(({ values }) => {
    const texts = [values[prompt] ?? "", values[response] ?? ""] as const;
    if (texts.some((text) => text.trim() === "")) {
      incomplete += 1;
      return [];
    }
    const said = (values[human] ?? "").trim();
    const label = said === "" ? null : Number(said);
    const isNumber = label === null || Number.isFinite(label);
    if (!isNumber) bad_labels += 1;
    const other = values[reference] ?? "";
    return [{ prompt: texts[0], response: texts[1], reference: other.trim() === "" ? null : other, label: isNumber ? label : null }];
  });
  return { examples, incomplete, bad_labels };
}

/** A readout under a name, as it is kept and as it is exported. */
export interface Saved {
  format: "retort.own-readout/1";
  id: string;
  name: string;
  /** Milliseconds since 1970. */
  at: number;
  aspect: string;
  /** `keyOf` the model that it was fitted to. */
  key: string;
  /** The name of that model, and of its adapter, for people. */
  model: string;
  readout: Readout;
}

/** Reads an exported readout; throws an `Error` whose message says what is wrong with it. */
export function readSaved(content: string, newId: () => string): Saved {
  let data: unknown;
  try {
    data = JSON.parse(content);
  } catch (thrown) {
    throw new Error(words.why.notJson((thrown as Error).message));
  }
  const saved = data as Partial<Saved> | null;
  if (saved?.format !== "retort.own-readout/1") throw new Error(words.why.format(String(saved?.format)));
  for (const field of ["name", "aspect", "key", "model"] as const) {
    if (typeof saved[field] !== "string" || saved[field] === "") throw new Error(words.why.field(field));
  }
  const readout = saved.readout as Partial<Readout> | undefined;
  if (typeof readout !== "object" || readout === null || readout.format !== "retort.readout/1") throw new Error(words.why.field("readout"));
  for (const field of ["width", "layer", "min", "max", "n", "blend", "lambda"] as const) {
    if (typeof readout[field] !== "number" || !Number.isFinite(readout[field])) throw new Error(words.why.field(`readout.${field}`));
  }
  const states = 2 * readout.width!;
  for (const [field, wanted] of [["weights", states + 1], ["mean", states], ["deviation", states]] as const) {
    const list: unknown = readout[field];
    if (!Array.isArray(list) || !list.every((one) => typeof one === "number" && Number.isFinite(one))) throw new Error(words.why.field(`readout.${field}`));
    if (list.length !== wanted) throw new Error(words.why.numbers(`readout.${field}`, list.length, wanted));
  }
  return { ...(saved as Saved), id: newId(), at: typeof saved.at === "number" ? saved.at : 0 };
}

/** What a saved readout is exported as. */
export function writeSaved(saved: Saved): string {
  return `${JSON.stringify(saved, null, 1)}\n`;
}
