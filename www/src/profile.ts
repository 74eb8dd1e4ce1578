/** How the loaded model wants to be asked. Pure. */
import type { State } from "./state";
import type { WrittenForm } from "./types";
import { FORMS, type Profile } from "./worker/names";

/** Public judges by what their files are called. */
const CALLED: [RegExp, WrittenForm][] = [
  [/prometheus/i, "prometheus"],
  [/flow[-_ ]?judge/i, "flow_judge"],
  [/selene/i, "selene"],
  [/glider/i, "glider"],
];

/** The form in which a judge of this name writes; null where the name says nothing. */
export function formOfName(name: string): WrittenForm | null {
  return CALLED.find(([called]) => called.test(name))?.[1] ?? null;
}

export function isForm(profile: Profile | null): profile is WrittenForm {
  return FORMS.some((form) => form === profile);
}

/**
 * A head of its own is what the file itself says, and such a file cannot be asked otherwise. Else it is what the person chose, what whoever
 * offered the file said and was stored with it, or what its name says; everything else is asked by options. Null where nothing is loaded.
 */
export function profileOf({ model, asked_by }: Pick<State, "model" | "asked_by">): Profile | null {
  if (model.phase !== "ready") return null;
  const { head, name } = model.info.model;
  if (head !== null) return "head";
  if (asked_by !== null) return asked_by;
  // A head that the file turns out not to have cannot be asked.
  const said = model.profile === "head" ? null : model.profile;
  return said ?? formOfName(name) ?? "options";
}
