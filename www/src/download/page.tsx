import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { formatBytes, formatBytesOf, formatDuration, formatPercent } from "../format";
import { announcement } from "../live";
import { deviceMemory, fitOf, memoryFor, type Shape } from "../memory";
import { text } from "../text";
import { models } from "../text/models";
import { formOfName } from "../profile";
import type { Profile } from "../worker/names";
import { toFailure } from "../worker/failure";
import type { Failure, StoredFile } from "../worker/protocol";
import type { Downloads } from "./downloads";
import { timeLeft, type Current } from "./follow";
import { HUB, askHub, fileUrl, parseAddress, type HubFile, type Repo } from "./hub";
import { ARCHITECTURES, PRESETS, type DownloadPreset } from "./presets";

const words = models.download;

/** Everything on the download page. It has no field for prompts or responses. */
export function Page({ downloads, hub }: { downloads: Downloads; hub: string }) {
  const { problem, stored } = downloads.state.value;
  const keeps = useSignal(true);
  useEffect(() => {
    if (!navigator.storage?.getDirectory) keeps.value = false;
    else navigator.storage.getDirectory().catch(() => (keeps.value = false));
  }, []);
  return (
    <>
      <a class="skip" href="#models">{words.skip}</a>
      <header class="masthead">
        <img src="./favicon.svg" alt="" width="44" height="44" />
        <div>
          <h1>{words.name}</h1>
          <p>{words.tagline}</p>
        </div>
      </header>
      <main>
        <p><a class="link" href="./#/models">{words.back}</a></p>
        <section class="card download-why" aria-labelledby="why-heading">
          <h2 id="why-heading">{words.apart}</h2>
          <p>{words.apartBody}</p>
        </section>
        {!keeps.value && <p class="note" role="alert" data-testid="no-storage">{words.noStorage}</p>}
        {problem && <p class="note" role="alert" data-testid="problem">{problem.message} {text.advice[problem.code]}</p>}
        <Running downloads={downloads} />
        <section class="card download-section" id="models" tabIndex={-1} aria-labelledby="presets-heading">
          <h2 id="presets-heading">{words.presets}</h2>
          <p class="hint">{words.presetsHint}</p>
          <ul class="download-list">
            {PRESETS.map((preset) => <Preset key={preset.repo} preset={preset} downloads={downloads} hub={hub} />)}
          </ul>
        </section>
        <Own downloads={downloads} hub={hub} />
        {stored && stored.length > 0 && <StoredList downloads={downloads} stored={stored} />}
      </main>
      <footer class="foot">
        <span>{text.name}</span>
        <span>{text.footer.licence}</span>
      </footer>
      <div class="unseen" role="status" aria-live="polite" data-testid="live">{announcement}</div>
    </>
  );
}

/** What runs at the moment, or how it ended. */
function Running({ downloads }: { downloads: Downloads }) {
  const { current } = downloads.state.value;
  const heading = useRef<HTMLHeadingElement>(null);
  useAnnounced(current);
  // The button that was pressed may be far down the page.
  useEffect(() => {
    if (current?.phase === "running" && current.stage === "starting") heading.current?.focus();
  }, [current?.phase, current?.wanted.sha256]);
  if (!current) return null;
  const { wanted, phase, stage, loaded_bytes } = current;
  const left = timeLeft(current, performance.now());
  return (
    <section class="card download-section" aria-labelledby="running-heading" data-testid="running" data-phase={phase}>
      <h2 id="running-heading" ref={heading} tabIndex={-1}>{words.running}</h2>
      <p class="download-title" dir="auto">{wanted.title}</p>
      {phase === "running" && (
        <>
          <progress aria-label={words.progress} max={wanted.bytes} value={stage === "starting" || stage === "waiting" ? undefined : loaded_bytes} />
          <p class="hint figures">
            {stage === "download" || stage === "hashing" || stage === "waiting" ? words.stage[stage] : words.stage.starting}
            {(stage === "download" || stage === "hashing") && ` · ${formatBytesOf(loaded_bytes, wanted.bytes)}`}
            {left !== null && ` · ${words.left(formatDuration(left))}`}
          </p>
          <div class="buttons">
            <button type="button" class="plain" onClick={() => downloads.pause()}>{words.pause}</button>
            <button type="button" class="link" onClick={() => downloads.cancel()}>{words.cancel}</button>
          </div>
        </>
      )}
      {(phase === "paused" || phase === "failed") && (
        <>
          {phase === "paused" && <p>{words.paused(formatBytesOf(loaded_bytes, wanted.bytes))}</p>}
          {current.failure && (
            <p class="note" role="alert" data-testid="failure" data-code={current.failure.code}>
              <strong>{words.failed}.</strong> {current.failure.message} {text.advice[current.failure.code]}
            </p>
          )}
          <div class="buttons">
            <button type="button" class="plain" onClick={() => downloads.start(current)}>{phase === "paused" ? words.resume : text.error.retry}</button>
            <button type="button" class="link" onClick={() => downloads.cancel()}>{words.cancel}</button>
          </div>
        </>
      )}
      {phase === "done" && (
        <>
          <p data-testid="done">{current.cached ? words.already(wanted.title) : words.done(wanted.title)}</p>
          <div class="buttons">
            <a class="link" href="./#/models">{words.open}</a>
            <button type="button" class="link" onClick={() => downloads.dismiss()}>{words.dismiss}</button>
          </div>
        </>
      )}
    </section>
  );
}

