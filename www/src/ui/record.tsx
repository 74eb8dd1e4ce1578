import "./record.css";
import { useSignal } from "@preact/signals";
import { outcomeOf } from "../findings";
import { formatCount, formatDuration, formatPercent, formatScore, recordName } from "../format";
import { announcement } from "../live";
import { labelsOf } from "../own-rubrics";
import { saveText } from "../save";
import { text } from "../text";
import { historyText } from "../text/history";
import type { CompareRecord, ItemVerdict, JudgeRecord, RewardRecord, RubricVerdict } from "../types";
import { Distribution, Written } from "./results";

const words = historyText.record;

/** A judgement as its record tells it, without the rubrics that it was made by. */
export function RecordView({ record }: { record: JudgeRecord }) {
  const labels = labelsOf(record.verdicts.map(({ rubric_id: id, rubric_name: name }) => ({ id, name })));
  return (
    <div class="record-view" data-testid="record-view">
      {record.cancelled && <p class="note">{words.cancelled}</p>}
      {record.truncations.map((cut) => (
        <p class="note" key={cut.text}>
          {text.results.truncation(text.results.truncated[cut.text] ?? cut.text, formatCount(cut.kept_characters), formatCount(cut.total_characters))}
        </p>
      ))}
      {record.notices.map((notice) => <p class="note" key={notice}>{notice}</p>)}
      {record.verdicts.length > 0 && (
        <table class="scores">
          <caption class="unseen">{words.caption}</caption>
          <thead>
            <tr>
              <th scope="col">{text.results.skill}</th>
              <th scope="col" class="num">{text.results.score}</th>
              <th scope="col">{text.results.distribution}</th>
            </tr>
          </thead>
          <tbody>{record.verdicts.map((verdict, i) => <VerdictRow key={verdict.rubric_id} given={verdict} label={labels[i]!} />)}</tbody>
        </table>
      )}
      {record.checklist && record.checklist.items.length > 0 && <Items items={record.checklist.items} />}
      <RecordFoot record={record} />
    </div>
  );
}

function VerdictRow({ given, label }: { given: RubricVerdict; label: string }) {
  const { verdict } = given;
  const score = verdict.kind === "scored" ? formatScore(verdict.expected) : null;
  return (
    <tr class="row" data-testid="record-row" data-rubric={given.rubric_id} data-state={verdict.kind}>
      <th scope="row" dir="auto">{label}</th>
      {verdict.kind === "scored" && score !== null ? (
        <>
          <td class="num"><span class="score">{score}</span> <span class="of">{verdict.min < 0 ? words.from(String(verdict.min), String(verdict.max)) : words.of(String(verdict.max))}</span></td>
          <td>{verdict.method === "written" ? <Written text={given.written} /> : <Distribution options={verdict.distribution} />}</td>
        </>
      ) : (
        <td class="no-score" colSpan={2}>
          <strong>{verdict.kind === "unscored" && verdict.code === "not_applicable" ? text.results.notApplicable : text.results.unscored}.</strong>{" "}
          {verdict.kind === "unscored" && verdict.message}
          <Written text={given.written} />
        </td>
      )}
    </tr>
  );
}

function Items({ items }: { items: ItemVerdict[] }) {
  return (
    <table class="record-items" data-testid="record-items">
      <caption>{words.checklist}</caption>
      <thead>
        <tr>
          <th scope="col">{words.item}</th>
          <th scope="col">{words.outcome}</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={item.item_id}>
            <th scope="row" dir="auto">{item.question}</th>
            <td>{wordOf(item)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function wordOf(item: ItemVerdict): string {
  const outcome = outcomeOf(item);
  switch (outcome.kind) {
    case "met":
      return `${text.findings.met}. ${text.findings.verifiedBadge}.`;
    case "not_met":
      return `${text.findings.notMet}. ${text.findings.verifiedBadge}.`;
    case "judged": {
      const { verdict } = item as Extract<ItemVerdict, { by: "model" }>;
      if (item.answer === "one_to_five" && verdict.kind === "scored") return words.answered(verdict.expected.toFixed(2), String(verdict.max));
      return text.findings.yes(formatPercent(outcome.value));
    }
    case "not_applicable":
      return `${text.results.notApplicable}. ${outcome.reason}`;
    default:
      return `${text.results.unscored}. ${outcome.kind === "unscored" ? outcome.reason : ""}`;
  }
}

/** Who judged, how long it took, and the record itself. */
export function RecordFoot({ record }: { record: JudgeRecord | CompareRecord | RewardRecord }) {
  const told = useSignal("");
  const { model, timings } = record;
  const name = model.adapter === null ? model.name : `${model.name} + ${model.adapter.name}`;
  const json = () => `${JSON.stringify(record, null, 2)}\n`;
  const tell = (message: string) => (announcement.value = told.value = message);
  return (
    <>
      <p class="figures hint">
        {words.by(name, text.model.backend[record.backend], record.version)}{" "}
        {text.results.timing(formatDuration(timings.total_ms), text.model.backend[record.backend], formatCount(timings.tokens), formatCount(timings.tokens_reused))}
      </p>
      <div class="buttons">
        <button type="button" class="plain" onClick={() => void navigator.clipboard.writeText(json()).then(() => tell(text.results.copied), () => tell(text.results.copyFailed))}>
          {text.results.copy}
        </button>
        <button type="button" class="plain" onClick={() => {
          const file = recordName(new Date());
          saveText(file, json(), "application/json");
          tell(text.results.downloaded(file));
        }}>{text.results.download}</button>
        {told.value !== "" && <span class="hint">{told.value}</span>}
      </div>
    </>
  );
}
