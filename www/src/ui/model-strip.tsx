import type { EngineClient } from "../engine";
import { formatPercent } from "../format";
import { hrefOf } from "../router";
import { text } from "../text";

/** Which model judges, in one line: on every screen that does not show the model itself. */
export function ModelStrip({ engine }: { engine: EngineClient }) {
  const { model, adapter } = engine.still.value;
  const line =
    model.phase === "ready"
      ? text.strip.ready(model.info.model.name, text.model.backend[model.info.backend], adapter.applied?.title ?? null)
      : model.phase === "loading"
        ? text.strip.loading(model.name, text.model.stage[model.stage], model.total_bytes > 0 ? formatPercent(model.loaded_bytes / model.total_bytes) : null)
        : text.strip[model.phase];
  return (
    <p class="strip" data-testid="strip" data-phase={model.phase}>
      {line} <a href={hrefOf("models")}>{text.strip.change}</a>
    </p>
  );
}