/** Said in quarters, and how it ended. */
function useAnnounced(current: Current | null): void {
  const said = useRef("");
  useEffect(() => {
    if (!current) return;
    const { wanted, phase, loaded_bytes, failure } = current;
    const share = loaded_bytes / wanted.bytes;
    const key = `${wanted.sha256}${phase}${phase === "running" ? Math.floor(share * 4) : ""}`;
    if (said.current === key) return;
    said.current = key;
    announcement.value =
      phase === "running" ? words.live(wanted.title, formatPercent(share))
      : phase === "done" ? words.done(wanted.title)
      : phase === "paused" ? words.paused(formatBytesOf(loaded_bytes, wanted.bytes))
      : `${words.failed}. ${failure?.message ?? ""}`;
  });
}

function Preset({ preset, downloads, hub }: { preset: DownloadPreset; downloads: Downloads; hub: string }) {
  const found = useSignal<Asked>(null);
  const readable = ARCHITECTURES.includes(preset.architecture);
  const bytes = preset.about_bytes;
  return (
    <li class="download-entry" data-testid="preset">
      <h3>{preset.title}</h3>
      <p>{preset.good_for}</p>
      <dl class="download-facts">
        <dt>{words.size}</dt>
        <dd>{bytes === null ? words.unknown : words.about(formatBytes(bytes))}</dd>
        <dt>{words.licence}</dt>
        <dd>{preset.licence}</dd>
        <dt>{words.asked}</dt>
        <dd>{models.profile.name[preset.profile]}</dd>
        <dt>{words.from}</dt>
        <dd>{preset.repo} (<a class="link" href={`${HUB}/${preset.repo}`} rel="noopener noreferrer" target="_blank">{words.card}</a>)</dd>
      </dl>
      {bytes !== null && <Memory bytes={bytes} shape={preset.shape} />}
      {!readable ? (
        <p class="note">{words.unreadable(preset.architecture)}</p>
      ) : preset.file === null ? (
        <p class="note">{words.noFile}</p>
      ) : (
        <>
          <button type="button" class="plain" aria-label={words.chooseOf(preset.title)} onClick={() => void ask(found, hub, `${preset.repo}/${preset.file}`)}>
            {words.choose}
          </button>
          <Answer found={found} downloads={downloads} hub={hub} profile={preset.profile} title={preset.title} licence={preset.licence} />
        </>
      )}
    </li>
  );
}

function Memory({ bytes, shape }: { bytes: number; shape?: Shape | undefined }) {
  const needed = memoryFor(bytes, shape);
  const fit = fitOf(needed, deviceMemory());
  return (
    <>
      <p class="hint">{models.memory.needs(formatBytes(needed))}.</p>
      {fit !== "fine" && <p class="note">{models.memory[fit]}</p>}
    </>
  );
}

/** The address of a repository or a file, of the person's choice. */
function Own({ downloads, hub }: { downloads: Downloads; hub: string }) {
  const found = useSignal<Asked>(null);
  const given = useRef<HTMLInputElement>(null);
  return (
    <section class="card download-section" aria-labelledby="own-heading" data-testid="own">
      <h2 id="own-heading">{words.own}</h2>
      <form class="download-own" onSubmit={(event) => {
        event.preventDefault();
        void ask(found, hub, given.current?.value ?? "");
      }}>
        <label class="stacked" for="address">{words.ownLabel}</label>
        <input ref={given} id="address" type="text" inputMode="url" autocomplete="off" autocapitalize="off" spellcheck={false} aria-describedby="address-hint" />
        <button type="submit" class="plain">{words.look}</button>
      </form>
      <p class="hint" id="address-hint">{words.ownHint}</p>
      <Answer found={found} downloads={downloads} hub={hub} profile={null} />
    </section>
  );
}

type Asked = null | "asking" | { failure: Failure } | { repo: Repo; file: string | null };

async function ask(found: Signal<Asked>, hub: string, given: string): Promise<void> {
  const address = parseAddress(given);
  if (!address) {
    found.value = { failure: { code: "bad_address", message: words.badAddress } };
    return;
  }
  found.value = "asking";
  announcement.value = words.looking;
  try {
    found.value = { repo: await askHub(hub, address), file: address.file };
  } catch (thrown) {
    found.value = { failure: toFailure(thrown) };
  }
}

