import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { announcement } from "../../live";
import { compareText as words } from "../../text/compare";
import type { Entry } from "./work";
import type { Differences } from "./words";

/** With its library it is fetched as soon as this screen is, and not on the first press: whoever watches the network sees nothing then. */
const library = import("./words");
// Using it reports it; until then nobody waits for it.
library.catch(() => undefined);

/** More would take the browser long to lay out, and nobody reads so many. */
const MOST_PIECES = 1500;

/** The differences of any two texts; they are looked for when somebody asks. */
export function TextDifferences({ entries }: { entries: Entry[] }) {
  const from = useSignal(entries[0]?.id ?? "");
  const to = useSignal(entries[1]?.id ?? "");
  const found = useSignal<{ from: string; to: string; differences: Differences } | "looking" | { problem: string } | null>(null);
  const turn = useRef(0);
  useEffect(() => () => void (turn.current += 1), []);

  const look = async () => {
    const mine = ++turn.current;
    const [first, second] = [from.value, to.value];
    const textOf = (id: string) => entries.find((entry) => entry.id === id)?.text ?? "";
    found.value = "looking";
    try {
      const { differencesOf } = await library;
      const differences = await differencesOf(textOf(first), textOf(second));
      if (mine !== turn.current) return;
      found.value = { from: first, to: second, differences };
      announcement.value = summary(first, second, differences);
    } catch (thrown) {
      if (mine === turn.current) found.value = { problem: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  };
  const choose = (side: typeof from, id: string) => {
    const other = side === from ? to : from;
    // The same twice says nothing: the other side takes what this one had.
    if (other.value === id) other.value = side.value;
    side.value = id;
    if (found.value !== null) void look();
  };
  const now = found.value;
  return (
    <section class="part" aria-labelledby="cmp-differences-heading" data-testid="cmp-differences">
      <h3 id="cmp-differences-heading">{words.differences}</h3>
      <div class="cmp-pick">
        {([["from", from], ["to", to]] as const).map(([name, side]) => (
          <label key={name}>
            {words[name]}
            <select value={side.value} onChange={(event) => choose(side, event.currentTarget.value)}>
              {entries.map(({ id }) => <option key={id} value={id}>{words.response(id)}</option>)}
            </select>
          </label>
        ))}
        {now === null && <button type="button" class="plain" onClick={() => void look()}>{words.show}</button>}
      </div>
      {now === "looking" && <p class="hint">{words.comparing}</p>}
      {now !== null && now !== "looking" && ("problem" in now ? <p class="note">{words.failed(now.problem)}</p> : <Marked {...now} />)}
    </section>
  );
}

function summary(from: string, to: string, { removed, added, pieces }: Differences): string {
  return pieces.every(({ kind }) => kind === "same") ? words.identical : words.differ(removed, added, from, to);
}

function Marked({ from, to, differences }: { from: string; to: string; differences: Differences }) {
  const { pieces, coarse } = differences;
  return (
    <>
      <p data-testid="cmp-differ">{summary(from, to, differences)} {coarse && words.coarse}</p>
      <p class="hint cmp-keys" aria-hidden="true"><del>{words.legendRemoved(from)}</del> <ins>{words.legendAdded(to)}</ins></p>
      <div class="judged-box" tabIndex={0} role="region" aria-label={words.text(from, to)} dir="auto" data-testid="cmp-marked">
        {pieces.slice(0, MOST_PIECES).map(({ kind, text }, i) =>
          kind === "same" ? <span key={i}>{text}</span>
          : kind === "removed" ? <del key={i}><span class="unseen"> {words.removedMark} </span>{text}<span class="unseen"> {words.endMark} </span></del>
          : <ins key={i}><span class="unseen"> {words.addedMark} </span>{text}<span class="unseen"> {words.endMark} </span></ins>,
        )}
      </div>
      {pieces.length > MOST_PIECES && <p class="note">{words.cut}</p>}
    </>
  );
}
