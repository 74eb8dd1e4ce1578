/** From passages of a prompt to the words that spoke for a skill, a domain or a difficulty. Pure. */
import type { Annotated, Vocabulary } from "./types";

export interface About {
  part: "skill" | "domain" | "difficulty" | "other";
  /** As people call it; "" for the difficulty. */
  name: string;
}

/** So many words are named for one thing; more would be read by nobody. */
const MOST_WORDS = 6;
const LONGEST = 60;

export function evidenceWords(
  prompt: string,
  evidence: Annotated["evidence"],
  vocabulary: Vocabulary,
): { about: About; words: string[] }[] {
  const groups = new Map<string, { about: About; words: string[] }>();
  for (const { start, end, for_what } of evidence) {
    const passage = prompt.slice(start, end).replaceAll(/\s+/g, " ").trim();
    if (passage === "") continue;
    const words = passage.length > LONGEST ? `${passage.slice(0, LONGEST).trimEnd()}…` : passage;
    const about = aboutOf(for_what, vocabulary);
    const key = `${about.part} ${about.name}`;
    const group = groups.get(key) ?? { about, words: [] };
    groups.set(key, group);
    if (group.words.length < MOST_WORDS && !group.words.includes(words)) group.words.push(words);
  }
  const order: About["part"][] = ["skill", "domain", "difficulty", "other"];
  return [...groups.values()].sort((a, b) => order.indexOf(a.about.part) - order.indexOf(b.about.part));
}

function aboutOf(for_what: string, vocabulary: Vocabulary): About {
  const is = (one: { id: string; name: string }) => one.id === for_what || one.name === for_what;
  const skill = vocabulary.skills.find(is);
  if (skill) return { part: "skill", name: skill.name };
  const domain = vocabulary.domains.find(is);
  if (domain) return { part: "domain", name: domain.name };
  if (for_what === "difficulty" || vocabulary.difficulties.some(is)) return { part: "difficulty", name: "" };
  return { part: "other", name: for_what };
}
