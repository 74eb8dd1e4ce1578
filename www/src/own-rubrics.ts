/** Rubrics of a person's own beside the built-in ones: which are chosen, by what they are told apart, on what scales. All pure. */
import { scaleOf } from "./radar";
import type { Rubric, SkillId } from "./types";

/** As a record, so that none of the engine's ids can be missing. */
const SKILLS: Record<SkillId, true> = {
  logical_robustness: true, logical_correctness: true, logical_efficiency: true, factuality: true, commonsense_understanding: true, comprehension: true,
  insightfulness: true, completeness: true, metacognition: true, readability: true, conciseness: true, harmlessness: true,
};

/** Whether it is one of FLASK's twelve. The id decides, since no rubric of one's own has one of theirs; the ability does not, since any may name one. */
export function isSkill(id: string): id is SkillId {
  return Object.hasOwn(SKILLS, id);
}

/** The same rubrics under ids that none of the taken ones has, nor any two of them. The order decides which one keeps its own. */
export function apart(rubrics: Rubric[], taken: Iterable<string>): Rubric[] {
  const used = new Set(taken);
  return rubrics.map((rubric) => {
    let { id } = rubric;
    for (let count = 1; used.has(id); count++) id = `custom_${rubric.id}${count === 1 ? "" : `_${count}`}`;
    used.add(id);
    return id === rubric.id ? rubric : { ...rubric, id };
  });
}

/**
 * Own rubrics with further ones. A known id replaces that rubric, so that ids stay unique in a record; what is built in stays, and a
 * rubric with one of its ids gets another.
 */
export function withOwn(own: Rubric[], read: Rubric[], builtin: Rubric[]): { own: Rubric[]; fresh: Rubric[] } {
  const fresh = apart(read, builtin.map(({ id }) => id));
  const ids = new Set(fresh.map(({ id }) => id));
  return { own: [...own.filter(({ id }) => !ids.has(id)), ...fresh], fresh };
}

/** A file of the library as the engine reads it. */
export interface Shelved {
  id: string;
  title: string;
  reading: { kind: "waiting" } | { kind: "read"; rubrics: Rubric[] } | { kind: "unreadable"; message: string };
}

/** The ticked files of the library: by id the title that each had then. */
export type Ticked = Readonly<Record<string, string>>;

export function withTick(ticked: Ticked, { id, title }: Pick<Shelved, "id" | "title">, on: boolean): Ticked {
  const { [id]: _, ...rest } = ticked;
  return on ? { ...rest, [id]: title } : rest;
}

/** The rubrics of the ticked files, told apart from the taken ids and from each other. What cannot be read or is gone gives none. */
export function chosenOf(shelf: Shelved[], ticked: Ticked, taken: Iterable<string>): Rubric[] {
  return apart(shelf.flatMap(({ id, reading }) => (id in ticked && reading.kind === "read" ? reading.rubrics : [])), taken);
}

/** Titles of what was ticked and is no longer in the library. */
export function goneOf(shelf: Shelved[], ticked: Ticked): { id: string; title: string }[] {
  const there = new Set(shelf.map(({ id }) => id));
  return Object.entries(ticked).flatMap(([id, title]) => (there.has(id) ? [] : [{ id, title }]));
}

/** What each is called where several stand together: the name, with the id behind it where an earlier one has the same. */
export function labelsOf(rubrics: Pick<Rubric, "id" | "name">[]): string[] {
  const seen = new Set<string>();
  return rubrics.map(({ id, name }) => {
    const label = seen.has(name) ? `${name} (${id})` : name;
    seen.add(name);
    return label;
  });
}

export interface Scale {
  min: number;
  max: number;
  /** Which of the rubrics have it. */
  places: number[];
}

/** The rubrics by their scales, in the order in which they come: means and axes are of one scale only (P17). */
export function scalesOf(rubrics: Pick<Rubric, "options">[]): Scale[] {
  const scales: Scale[] = [];
  for (const [place, rubric] of rubrics.entries()) {
    const { min, max } = scaleOf(rubric);
    const known = scales.find((scale) => scale.min === min && scale.max === max);
    if (known) known.places.push(place);
    else scales.push({ min, max, places: [place] });
  }
  return scales;
}

/**
 * What a mean may be taken of: the skills with whatever shares their scale, or, where there are no skills, all rubrics if they have
 * one scale; else nothing, which is null. `leave`: ids that are in no mean.
 */
export function meanScale(rubrics: Pick<Rubric, "id" | "options">[], leave: string[]): Scale | null {
  const scales = scalesOf(rubrics)
    .map((scale) => ({ ...scale, places: scale.places.filter((place) => !leave.includes(rubrics[place]!.id)) }))
    .filter(({ places }) => places.length > 0);
  return scales.find(({ places }) => places.some((place) => isSkill(rubrics[place]!.id))) ?? (scales.length === 1 ? scales[0]! : null);
}
