import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { rubricsText as words } from "../../text/rubrics";
import type { Rubric } from "../../types";
import { edited, idOf, withLevel, withOption, withOptional } from "./draft";

interface Props {
  rubrics: Rubric[];
  onChange: (rubrics: Rubric[]) => void;
}

/** The rubrics of one file, field by field. */
export function RubricForm({ rubrics, onChange }: Props) {
  const another = () => {
    const name = words.example.rubric.name;
    onChange([...rubrics, newRubric(name, rubrics.map(({ id }) => id))]);
  };
  return (
    <div class="rubrics-form" data-testid="rubric-form">
      {rubrics.map((rubric, at) => (
        <One key={at} rubric={rubric} place={at} onChange={(next) => onChange(edited(rubrics, at, next))}
          {...(rubrics.length > 1 && { onRemove: () => onChange(rubrics.filter((_, place) => place !== at)) })} onReplace={(next) => onChange(rubrics.map((one, place) => (place === at ? next : one)))} />
      ))}
      <button type="button" class="link" onClick={another}>{words.form.add}</button>
    </div>
  );
}

export function newRubric(name: string, taken: string[]): Rubric {
  const { criterion, levels } = words.example.rubric;
  return {
    id: idOf(name, taken), name, ability: null, criterion, question: null,
    options: levels.map((description, place) => ({ label: String(place + 1), value: place + 1, description })),
  };
}

function One({ rubric, place, onChange, onReplace, onRemove }: {
  rubric: Rubric;
  place: number;
  onChange: (part: Partial<Rubric>) => void;
  onReplace: (rubric: Rubric) => void;
  onRemove?: () => void;
}) {
  const id = (field: string) => `rubric-${place}-${field}`;
  return (
    <fieldset class="rubrics-one">
      <legend dir="auto">{words.form.which(rubric.name)}</legend>
      <Line id={id("name")} label={words.form.name} value={rubric.name} onChange={(name) => onChange({ name })} />
      <Area id={id("criterion")} label={words.form.criterion} hint={words.form.criterionHint} value={rubric.criterion} rows={4} onChange={(criterion) => onChange({ criterion })} />
      <Area id={id("question")} label={words.form.question} hint={words.form.questionHint} value={rubric.question ?? ""} rows={2}
        onChange={(question) => onChange({ question: question.trim() === "" ? null : question })} />
      <Line id={id("weight")} label={words.form.weight} hint={words.form.weightHint} value={rubric.weight === undefined ? "" : String(rubric.weight)} numeric
        onChange={(weight) => onReplace(withOptional(rubric, "weight", weight))} />
      <Area id={id("na")} label={words.form.notApplicable} hint={words.form.notApplicableHint} value={rubric.not_applicable ?? ""} rows={2}
        onChange={(condition) => onReplace(withOptional(rubric, "not_applicable", condition))} />
      <p class="rubrics-levels-head" id={id("levels")}>{words.form.levels}</p>
      <ol class="rubrics-levels" aria-labelledby={id("levels")}>
        {rubric.options.map((option, at) => (
          <li key={at}>
            <Line id={id(`label-${at}`)} label={words.form.label} value={option.label} onChange={(label) => onReplace(withOption(rubric, at, { label }))} />
            <Line id={id(`value-${at}`)} label={words.form.value} value={String(option.value)} numeric
              onChange={(value) => value.trim() !== "" && Number.isFinite(Number(value)) && onReplace(withOption(rubric, at, { value: Number(value) }))} />
            <Area id={id(`description-${at}`)} label={words.form.description} value={option.description ?? ""} rows={2}
              onChange={(description) => onReplace(withOption(rubric, at, { description: description.trim() === "" ? null : description }))} />
            <details class="rubrics-examples">
              <summary>{words.form.examples}</summary>
              <Examples id={id(`examples-${at}`)} examples={option.examples ?? []} onChange={(examples) => {
                const { examples: _, ...rest } = option;
                onReplace({ ...rubric, options: rubric.options.map((one, i) => (i === at ? { ...rest, ...(examples.length > 0 && { examples }) } : one)) });
              }} />
            </details>
            {rubric.options.length > 2 && (
              <button type="button" class="link" onClick={() => onReplace({ ...rubric, options: rubric.options.filter((_, i) => i !== at) })}>{words.form.removeLevel(option.label)}</button>
            )}
          </li>
        ))}
      </ol>
      <div class="buttons">
        <button type="button" class="plain" onClick={() => onReplace(withLevel(rubric))}>{words.form.addLevel}</button>
        {onRemove && <button type="button" class="link" onClick={onRemove}>{words.form.removeRubric(rubric.name)}</button>}
      </div>
    </fieldset>
  );
}

interface FieldProps {
  id: string;
  label: string;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
}

/** What is typed stays as it is while it stands for what the rubric has: "1." and "-" are on their way to a number. */
function useTyped(value: string, numeric: boolean) {
  const typed = useSignal(value);
  useEffect(() => {
    const same = numeric ? Number(typed.value) === Number(value) && (typed.value.trim() === "") === (value === "") : typed.value === value;
    if (!same && !(numeric && typed.value.trim() !== "" && !Number.isFinite(Number(typed.value)))) typed.value = value;
  }, [value]);
  return typed;
}

function Line({ id, label, hint, value, numeric = false, onChange }: FieldProps & { numeric?: boolean }) {
  const typed = useTyped(value, numeric);
  const bad = numeric && typed.value.trim() !== "" && !Number.isFinite(Number(typed.value));
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="text" inputMode={numeric ? "decimal" : undefined} dir={numeric ? undefined : "auto"} autocomplete="off" value={typed.value} aria-invalid={bad ? "true" : undefined}
        aria-describedby={hint ? `${id}-hint` : undefined} onInput={(event) => {
          typed.value = event.currentTarget.value;
          if (!numeric || Number.isFinite(Number(typed.value))) onChange(typed.value);
        }} />
      {hint && <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

function Area({ id, label, hint, value, rows, onChange }: FieldProps & { rows: number }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} rows={rows} dir="auto" value={value} aria-describedby={hint ? `${id}-hint` : undefined} onInput={(event) => onChange(event.currentTarget.value)} />
      {hint && <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

/** One example per line; a line that is still empty is none yet. */
function Examples({ id, examples, onChange }: { id: string; examples: string[]; onChange: (examples: string[]) => void }) {
  const of = (content: string) => content.split("\n").filter((line) => line.trim() !== "");
  const typed = useSignal(examples.join("\n"));
  useEffect(() => {
    if (JSON.stringify(of(typed.value)) !== JSON.stringify(examples)) typed.value = examples.join("\n");
  }, [JSON.stringify(examples)]);
  if (examples.some((example) => example.includes("\n"))) return <p class="hint">{words.form.examplesLong}</p>;
  return (
    <Area id={id} label={words.form.examples} hint={words.form.examplesHint} value={typed.value} rows={2} onChange={(content) => {
      typed.value = content;
      onChange(of(content));
    }} />
  );
}
