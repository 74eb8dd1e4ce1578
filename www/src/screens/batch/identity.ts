/** What a batch's results depend on, so that results of different judges are never mixed (P31). Pure. */
import { isSkill } from "../../own-rubrics";
import type { EngineInfo, Rubric } from "../../types";
import { OVERALL } from "./rows";
import type { Identity } from "./types";

export function identityOf(info: EngineInfo, asked: string, engine: string, rubrics: Rubric[]): Identity {
  const { model, adapter } = info;
  return {
    engine,
    // A file of one's own has no known hash: its name and size stand for it.
    model: model.sha256 ?? `${model.name} (${model.file_bytes} bytes)`,
    adapter: adapter === null ? "" : `${adapter.sha256 ?? adapter.name} x${adapter.strength}`,
    asked,
    rubrics: JSON.stringify(rubrics),
  };
}

/** What this page would ask today in place of a batch's rubrics: the built-in ones as they are now, own ones as the batch has kept them. */
export function askedToday(kept: Rubric[], builtin: Rubric[]): Rubric[] {
  const now = new Map(builtin.map((rubric) => [rubric.id, rubric]));
  return kept.flatMap((rubric) => (isSkill(rubric.id) || rubric.id === OVERALL ? (now.get(rubric.id) ?? []) : rubric));
}

const PARTS: (keyof Identity)[] = ["model", "adapter", "asked", "rubrics", "engine"];

export function differences(a: Identity, b: Identity): (keyof Identity)[] {
  return PARTS.filter((part) => a[part] !== b[part]);
}
