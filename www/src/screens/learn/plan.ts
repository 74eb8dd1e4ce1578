/** What a lesson asks of the engine, from its texts. All pure. */
import type { State } from "../../state";
import type { ChecklistRequest, CompareRequest, JudgeRequest, Rubric } from "../../types";
import type { Fields } from "./fields";
import type { Arm, Lesson } from "./lesson";

export interface JudgeStep {
  kind: "judge";
  /** The arm's name. */
  name: string;
  /** How many answers it takes. */
  answers: number;
  request: JudgeRequest;
}

export type Step =
  | JudgeStep
  | { kind: "compare"; answers: number; request: CompareRequest }
  /** The checklist comes first; how many answers it takes is not known before. */
  | { kind: "checklist"; answers: number; request: ChecklistRequest; response: string };

/** In the order in which they are asked. `engine` is a state in which a model is ready. */
export function stepsOf(lesson: Lesson, fields: Fields, { builtin, overall }: Pick<State, "builtin" | "overall">): Step[] {
  const at = (name: string) => fields[name] ?? "";
  const whole = overall === null ? [] : [overall];
  const judge = (name: string, request: JudgeRequest): Step => ({ kind: "judge", name, answers: request.rubrics.length, request });
  const { experiment } = lesson;
  switch (experiment.kind) {
    case "scores": {
      const { skills } = experiment;
      const chosen = skills === "all" ? builtin : skills.flatMap((skill) => builtin.filter(({ id }) => id === skill));
      return experiment.arms.map((arm) => {
        const rubrics = experiment.rubric ? [rubricOf(experiment.rubric, arm, fields)] : [...chosen, ...(experiment.overall ? whole : [])];
        return judge(arm.name, { prompt: at(arm.prompt), response: at(arm.response), ...(arm.reference && { reference: at(arm.reference) }), rubrics });
      });
    }
    case "compare":
      return [{ kind: "compare", answers: 2, request: { prompt: at(experiment.prompt), responses: [at(experiment.first), at(experiment.second)] } }];
    case "checklist":
      return [{ kind: "checklist", answers: 1, request: { instruction: at(experiment.prompt), skills: [], form: "full" }, response: at(experiment.response) }];
    case "ratings":
      return experiment.answers.map((name) => judge(name, { prompt: at(experiment.question), response: at(name), rubrics: whole }));
    case "calibration":
      return [judge("", { prompt: at(experiment.prompt), response: at(experiment.response), rubrics: whole })];
  }
}

function rubricOf(original: Rubric, arm: Arm, fields: Fields): Rubric {
  if (arm.rubric !== "edited") return original;
  return {
    ...original,
    criterion: fields["criterion"] ?? original.criterion,
    options: original.options.map((option) => ({ ...option, description: fields[`level-${option.label}`] ?? option.description })),
  };
}
