/** The file again, with what came of each row. Pure. */
import type { Rubric, Table, TableRow } from "../../types";
import type { Line } from "./rows";

/** A name that no column has yet. */
function fresh(name: string, taken: Set<string>): string {
  let free = name;
  for (let i = 2; taken.has(free); i++) free = `${name}_${i}`;
  taken.add(free);
  return free;
}

const figure = (value: number | null) => (value === null ? null : String(Number(value.toFixed(4))));

/** Every column of the file stays as it was; results come behind, rows without a score with the reason. */
export function withResults(table: Table, lines: Line[], rubrics: Rubric[], hasChecklist: boolean): Table {
  const taken = new Set(table.columns);
  const skills = rubrics.map(({ id }) => fresh(`retort_${id}`, taken));
  const names = ["state", "mean", ...(hasChecklist ? ["checklist"] : []), "domain", "difficulty", "not_scored"].map((name) => fresh(`retort_${name}`, taken));
  const rows = table.rows.map((row, i): TableRow => {
    const line = lines[i]!;
    const reasons = line.why !== null ? [line.why] : line.cells.flatMap(({ why }, at) => (why === null ? [] : [`${rubrics[at]!.name}: ${why}`]));
    return {
      line: row.line,
      values: [
        ...table.columns.map((_, at) => row.values[at] ?? null),
        ...line.cells.map(({ score }) => figure(score)),
        line.state, figure(line.mean), ...(hasChecklist ? [figure(line.checklist)] : []), line.domain, line.difficulty,
        reasons.length === 0 ? null : reasons.join(" | "),
      ],
    };
  });
  return { ...table, columns: [...table.columns, ...skills, ...names], rows, faults: [] };
}
