/** The words that spoke for a skill, a domain or a difficulty, in an order for reading. Pure. */
import type { Annotation, AnnotationEvidence, Vocabulary } from "./types";

export interface Reason {
  /** As they stand in the prompt, or a property of the whole. */
  words: string;
  /** Whether they stand in the prompt. */
  quoted: boolean;
  /** How the sentence goes on: "asks for a summary". */
  reason: string;
}

export interface Reasons {
  part: AnnotationEvidence["for"];
  /** As people call it; "" for the difficulty. */
  name: string;
  reasons: Reason[];
}

/** So many are named for one thing, the weightiest; more would be read by nobody. */
const MOST = 6;
const LONGEST = 60;

/** In the annotation's order: skills, domains, difficulty. */
export function reasonsOf({ skills, domains }: Annotation, evidence: AnnotationEvidence[], vocabulary: Vocabulary): Reasons[] {
  const groups = new Map<string, Reasons>();
  for (const piece of evidence) {
    const name = nameOf(piece, vocabulary);
    const key = `${piece.for} ${name}`;
    const group = groups.get(key) ?? { part: piece.for, name, reasons: [] };
    groups.set(key, group);
    const plain = piece.words.replaceAll(/\s+/g, " ").trim();
    const words = plain.length > LONGEST ? `${plain.slice(0, LONGEST).trimEnd()}…` : plain;
    const known = group.reasons.some((one) => one.words === words && one.reason === piece.reason);
    if (words === "" || known || group.reasons.length === MOST) continue;
    group.reasons.push({ words, quoted: piece.range.start < piece.range.end, reason: piece.reason });
  }
  const named = [
    ...skills.map((id) => vocabulary.skills.find((skill) => skill.id === id)?.name),
    ...domains.map(({ domain }) => vocabulary.domains.find(({ id }) => id === domain)?.name),
    "",
  ];
  return [...groups.values()].filter((group) => group.reasons.length > 0).sort((a, b) => named.indexOf(a.name) - named.indexOf(b.name));
}

function nameOf(piece: AnnotationEvidence, { skills, domains }: Vocabulary): string {
  switch (piece.for) {
    case "skill":
      return skills.find(({ id }) => id === piece.what)?.name ?? piece.what;
    case "domain":
      return domains.find(({ id }) => id === piece.what.domain)?.name ?? piece.what.domain;
    case "difficulty":
      return "";
  }
}
