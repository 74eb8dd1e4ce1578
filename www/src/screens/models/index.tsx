import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatBytes } from "../../format";
import { deviceMemory, fitOf, memoryFor } from "../../memory";
import { ownFiles } from "../../state";
import { text } from "../../text";
import { models as words } from "../../text/models";
import { useDrop } from "../../ui/drop";
import { ModelPanel } from "../../ui/model";
import { isForm, profileOf } from "../../profile";
import { FORMS, type Profile } from "../../worker/names";
import type { ScreenProps } from "..";
import { Stored } from "./stored";
import "./style.css";

/** Which model judges, which are stored, and where to get others. */
export default function Models({ engine, active }: ScreenProps) {
  const asked = useSignal<File[] | null>(null);
  const { model, backend } = engine.state.value;
  const load = (files: File[]) => {
    const source = ownFiles(files);
    if (source) engine.load(source, backend);
  };
  // A file that cannot fit is asked about before minutes are spent on it.
  const offer = (files: File[]) => {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    if (fitOf(memoryFor(bytes), deviceMemory()) === "fine") load(files);
    else asked.value = files;
  };
  const dragging = useDrop(active, (files) => offer([...files]));
  // Another tab, or the download page, may have stored or deleted something meanwhile.
  useEffect(() => {
    if (!active) return;
    const look = () => document.visibilityState === "visible" && engine.listStored();
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [active, model.phase]);
  const profile = profileOf(engine.state.value);
  return (
    <div class="models">
      <div class="models-side">
        <ModelPanel engine={engine} place="models" onFiles={offer} />
        {asked.value && (
          <OwnFile files={asked.value} onLoad={() => { load(asked.value!); asked.value = null; }} onCancel={() => (asked.value = null)} />
        )}
        {profile && (
          <section class="card" aria-labelledby="models-profile-heading" data-testid="models-profile">
            <h2 id="models-profile-heading">{words.profile.heading}</h2>
            {profile === "head" ? <p><strong>{words.profile.name[profile]}</strong></p> : (
              <label class="stacked">
                <span>{words.profile.choose}</span>
                <select value={profile} onChange={(event) => engine.askBy(event.currentTarget.value as Profile)}>
                  {(["options", ...FORMS] as const).map((one) => <option key={one} value={one}>{words.profile.name[one]}</option>)}
                </select>
              </label>
            )}
            <p class="hint">{words.profile.hint[profile]}</p>
            {isForm(profile) && <p class="hint">{words.profile.writes}</p>}
          </section>
        )}
      </div>
      <div class="models-main">
        <Stored engine={engine} active={active} />
        <section class="card models-more" aria-labelledby="models-more-heading">
          <h2 id="models-more-heading">{words.more.heading}</h2>
          <p>{words.more.body}</p>
          <p>
            <a class="link" href="./models.html" target="_blank" rel="noopener">{words.more.link}</a>{" "}
            <span class="hint">({words.more.newTab})</span>
          </p>
          <p class="hint">{words.more.back}</p>
        </section>
      </div>
      {dragging.value && <div class="drop" aria-hidden="true">{words.own.drop}</div>}
    </div>
  );
}

function OwnFile({ files, onLoad, onCancel }: { files: File[]; onLoad: () => void; onCancel: () => void }) {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const needed = memoryFor(bytes);
  const fit = fitOf(needed, deviceMemory());
  return (
    <section class="card" role="alert" aria-labelledby="models-own-heading">
      <h2 id="models-own-heading">{words.own.heading(files[0]?.name ?? "")}</h2>
      <p>{text.model.size}: {formatBytes(bytes)}. {words.memory.needs(formatBytes(needed))}. {fit !== "fine" && words.memory[fit]}</p>
      <div class="buttons">
        <button type="button" class="plain" onClick={onLoad}>{words.own.load}</button>
        <button type="button" class="link" onClick={onCancel}>{words.own.cancel}</button>
      </div>
    </section>
  );
}
