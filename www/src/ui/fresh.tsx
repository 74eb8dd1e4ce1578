import { fresh, takeFresh } from "../offline";
import { models } from "../text/models";

/** Says that a newer version of the page waits, and lets the person choose when. */
export function Fresh() {
  return (
    <div role="status" data-testid="fresh">
      {fresh.value && (
        <section class="note fresh">
          <p>{models.offline.fresh} <span class="hint">{models.offline.freshHint}</span></p>
          <button type="button" class="plain" onClick={takeFresh}>{models.offline.reload}</button>
        </section>
      )}
    </div>
  );
}
