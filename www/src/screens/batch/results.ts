/** The file again, with what came of each row. Pure. */
import type { Table, TableRow } from "../../types";
import { measuresOf } from "./measures";
import type { Line } from "./rows";
import type { Asks } from "./types";

/** A name that no column has yet. */
function fresh(name: string, taken: Set<string>): string {
  let free = name;
  for (let i = 2; taken.has(free); i++) free = `${name}_${i}`;
  taken.add(free);
  return free;
}

const figure = (value: number | null) => (value === null ? null : String(Number(value.toFixed(4))));
/** All that the 32 bits of an output hold: no scale says how many decimals are enough. */
const reward = (value: number | null) => (value === null ? null : String(Number(value.toPrecision(7))));

/** What the column of an output is called: dots would make a nested field of it in JSON. */
const outputColumn = (label: string | undefined, at: number, of: number): string => {
  const plain = (label ?? "").replaceAll(/[^\p{L}\p{N}]+/gu, "_").replaceAll(/^_|_$/g, "");
  return plain !== "" ? `retort_reward_${plain}` : of === 1 ? "retort_reward" : `retort_reward_${at + 1}`;
};

/** Every column of the file stays as it was; results come behind, rows without a score with the reason. */
export function withResults(table: Table, lines: Line[], asks: Asks, hasChecklist: boolean): Table {
  const taken = new Set(table.columns);
  const { head } = asks;
  const measures = measuresOf(asks);
  const figures = measures.map(({ id }, at) => fresh(head ? outputColumn(head.labels[at], at, head.outputs) : `retort_${id}`, taken));
  // A head gives no mean, and nothing was read from the words for it.
  const more = head ? [] : ["mean", ...(hasChecklist ? ["checklist"] : []), "domain", "difficulty"];
  const names = ["state", ...more, "not_scored"].map((name) => fresh(`retort_${name}`, taken));
  const rows = table.rows.map((row, i): TableRow => {
    const line = lines[i]!;
    const reasons = line.why !== null ? [line.why] : line.cells.flatMap(({ why }, at) => (why === null ? [] : [`${measures[at]!.name}: ${why}`]));
    return {
      line: row.line,
      values: [
        ...table.columns.map((_, at) => row.values[at] ?? null),
        ...line.cells.map(({ score }) => (head ? reward(score) : figure(score))),
        line.state, ...(head ? [] : [figure(line.mean), ...(hasChecklist ? [figure(line.checklist)] : []), line.domain, line.difficulty]),
        reasons.length === 0 ? null : reasons.join(" | "),
      ],
    };
  });
  return { ...table, columns: [...table.columns, ...figures, ...names], rows, faults: [] };
}
