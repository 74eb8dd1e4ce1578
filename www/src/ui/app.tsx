import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { EngineClient } from "../engine";
import { formatBytes, formatPercent } from "../format";
import { announcement } from "../live";
import { kept, keptRequests } from "../offline";
import { pageRequests, refusedRequests } from "../requests";
import { HOME, hrefOf, route } from "../router";
import { SCREENS, type Screen, type ScreenName, type ScreenProps } from "../screens";
import { progressOf, shareArrived, standingOf } from "../standing";
import { appliedOffer } from "../state";
import { text } from "../text";
import { models as modelWords } from "../text/models";
import { ErrorPanel } from "./errors";
import { Fresh } from "./fresh";
import { Incognito } from "./incognito";
import { ModelStrip } from "./model-strip";

/** The frame around every screen. */
export function App({ engine }: { engine: EngineClient }) {
  const { version } = engine.still.value;
  const shown = SCREENS.find(({ name }) => name === route.value.screen) ?? null;
  useAnnouncements(engine);
  useTitle(shown?.name ?? null);
  return (
    <>
      <a class="skip" href={shown?.name === "judge" ? "#prompt" : "#screen"} onClick={stay}>{shown?.name === "judge" ? text.skipInput : text.skipScreen}</a>
      {shown?.name === "judge" && <a class="skip" href="#results" onClick={stay}>{text.skip}</a>}
      <header class="masthead">
        <Mark />
        <div>
          <h1>{text.name}</h1>
          <p>{text.tagline}</p>
        </div>
        <Incognito />
      </header>
      <nav class="screens" aria-label={text.nav}>
        <ul>
          {SCREENS.map(({ name }) => (
            <li key={name}>
              <a href={hrefOf(name)} aria-current={name === shown?.name ? "page" : undefined}>{text.screens[name]}</a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="screen" tabIndex={-1}>
        <Fresh />
        <ErrorPanel engine={engine} />
        {shown !== null && shown.name !== "judge" && shown.name !== "models" && <ModelStrip engine={engine} />}
        <Visited engine={engine} shown={shown?.name ?? null} />
        {shown === null && (
          <section class="card">
            <h2>{text.noScreen(route.value.screen)}</h2>
            <p><a href={hrefOf(HOME)}>{text.screens.judge}</a></p>
          </section>
        )}
        <Privacy engine={engine} />
      </main>
      <footer class="foot">
        <span>{version === null ? text.name : text.footer.version(version)}</span>
        <span>{text.footer.licence}</span>
      </footer>
      <div class="unseen" role="status" aria-live="polite" data-testid="live">{announcement}</div>
    </>
  );
}

/** A skip link moves the focus; the address keeps naming the screen. */
function stay(event: Event): void {
  event.preventDefault();
  const target = document.getElementById((event.currentTarget as HTMLAnchorElement).hash.slice(1));
  target?.focus();
  target?.scrollIntoView({ block: "start" });
}

/** Screens that were opened stay, out of sight, so that nothing which was typed or is running is lost. */
function Visited({ engine, shown }: { engine: EngineClient; shown: ScreenName | null }) {
  const visited = useSignal<ReadonlySet<ScreenName>>(new Set());
  if (shown !== null && !visited.value.has(shown)) visited.value = new Set([...visited.value, shown]);
  return (
    <>
      {SCREENS.filter(({ name }) => visited.value.has(name)).map((screen) => (
        <div class="screen" key={screen.name} data-screen={screen.name} hidden={screen.name !== shown}>
          <Loaded screen={screen} engine={engine} active={screen.name === shown} />
        </div>
      ))}
    </>
  );
}

function Loaded({ screen, ...props }: ScreenProps & { screen: Screen }) {
  const loaded = useSignal<{ Component: ComponentType<ScreenProps> } | { failed: string } | null>(null);
  const attempt = useSignal(0);
  useEffect(() => {
    let left = false;
    loaded.value = null;
    screen.load().then(
      (module) => left || (loaded.value = { Component: module.default }),
      (thrown: unknown) => left || (loaded.value = { failed: thrown instanceof Error ? thrown.message : String(thrown) }),
    );
    return () => void (left = true);
  }, [attempt.value]);
  if (loaded.value === null) return <p class="hint">{text.screenLoading}</p>;
  if ("failed" in loaded.value) {
    return (
      <section class="card">
        <p role="alert">{text.screenFailed(loaded.value.failed)}</p>
        <button type="button" class="plain" onClick={() => (attempt.value += 1)}>{text.error.retry}</button>
      </section>
    );
  }
  const { Component } = loaded.value;
  return <Component {...props} />;
}

function useTitle(name: ScreenName | null): void {
  const first = useRef(true);
  useEffect(() => {
    document.title = name === null || name === HOME ? text.title : text.titleOf(text.screens[name]);
    // Who follows a link of the navigation is told where it led; the first screen needs no telling.
    if (!first.current && name !== null) announcement.value = text.screens[name];
    first.current = false;
  }, [name]);
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="44" height="44" aria-hidden="true">
      <rect class="mark-ground" width="32" height="32" rx="8" />
      <path class="mark-glass" d="M8.2 8.400h5.200M10.800 8.400c0 3 .3 3.600-1.300 5.200a6.600 6.600 0 1 0 9.700.4c2-1.700 4.300-1.200 6.800 2.600" />
      <circle class="mark-drop" cx="13.800" cy="19" r="2.300" />
    </svg>
  );
}

function Privacy({ engine }: { engine: EngineClient }) {
  const { own, other } = pageRequests.value;
  const worker = engine.still.value.worker_requests;
  const refused = refusedRequests.value + worker.refused;
  return (
    <section class="privacy" aria-labelledby="privacy-heading">
      <h2 id="privacy-heading">{text.privacy.heading}</h2>
      <p>{text.privacy.body} {text.privacy.check}</p>
      <p class="figures" data-testid="requests">
        {text.privacy.requests(String(own + worker.own + keptRequests.value), String(other + worker.other))}
        {refused > 0 && ` ${text.privacy.refused(String(refused))}`}
        {kept.value && ` ${modelWords.offline.ready}`}
      </p>
    </section>
  );
}

/** Loading in quarters, the run's beginning and end: enough to follow, not enough to drown in. */
function useAnnouncements(engine: EngineClient): void {
  const last = useRef({ quarter: -1, phase: "", run: "", adapter: null as string | null });
  useSignalEffect(() => {
    const { model, run, forgotten, adapter } = engine.state.value;
    const seen = last.current;
    const title = adapter.applied && (appliedOffer(engine.state.value)?.title ?? adapter.applied.title);
    // Two adapters may call themselves alike.
    const applied = adapter.applied && `${adapter.applied.name} ${adapter.applied.sha256 ?? ""} ${adapter.applied.strength}`;
    if (model.phase === "loading" && model.total_bytes > 0) {
      const share = model.loaded_bytes / model.total_bytes;
      const quarter = Math.floor(share * 4);
      const key = `${model.stage}${quarter}`;
      if (seen.phase !== key) announcement.value = text.live.loading(`${model.name}, ${text.model.stage[model.stage]}`, formatPercent(share));
      seen.phase = key;
    } else if (model.phase === "ready" && seen.phase !== "ready") {
      seen.phase = "ready";
      const ready = text.live.ready(model.info.model.name, text.model.backend[model.info.backend]);
      // Said together, since the second of two announcements would silence the first.
      seen.adapter = applied;
      announcement.value = title === null ? ready : `${ready} ${text.live.adapterOn(title)}`;
    } else if (model.phase !== "ready" && model.phase !== "loading") {
      seen.phase = model.phase;
    }
    if (run) {
      const share = shareArrived(run);
      const key = `${run.run_id}${run.phase}${run.phase === "running" ? Math.floor(share * 4) : ""}`;
      if (seen.run !== key) {
        seen.run = key;
        announcement.value = run.phase !== "running" ? standingOf(run) : share === 0 ? text.live.judging : progressOf(run);
      }
    }
    // While another model is being loaded there is nothing to say of adapters.
    if (model.phase === "ready" && applied !== seen.adapter) {
      seen.adapter = applied;
      announcement.value = title === null ? text.live.adapterOff : text.live.adapterOn(title);
    }
    if (forgotten !== null) announcement.value = text.model.forgotten(formatBytes(forgotten));
  });
}