interface AnswerProps {
  found: Signal<Asked>;
  downloads: Downloads;
  hub: string;
  /** Null where only its name may say it. */
  profile: Profile | null;
  /** What the suggested file is called; others go by their name. */
  title?: string;
  licence?: string;
}

/** What the hub says: the file that was asked for first, the others on demand. */
function Answer({ found, downloads, hub, profile, title, licence }: AnswerProps) {
  const all = useSignal(false);
  const answer = found.value;
  if (answer === null) return null;
  if (answer === "asking") return <p class="hint">{words.looking}</p>;
  if ("failure" in answer) return <p class="note" role="alert">{answer.failure.message} {text.advice[answer.failure.code]}</p>;
  const { repo, file } = answer;
  if (repo.files.length === 0) return <p class="note" role="alert">{words.noGguf}</p>;
  const asked = repo.files.filter(({ path }) => path === file);
  const shown = all.value || asked.length === 0 ? repo.files : asked;
  return (
    <div class="download-answer" data-testid="answer">
      {file !== null && asked.length === 0 && <p class="note" role="alert">{words.noSuchFile(file)}</p>}
      {repo.gated && <p class="note">{words.gatedNote}</p>}
      <ul class="download-files" aria-label={words.filesOf(repo.repo)}>
        {shown.map((one) => (
          <File key={one.path} repo={repo} file={one} downloads={downloads} hub={hub} profile={profile}
            title={one.path === file && title !== undefined ? title : one.path} licence={licence ?? repo.licence} />
        ))}
      </ul>
      {shown.length < repo.files.length && (
        <button type="button" class="link" onClick={() => (all.value = true)}>{words.more(repo.files.length)}</button>
      )}
    </div>
  );
}

function File({ repo, file, downloads, hub, profile, title, licence }: {
  repo: Repo; file: HubFile; downloads: Downloads; hub: string; profile: Profile | null; title: string; licence: string;
}) {
  const { current, stored } = downloads.state.value;
  const there = stored?.filter(({ sha256 }) => sha256 === file.sha256) ?? [];
  const begun = there.find(({ finished }) => !finished);
  const free = useSignal<number | null>(null);
  useEffect(() => {
    void navigator.storage?.estimate?.().then(({ usage, quota }) => {
      if (quota !== undefined) free.value = quota - (usage ?? 0);
    }, () => {});
  }, [stored]);
  const needed = file.bytes - (begun?.bytes ?? 0);
  const busy = current?.phase === "running";
  const start = () => {
    if (file.sha256 === null) return;
    const name = file.path.split("/").at(-1)!;
    downloads.start({
      url: fileUrl(hub, repo, file.path), source: `${HUB}/${repo.repo}`,
      profile: profile ?? formOfName(`${repo.repo}/${file.path}`) ?? "options",
      wanted: { name, title, bytes: file.bytes, sha256: file.sha256, licence },
    });
  };
  return (
    <li data-testid="file">
      <p class="download-title" dir="auto">{file.path}</p>
      <p class="hint figures">{formatBytes(file.bytes)}{file.sha256 && ` · SHA-256 ${file.sha256.slice(0, 12)}…`}</p>
      <Memory bytes={file.bytes} />
      {free.value !== null && needed > free.value && !there.some(({ finished }) => finished) && (
        <p class="note">{words.space(formatBytes(needed), formatBytes(Math.max(0, free.value)))}</p>
      )}
      {file.split ? (
        <p class="hint">{words.split}</p>
      ) : file.sha256 === null ? (
        <p class="hint">{words.noHash}</p>
      ) : there.some(({ finished }) => finished) ? (
        <p><span class="badge">{words.stored}</span></p>
      ) : (
        <button type="button" class="plain" disabled={busy} aria-label={begun ? words.resumeOf(file.path) : words.downloadOf(file.path)} onClick={start}>
          {begun ? words.resume : words.download}
        </button>
      )}
    </li>
  );
}

function StoredList({ downloads, stored }: { downloads: Downloads; stored: StoredFile[] }) {
  const busy = downloads.state.value.current;
  return (
    <section class="card download-section" aria-labelledby="stored-heading" data-testid="stored">
      <h2 id="stored-heading" tabIndex={-1}>{models.stored.heading}</h2>
      <ul class="download-files">
        {stored.map((file) => {
          const title = file.title || file.name || (file.finished ? models.stored.unnamed : models.stored.unfinished);
          return (
            <li key={`${file.sha256}${file.finished}`}>
              <p class="download-title" dir="auto">{title} {file.kind === "adapter" && <span class="badge">{models.stored.adapter}</span>}</p>
              <p class="hint figures">{formatBytes(file.bytes)} · SHA-256 {file.sha256.slice(0, 12)}…</p>
              <button type="button" class="link" disabled={busy?.phase === "running" && busy.wanted.sha256 === file.sha256} aria-label={models.stored.deleteOf(title)}
                onClick={() => { downloads.delete(file.sha256); document.getElementById("stored-heading")?.focus(); }}>
                {models.stored.delete}
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
