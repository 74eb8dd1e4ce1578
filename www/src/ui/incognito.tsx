import "./incognito.css";
import { formatCount } from "../format";
import { incognito, notKept, setIncognito } from "../history";
import { announcement } from "../live";
import { hrefOf } from "../router";
import { historyText } from "../text/history";

const words = historyText.incognito;

/** The switch that keeps nothing, in sight on every screen; it also says when results could not be kept. */
export function Incognito() {
  const on = incognito.value;
  const missed = notKept.value;
  const turn = () => {
    setIncognito(!on);
    announcement.value = on ? words.announceOff : words.announceOn;
  };
  return (
    <div class="incognito" data-testid="incognito">
      <button type="button" class="incognito-switch" role="switch" aria-checked={on} title={words.hint} onClick={turn}>
        {words.label}<span class="incognito-track" aria-hidden="true" />
      </button>
      {on && <p class="on">{words.on}</p>}
      {!on && missed !== null && (
        <p class="trouble" role="status" data-testid="not-kept">
          {words.notKept(missed.why, formatCount(missed.count))} <a href={hrefOf("history")}>{words.see}</a>
        </p>
      )}
    </div>
  );
}
