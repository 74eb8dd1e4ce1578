import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { lastAnswer, partsOf, type Chat, type Parts } from "../chat";
import { text } from "../text";

/** A conversation that was found in a field. */
export interface Found {
  field: "prompt" | "response";
  chat: Chat;
}

interface Props {
  found: Found;
  /** What the fields hold that is not empty, besides the one that holds the conversation. */
  filled: { system: boolean; prompt: boolean; response: boolean };
  onUse: (parts: Parts) => void;
  onKeep: () => void;
}

/** Shows the turns and offers to divide them; the person decides. */
export function ChatOffer({ found, filled, onUse, onKeep }: Props) {
  const { chat, field } = found;
  const last = lastAnswer(chat);
  const ends = chat.turns.at(-1)?.role === "assistant";
  const judged = useSignal<number | null>(field === "response" || ends || !filled.response ? last : null);
  const parts = partsOf(chat, judged.value);
  const answers = chat.turns.flatMap((turn, i) => (turn.role === "assistant" && turn.text !== "" ? [{ turn, i }] : []));
  const replaced = [
    ...(filled.prompt && field !== "prompt" ? [text.input.prompt] : []),
    ...(filled.response && field !== "response" && parts.response !== null ? [text.input.response] : []),
    ...(filled.system && parts.system !== "" ? [text.input.system] : []),
  ];
  return (
    <section class="judge-chat" aria-labelledby="judge-chat-heading" data-testid="chat-offer">
      <h3 id="judge-chat-heading">{text.chat.heading(chat.turns.length)}</h3>
      <Turns chat={chat} judged={judged.value} />
      <label class="stacked">
        {text.chat.pick}
        <select value={judged.value === null ? "" : String(judged.value)}
          onChange={(event) => (judged.value = event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}>
          {answers.map(({ turn, i }) => <option key={i} value={String(i)}>{text.chat.turn(i + 1, clipped(turn.text, 50))}</option>)}
          {field === "prompt" && <option value="">{text.chat.none}</option>}
        </select>
      </label>
      <p class="hint">
        {judged.value !== null && text.chat.what} {parts.system !== "" && text.chat.system} {chat.left_out > 0 && text.chat.leftOut(chat.left_out)}
      </p>
      {replaced.length > 0 && <p class="note">{text.chat.replaces(replaced.join(", "))}</p>}
      <div class="buttons">
        <button type="button" class="plain" onClick={() => onUse(parts)}>{text.chat.use}</button>
        <button type="button" class="link" onClick={onKeep}>{text.chat.keep}</button>
      </div>
    </section>
  );
}

/** How a prompt of several turns is understood, where nothing has to be decided. */
export function ChatShown({ chat }: { chat: Chat }) {
  return (
    <details class="more judge-chat-shown" data-testid="chat-shown">
      <summary>{text.chat.shown(chat.turns.length)}</summary>
      <Turns chat={chat} judged={null} />
    </details>
  );
}

/** The first and the last so many turns are shown. */
const SHOWN = 8;

function Turns({ chat, judged }: { chat: Chat; judged: number | null }) {
  const { turns } = chat;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Only the box is moved: the chosen turn is mostly the last one.
    const chosen = box.current?.querySelector<HTMLElement>(".judged-turn");
    if (box.current && chosen) box.current.scrollTop = chosen.offsetTop - box.current.clientHeight / 3;
  }, [judged]);
  const hidden = turns.length > 2 * SHOWN ? turns.length - 2 * SHOWN : 0;
  return (
    <div class="judge-turns" ref={box} tabIndex={0} role="region" aria-label={text.chat.turns}>
      {chat.before !== "" && <p><strong>{text.chat.before}</strong> <span dir="auto">{clipped(chat.before, 300)}</span></p>}
      <ol>
        {turns.map((turn, i) => {
          if (hidden > 0 && i >= SHOWN && i < turns.length - SHOWN) return i === SHOWN ? <li key={i} class="hint">{text.chat.more(hidden)}</li> : null;
          return (
            <li key={i} value={i + 1} class={i === judged ? "judged-turn" : ""} data-role={turn.role} data-testid="turn">
              <strong>{text.chat.role[turn.role]}</strong>
              {i === judged && <span class="judge-tag">{text.chat.judged}</span>}
              {judged !== null && i > judged && <span class="judge-tag">{text.chat.unused}</span>}
              <span class="judge-turn-text" dir="auto">{clipped(turn.text, 400)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function clipped(words: string, most: number): string {
  return words.length > most ? `${words.slice(0, most).trimEnd()}…` : words;
}
