/** Which column has which part of a row, and what a row asks for. All pure. */
import type { Annotation, ColumnRole, DifficultyId, DomainLabel, Rubric, SkillId, Table, Vocabulary } from "../../types";
import type { Mapping, Settings } from "./types";

/** The parts that a batch has a use for, in the order in which they are asked. */
export const ROLES: readonly ColumnRole[] = ["prompt", "response", "reference", "system", "id", "human", "model", "domain", "difficulty", "skills"];

/** Of these, what a model with a head of its own has a use for: it reads prompt and response, and nothing else. */
export const HEAD_ROLES: readonly ColumnRole[] = ["prompt", "response", "system", "id", "human"];

/** What was chosen before for the same columns, else what the table itself suggests; never a column that is not there. */
export function mappingOf(table: Pick<Table, "columns" | "roles">, remembered: Mapping | null): Mapping {
  const chosen = remembered ?? table.roles;
  const there = Object.entries(chosen).filter(([role, column]) => (ROLES as string[]).includes(role) && table.columns.includes(column));
  return Object.fromEntries(there) as Mapping;
}

/** Files with the same columns, in whichever order, are of one kind. */
export function columnsKey(columns: string[]): string {
  return JSON.stringify([...columns].sort());
}

export function cell(columns: string[], values: (string | null)[], column: string | undefined): string | null {
  const at = column === undefined ? -1 : columns.indexOf(column);
  return at < 0 ? null : (values[at] ?? null);
}

const bare = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "_").replaceAll(/^_|_$/g, "");

/** Case, spaces and marks between words make no difference. */
const squeezed = (name: string) => name.normalize("NFC").toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");

const BEFORE = /^(human|label|gold|score|rating)[_ .-]+/i;
const BEHIND = /[_ .-]+(human|label|gold|score|rating)$/i;

/** Columns that seem to hold a person's score of one rubric: "score.readability", "Read Ability", "human_readability"; `leave` are none. */
export function humanBySkill(columns: string[], rubrics: Pick<Rubric, "id" | "name">[], leave: string[] = []): Record<string, string> {
  // No column is two rubrics' at once: of two with the same name the first has it.
  const free = new Set(columns.filter((column) => !leave.includes(column)));
  const found: Record<string, string> = {};
  for (const { id, name } of rubrics) {
    const wanted = new Set([squeezed(id), squeezed(name)].filter((one) => one !== ""));
    const fits = [...free].find((column) => {
      const parts = [column, column.split(".").at(-1)!, column.replace(BEFORE, ""), column.replace(BEHIND, "")];
      return parts.some((part) => wanted.has(squeezed(part)));
    });
    if (fits === undefined) continue;
    found[id] = fits;
    free.delete(fits);
  }
  return found;
}

/** Which column holds a person's score of which rubric: as a person chose ("" for none), else as the names suggest. */
export function humanColumns(columns: string[], rubrics: Pick<Rubric, "id" | "name">[], { mapping, human_by_skill }: Pick<Settings, "mapping" | "human_by_skill">): Record<string, string> {
  const { human: _, ...others } = mapping;
  const guessed = humanBySkill(columns, rubrics, Object.values(others));
  const chosen = rubrics.flatMap(({ id }) => {
    const column = human_by_skill[id] ?? guessed[id] ?? "";
    return columns.includes(column) ? [[id, column] as const] : [];
  });
  return Object.fromEntries(chosen);
}

/** A number as people write one in a file; null for what is none, such as "N/A" (never 0). */
export function numberOf(value: string | null): number | null {
  const trimmed = value?.trim() ?? "";
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed)) return null;
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : null;
}

/** The names in a cell: a JSON list, or names with commas, semicolons or bars between them. */
export function namesOf(value: string | null): string[] {
  const given = value?.trim() ?? "";
  if (given.startsWith("[")) {
    try {
      const list: unknown = JSON.parse(given);
      if (Array.isArray(list)) return list.filter((name): name is string => typeof name === "string");
    } catch {
      // Then it is a text that begins with a bracket.
    }
  }
  return given.split(/[,;|]/).map((name) => name.trim()).filter((name) => name !== "");
}

/** What the file itself says that a prompt asks for; parts that it does not say, or not in FLASK's words, are left out. */
export function annotationIn(columns: string[], values: (string | null)[], mapping: Mapping, vocabulary: Vocabulary): Annotation | null {
  const pick = <T extends { id: string; name: string }>(known: T[], name: string) => known.find((one) => bare(one.id) === bare(name) || bare(one.name) === bare(name));
  const listed = (role: ColumnRole) => namesOf(cell(columns, values, mapping[role]));
  const skills = listed("skills").flatMap((name) => pick(vocabulary.skills, name)?.id ?? []);
  const domains = listed("domain").flatMap((name): DomainLabel[] => {
    const domain = pick(vocabulary.domains, name);
    return domain ? [{ domain: domain.id, subdomain: null }] : [];
  });
  const said = cell(columns, values, mapping.difficulty)?.trim() ?? "";
  const difficulty = vocabulary.difficulties.find((one) => String(one.level) === said || bare(one.id) === bare(said) || bare(one.name) === bare(said))?.id ?? null;
  if (skills.length + domains.length === 0 && difficulty === null) return null;
  return { skills: [...new Set<SkillId>(skills)], domains, difficulty: difficulty as DifficultyId | null, by: "file" };
}

/** What the file says goes before what was read from the words. */
export function merged(file: Annotation | null, words: Annotation | null): Annotation | null {
  if (file === null || words === null) return file ?? words;
  return {
    skills: file.skills.length > 0 ? file.skills : words.skills,
    domains: file.domains.length > 0 ? file.domains : words.domains,
    difficulty: file.difficulty ?? words.difficulty,
    by: "file",
  };
}
