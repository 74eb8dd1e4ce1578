import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatBytes, formatCount } from "../../format";
import { historyLimit, incognito, setHistoryLimit } from "../../history";
import { announcement } from "../../live";
import { saveParts } from "../../save";
import { troubleOf } from "../../store";
import { importLines, pieces, writeLine, type Imported } from "../../store/kept";
import { historyText as words } from "../../text/history";

/** So many faults are listed; the count tells the rest. */
const MOST = 20;

/** To a file and back. */
export function Carry({ count }: { count: number }) {
  const told = useSignal("");
  const problem = useSignal("");
  const imported = useSignal<Imported | null>(null);
  const tell = (message: string) => (announcement.value = told.value = message);
  const failed = (thrown: unknown) => {
    const { trouble, message } = troubleOf(thrown);
    problem.value = words.trouble(trouble, message);
  };
  const save = async () => {
    const parts: string[] = [];
    let lines = 0;
    for await (const piece of pieces()) {
      parts.push(piece.map(writeLine).join(""));
      lines += piece.length;
    }
    const name = words.fromFile(new Date().toISOString().slice(0, 10));
    saveParts(name, parts, "application/jsonl");
    tell(words.exported(formatCount(lines), name));
  };
  const take = async (file: File) => {
    problem.value = "";
    imported.value = null;
    const got = await importLines(await file.text(), historyLimit.value);
    imported.value = got;
    tell(words.imported(formatCount(got.added), formatCount(got.known)));
  };
  return (
    <div class="history-carry">
      <div class="buttons">
        {count > 0 && <button type="button" class="plain" onClick={() => void save().catch(failed)}>{words.export}</button>}
        {incognito.value ? <span class="hint">{words.importIncognito}</span> : (
          <label class="file-pick">
            <input type="file" accept=".jsonl,.ndjson,application/jsonl" data-testid="history-file" onChange={(event) => {
              const input = event.currentTarget;
              const picked = input.files?.[0];
              if (picked) void take(picked).catch(failed);
              input.value = "";
            }} />
            <span>{words.import}</span>
          </label>
        )}
        {told.value !== "" && <span class="hint" data-testid="history-told">{told.value}</span>}
      </div>
      {count > 0 && <p class="hint">{words.exportHint}</p>}
      {imported.value !== null && imported.value.beyond > 0 && <p class="note">{words.beyond(formatCount(imported.value.beyond))}</p>}
      <div role="alert">
        {problem.value !== "" && <p class="bad">{problem.value}</p>}
        {imported.value !== null && imported.value.faults.length > 0 && (
          <div class="bad" data-testid="history-faults">
            <p>{words.faults(formatCount(imported.value.faults.length))}</p>
            <ul>
              {imported.value.faults.slice(0, MOST).map(({ line, fault }) => <li key={line}>{words.faultLine(formatCount(line), fault)}</li>)}
              {imported.value.faults.length > MOST && <li>{words.moreFaults(formatCount(imported.value.faults.length - MOST))}</li>}
            </ul>
          </div>
        )}
      </div>
    </div>
  );
}

/** What the history takes, and how much it may. */
export function Storage({ taken }: { taken: number }) {
  const wrong = useSignal(false);
  const browser = useSignal<{ used: number; quota: number } | null>(null);
  useEffect(() => {
    // Not everywhere, and only a rough figure where it is.
    void navigator.storage?.estimate?.().then(
      ({ usage, quota }) => (browser.value = usage === undefined || quota === undefined ? null : { used: usage, quota }),
      () => undefined,
    );
  }, [taken]);
  const limit = historyLimit.value;
  return (
    <section class="history-storage" aria-labelledby="history-storage-heading">
      <h3 id="history-storage-heading">{words.sizeHeading}</h3>
      <p data-testid="history-size">{words.size(formatBytes(taken), formatBytes(limit))}</p>
      <progress value={Math.min(1, taken / limit)} aria-labelledby="history-storage-heading" />
      {browser.value && <p class="hint">{words.browser(formatBytes(browser.value.used), formatBytes(browser.value.quota))}</p>}
      <div>
        <label for="history-limit">{words.limitLabel}</label>{" "}
        <input id="history-limit" type="text" inputMode="numeric" value={String(limit / 1e6)} aria-invalid={wrong.value} aria-describedby="history-limit-wrong" onChange={(event) => {
          const megabytes = Number(event.currentTarget.value);
          wrong.value = !Number.isFinite(megabytes) || megabytes < 1;
          if (!wrong.value) setHistoryLimit(megabytes * 1e6);
        }} />
        <p id="history-limit-wrong" class="field-error" role="alert">{wrong.value && words.limitWrong}</p>
      </div>
    </section>
  );
}
