import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { directionOf, LONG_TEXT } from "../direction";
import { formatCount } from "../format";
import { text } from "../text";

interface Props {
  id: string;
  label: string;
  hint: string;
  rows: number;
  field: RefObject<HTMLTextAreaElement | null>;
  error: string | null;
  optional?: boolean;
  onEdit: () => void;
  /** Buttons beside the label. */
  children?: ComponentChildren;
}

/** The textarea keeps its own text, so that a very long paste is not copied on every key. */
export function Field({ id, label, hint, rows, field, error, optional, onEdit, children }: Props) {
  const length = useSignal(0);
  const turn = (area: HTMLTextAreaElement, dir: string) => {
    if (area.dir !== dir) area.dir = dir;
  };
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>
          {label}
          {optional && <span class="optional"> {text.input.optional}</span>}
        </label>
        {length.value > 0 && <span class="count">{text.input.characters(length.value, formatCount(length.value))}</span>}
        {children}
      </div>
      <textarea id={id} ref={field} rows={rows} dir="auto" spellcheck={false} autocomplete="off"
        aria-describedby={error ? `${id}-error` : `${id}-hint`} aria-invalid={error ? "true" : undefined}
        onBeforeInput={(event) => {
          // Before a long paste is laid out, not after it.
          const put = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
          if (put.length > LONG_TEXT) turn(event.currentTarget, directionOf(put));
        }}
        onInput={(event) => {
          const area = event.currentTarget;
          length.value = area.value.length;
          turn(area, directionOf(area.value));
          onEdit();
        }} />
      {error ? <p class="field-error" id={`${id}-error`}>{error}</p> : <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}
