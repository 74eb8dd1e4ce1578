// Tables and judges that write, across the boundary of the wasm package, under Node.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { instance, path, sourceOf, texts } from "./engine.mjs";

const { Cancel, Engine, agreement, builtin_rubrics, read_table, write_llm_comparator, write_table } = await instance("retort_bg.wasm");
const bytes = (text) => new TextEncoder().encode(text);

test("a table is read with its faults and roles, and written in every container as what reads back as the same", () => {
  const csv = 'instruction,response,human\n"Say ""yes"".",=1+1,4\nShort row\nSay no.,"No,\nnever.",2\n';
  const table = read_table(bytes(csv), "some.csv");
  assert.equal(table.container, "csv");
  assert.deepEqual(table.columns, ["instruction", "response", "human"]);
  // Lines by hand: the third is short, and the row after it begins on the fourth.
  assert.deepEqual(table.rows.map(({ line, values }) => [line, ...values]), [[2, 'Say "yes".', "=1+1", "4"], [4, "Say no.", "No,\nnever.", "2"]]);
  assert.deepEqual(table.faults.map(({ line }) => line), [3]);
  assert.equal(table.roles.prompt, "instruction");
  assert.equal(table.roles.response, "response");
  for (const container of ["csv", "tsv", "json", "jsonl"]) {
    const written = write_table(table, container);
    const again = read_table(bytes(written), `again.${container}`);
    assert.deepEqual(again.rows.map(({ values }) => values), table.rows.map(({ values }) => values), container);
    // A cell that a spreadsheet would take for a formula is not one in its files.
    if (container === "csv") assert.doesNotMatch(written, /(^|,)=1\+1/m);
  }
  assert.throws(() => read_table(bytes(""), "empty.csv"), { code: "invalid_table" });
  assert.throws(() => write_table({ columns: 1 }, "csv"), { code: "data" });
});

test("two columns agree as by hand, and what is no number is refused", () => {
  const found = agreement([1, 2, 3, 4, null], [2, 4, 6, 8, 1], null, 7);
  // A straight line through four rows; the fifth has no first number.
  assert.equal(found.n, 4);
  assert.ok(Math.abs(found.pearson.value - 1) < 1e-12);
  assert.throws(() => agreement([1, Infinity], [1, 2], null, 7), { code: "data" });
  const pairs = read_table(bytes("prompt,response_a,response_b\np,a,b\n"), "pairs.csv");
  assert.match(write_llm_comparator(pairs, "one", "two", [0.5]), /"models"/);
});

test("a judge that writes is asked and read as the native command does it", { timeout: 300_000 }, async () => {
  const engine = await Engine.load(sourceOf(readFileSync(path("RETORT_TINY_MODEL"))), { backend: "cpu", name: "tiny.gguf" }, () => {}, new Cancel());
  const rubrics = builtin_rubrics().slice(0, 1);
  let written = "";
  const record = await engine.judge({ ...texts, rubrics, form: "prometheus" }, (event) => {
    if (event.kind === "writing") written += event.piece;
  }, new Cancel());
  assert.equal(record.form, "prometheus");
  assert.equal(record.verdicts[0].written, written);
  // A random model writes no verdict, and there is none.
  assert.equal(record.verdicts[0].verdict.kind, "unscored");
  const cli = process.env.RETORT_CLI;
  const [command, first] = cli ? [cli, []] : ["cargo", ["run", "--quiet", "-p", "retort-cli", "--"]];
  const right = JSON.parse(execFileSync(command, [
    ...first, "judge", "--model", path("RETORT_TINY_MODEL"), "--form", "prometheus", "--prompt", texts.prompt, "--response", texts.response,
    "--skills", rubrics[0].id, "--json", "--backend", "cpu",
  ], { encoding: "utf8" }));
  assert.deepEqual(right.verdicts[0].verdict, record.verdicts[0].verdict);
  await assert.rejects(engine.judge({ ...texts, rubrics, form: "poem" }, () => {}, new Cancel()), { code: "data" });
  engine.free();
});
