import "./own-rubrics.css";
import { useEffect } from "preact/hooks";
import type { EngineClient } from "../engine";
import { goneOf, withTick, type Shelved, type Ticked } from "../own-rubrics";
import { scaleOf } from "../radar";
import { hrefOf } from "../router";
import { shelf, watchShelf } from "../shelf";
import { text } from "../text";

const words = text.own;

/** What a file holds, where its title does not say it all; null where it does. */
function contentOf({ title, reading }: Shelved): string | null {
  if (reading.kind !== "read") return null;
  const named = reading.rubrics.map((rubric) => {
    const { min, max } = scaleOf(rubric);
    return min === 1 && max === 5 ? rubric.name : words.scaled(rubric.name, String(min), String(max));
  });
  return named.length === 1 && named[0] === title ? null : words.holds(named);
}

/** The rubrics of a person's own, beside the built-in skills. `id` begins the ids of its elements. */
export function OwnRubrics({ engine, id, ticked, onChange }: { engine: EngineClient; id: string; ticked: Ticked; onChange: (ticked: Ticked) => void }) {
  useEffect(() => watchShelf(engine), []);
  const files = shelf.value;
  return (
    <fieldset class="own-rubrics" data-testid="own-rubrics">
      <legend>{words.legend}</legend>
      {files.length === 0 && <p class="hint">{words.none} <a href={hrefOf("rubrics")}>{words.write}</a></p>}
      {files.map((file) => {
        const bad = file.reading.kind === "unreadable";
        const content = contentOf(file);
        const about = `${id}-${file.id}`;
        const described = bad || content !== null ? { "aria-describedby": about } : {};
        return (
          <div key={file.id}>
            <div class="skill">
              <label>
                <input type="checkbox" checked={!bad && file.id in ticked} disabled={bad} {...described} onChange={(event) => onChange(withTick(ticked, file, event.currentTarget.checked))} />
                <span dir="auto">{file.title}</span>
              </label>
            </div>
            {file.reading.kind === "unreadable" ? <p class="field-error" id={about}>{words.unreadable(file.reading.message)}</p>
              : content !== null && <p class="hint" id={about} dir="auto">{content}</p>}
          </div>
        );
      })}
      {goneOf(files, ticked).map((gone) => (
        <p class="hint" key={gone.id}>
          {words.gone(gone.title)} <button type="button" class="link" onClick={() => onChange(withTick(ticked, gone, false))}>{words.forget}</button>
        </p>
      ))}
    </fieldset>
  );
}
