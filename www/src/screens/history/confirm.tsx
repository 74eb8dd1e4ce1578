import "./confirm.css";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { historyText as words } from "../../text/history";

/** A button that asks before it does what cannot be undone; the answer that changes nothing has the focus. */
export function Confirm({ label, question, onYes }: { label: string; question: string; onYes: () => void | Promise<void> }) {
  const asking = useSignal(false);
  const first = useRef<HTMLButtonElement>(null);
  const no = useRef<HTMLButtonElement>(null);
  const was = useRef(false);
  // At once, not after the next frame: an Escape that follows quickly must find the focus in here.
  useLayoutEffect(() => {
    if (asking.value) no.current?.focus();
    else if (was.current) first.current?.focus();
    was.current = asking.value;
  }, [asking.value]);
  if (!asking.value) return <div class="buttons"><button type="button" class="plain" ref={first} onClick={() => (asking.value = true)}>{label}</button></div>;
  return (
    <div class="confirm" role="alertdialog" aria-label={label} onKeyDown={(event) => {
      if (event.key === "Escape") asking.value = false;
    }}>
      <p>{question}</p>
      <div class="buttons">
        <button type="button" class="plain" ref={no} onClick={() => (asking.value = false)}>{words.keepThem}</button>
        <button type="button" class="plain danger" onClick={() => {
          asking.value = false;
          void onYes();
        }}>{words.reallyDelete}</button>
      </div>
    </div>
  );
}
