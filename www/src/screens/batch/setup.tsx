import { formatCount } from "../../format";
import type { EngineClient } from "../../engine";
import { text } from "../../text";
import { batchText as words } from "../../text/batch";
import type { ColumnRole, Table } from "../../types";
import { OwnRubrics } from "../../ui/own-rubrics";
import type { Batch } from "./batch";
import { HumanColumns } from "./human-columns";
import { HEAD_ROLES, ROLES } from "./mapping";
import { hasOverall } from "./pairs";
import type { Mapping, SkillScope } from "./types";

/** So many faults are listed; the count tells the rest. */
const MOST_FAULTS = 50;
const PREVIEW = 3;
const PREVIEW_LENGTH = 160;
const SCOPES: SkillScope[] = ["all", "needed", "own"];

/** What a file holds, what its columns are for, and what shall be asked. */
export function Setup({ engine, batch }: { engine: EngineClient; batch: Batch }) {
  const [draft, settings] = [batch.draft.value!, batch.settings.value!];
  const { table } = draft;
  const { model } = engine.state.value;
  const { mapping } = settings;
  const mapped = mapping.prompt !== undefined && mapping.response !== undefined;
  const asks = batch.asksOf(settings);
  const { head } = asks;
  const nothing = !head && asks.rubrics.length === 0;
  const roles = head ? HEAD_ROLES.filter((role) => role !== "human" || hasOverall(asks)) : ROLES;
  const ready = model.phase === "ready";
  const why = table.rows.length === 0 ? words.file.none : !mapped ? words.columns.required : nothing ? words.ask.noSkill : !ready ? words.ask.notReady : null;
  return (
    <section class="card batch" aria-labelledby="batch-file-heading" data-testid="batch-setup">
      <h2 id="batch-file-heading" dir="auto">{words.file.heading(draft.name)}</h2>
      <p>{words.file.rows(formatCount(table.rows.length), formatCount(table.columns.length), table.container.toUpperCase(), table.shape)}</p>
      {table.faults.length > 0 && (
        <div class="note" data-testid="batch-faults">
          <p>{words.file.faults(formatCount(table.faults.length))}</p>
          <ul>
            {table.faults.slice(0, MOST_FAULTS).map(({ line, message }) => <li key={line}>{words.file.fault(formatCount(line), message)}</li>)}
            {table.faults.length > MOST_FAULTS && <li>{words.file.more(formatCount(table.faults.length - MOST_FAULTS))}</li>}
          </ul>
        </div>
      )}
      <fieldset class="batch-group">
        <legend>{words.columns.legend}</legend>
        <p class="hint">{words.columns.hint}</p>
        <div class="batch-columns">
          {roles.map((role) => (
            <label key={role}>{words.columns.role[role]}
              <select value={mapping[role] ?? ""} data-testid={`batch-role-${role}`} onChange={(event) => {
                const { [role]: _, ...rest } = mapping;
                const column = event.currentTarget.value;
                batch.change({ mapping: (column === "" ? rest : { ...rest, [role]: column }) satisfies Mapping });
              }}>
                <option value="">{words.columns.none}</option>
                {table.columns.map((column) => <option key={column} value={column}>{column}</option>)}
              </select>
            </label>
          ))}
        </div>
      </fieldset>
      {mapped && <Preview table={table} mapping={mapping} roles={roles} />}
      <fieldset class="batch-group">
        <legend>{head ? words.head.legend : words.ask.legend}</legend>
        {head ? <p class="hint" data-testid="batch-head">{words.head.ask(head.outputs)}</p> : <SkillChoice engine={engine} batch={batch} />}
        <Ticks batch={batch} names={head ? ["keep"] : ["overall", "checklist", "keep"]} />
      </fieldset>
      {mapped && <HumanColumns columns={table.columns} asks={asks} settings={settings} onChange={(human_by_skill) => batch.change({ human_by_skill })} />}
      <div class="buttons">
        <button type="button" class="primary" aria-disabled={why !== null} aria-describedby="batch-begin-hint" onClick={() => why === null && void batch.begin()}>
          {words.ask.begin(formatCount(table.rows.length))}
        </button>
        <span class="hint" id="batch-begin-hint">{why ?? words.ask.estimateLater}</span>
        <button type="button" class="link" onClick={() => batch.close()}>{text.judge.cancel}</button>
      </div>
    </section>
  );
}

/** Which rubrics every row is judged by. */
function SkillChoice({ engine, batch }: { engine: EngineClient; batch: Batch }) {
  const settings = batch.settings.value!;
  const { scope, own } = settings;
  const { builtin } = engine.state.value;
  return (
    <>
      <div class="segments">
        {SCOPES.map((one) => (
          <label key={one}>
            <input type="radio" name="batch-scope" value={one} checked={scope === one} onChange={() => batch.change({ scope: one })} />
            <span>{words.ask.scope[one]}</span>
          </label>
        ))}
      </div>
      <p class="hint">{words.ask.scopeHint[scope]}</p>
      {scope === "own" && (
        <div class="batch-skills">
          {builtin.map(({ id, name }) => (
            <label key={id} class="batch-tick">
              <input type="checkbox" class="tick-box" checked={own.includes(id)} onChange={() => batch.change({ own: own.includes(id) ? own.filter((other) => other !== id) : [...own, id] })} />
              {name}
            </label>
          ))}
        </div>
      )}
      <OwnRubrics engine={engine} id="batch-own" ticked={settings.ticked ?? {}} onChange={(ticked) => batch.change({ ticked })} />
    </>
  );
}

function Ticks({ batch, names }: { batch: Batch; names: ("overall" | "checklist" | "keep")[] }) {
  const settings = batch.settings.value!;
  return (
    <>
      {names.map((name) => (
        <label key={name} class="batch-tick">
          <input type="checkbox" class="tick-box" checked={settings[name]} onChange={(event) => batch.change({ [name]: event.currentTarget.checked })} />
          {words.ask[name]}
        </label>
      ))}
    </>
  );
}

function Preview({ table, mapping, roles }: { table: Table; mapping: Mapping; roles: readonly ColumnRole[] }) {
  const shown = (["prompt", "response", "reference", "human"] as const).filter((role) => roles.includes(role) && mapping[role] !== undefined);
  return (
    <div class="batch-scroll" role="region" aria-label={words.columns.preview} tabIndex={0}>
      <table class="batch-figures batch-preview">
        <caption>{words.columns.preview}</caption>
        <thead>
          <tr>
            <th scope="col">{words.columns.line}</th>
            {shown.map((role) => <th scope="col" key={role}>{words.columns.role[role]}</th>)}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, PREVIEW).map((row) => (
            <tr key={row.line}>
              <th scope="row">{formatCount(row.line)}</th>
              {shown.map((role) => {
                const value = row.values[table.columns.indexOf(mapping[role]!)] ?? "";
                return <td key={role} dir="auto">{value === "" ? <em>{words.columns.empty}</em> : value.length > PREVIEW_LENGTH ? `${value.slice(0, PREVIEW_LENGTH)}…` : value}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
