import { formatScore } from "../format";
import type { Run } from "../state";
import { summaryOf, type Statement } from "../summary";
import { text } from "../text";

/** So many are named; the rest is counted, and stands in the table. */
const MOST_NAMED = 4;

export function namesOf(names: string[]): string {
  return names.length > MOST_NAMED + 1
    ? text.summary.and([...names.slice(0, MOST_NAMED), text.summary.more(names.length - MOST_NAMED)])
    : text.summary.and(names);
}

/** What a run comes to, in sentences that rules make of its figures. */
export function Summary({ run }: { run: Run }) {
  if (run.phase === "running") return null;
  const statements = summaryOf(run);
  if (statements.length === 0) return null;
  return (
    <section class="part judge-summary" aria-labelledby="judge-summary-heading" data-testid="summary">
      <h3 id="judge-summary-heading">{text.summary.heading}</h3>
      <ul>
        {statements.map((statement) => <li key={statement.kind} data-says={statement.kind}><Said statement={statement} /></li>)}
      </ul>
      <p class="hint">{text.summary.rules}</p>
    </section>
  );
}

function Said({ statement: one }: { statement: Statement }) {
  const words = text.summary;
  const score = (value: number) => formatScore(value) ?? "";
  switch (one.kind) {
    case "no_scores":
      return <>{words.none}</>;
    case "one_score":
      return <span dir="auto">{words.one(one.name, score(one.score), String(one.min), String(one.max))}</span>;
    case "alike":
      return <>{words.alike(one.count, one.range && words.range(score(one.range.lowest), score(one.range.highest), String(one.range.max)))}</>;
    case "extremes":
      return (
        <>
          <span dir="auto">{words.strongest(namesOf(one.strongest), one.strongest.length > 1)}</span>{" "}
          <span dir="auto">{words.weakest(namesOf(one.weakest), one.weakest.length > 1)}</span>{" "}
          {one.between > 0 && words.between(one.between)}
        </>
      );
    case "sureness":
      return <>{one.level === "sure" ? words.sure(one.count) : words[one.level](one.wide, one.count)} {words.sureNot}</>;
    case "written":
      return <>{words.byWriting}</>;
    case "low_mass":
      return <span dir="auto">{words.lowMass(namesOf(one.names))}</span>;
    case "not_applicable":
      return <span dir="auto">{words.notApplicable(namesOf(one.names))}</span>;
    case "unscored":
      return <span dir="auto">{words.unscored(namesOf(one.names))}</span>;
    case "not_reached":
      return <>{words.notReached(one.count, one.cancelled)}</>;
    case "verified": {
      const all = one.met + one.not_met.length + one.against.length;
      return (
        <>
          {one.not_met.length + one.against.length === 0 && words.verifiedAll(one.met)}
          {one.not_met.length > 0 && <>{words.verifiedSome(one.not_met.length, all)}<Listed lines={one.not_met} /></>}
          {one.against.length > 0 && <>{words.against}<Listed lines={one.against} /></>}
        </>
      );
    }
    case "judged_items":
      return <>{words.likely(one.likely, one.count)}</>;
    case "cut":
      return <>{words.cut(words.and(one.truncations.map(({ text: what }) => text.results.truncated[what] ?? what)))}</>;
    case "calibration":
      return <>{words.calibration[one.calibration]}</>;
  }
}

function Listed({ lines }: { lines: string[] }) {
  return (
    <ul>
      {lines.slice(0, MOST_NAMED).map((line) => <li key={line} dir="auto">{line}</li>)}
      {lines.length > MOST_NAMED && <li>{text.summary.more(lines.length - MOST_NAMED)}</li>}
    </ul>
  );
}
