// Annotations and checklists under Node: what the page gets is what the retort command says, to the last item.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { file, instance } from "./engine.mjs";

const wasm = await instance("retort_bg.wasm");

const retort = (...args) => {
  const cli = process.env.RETORT_CLI;
  const [command, first] = cli ? [cli, []] : ["cargo", ["run", "--quiet", "-p", "retort-cli", "--"]];
  return execFileSync(command, [...first, ...args], { encoding: "utf8" });
};

const PROMPT = "Übersetze nothing. Write a poem about 😀 rust in exactly 8 lines, without the word “brown”, and name two metals. If the reader is a child, use simple words.";
const REFERENCE = "Iron rusts. Copper turns green because it forms a carbonate.";
const RESPONSE = "😀 A brown leaf of iron,\nbrown again — é\nand that is all.";

test("a checklist in the page is the command's", () => {
  const { skills } = wasm.annotate(PROMPT).annotation;
  for (const form of ["full", "hard"]) {
    const ours = wasm.generate_checklist({ instruction: PROMPT, reference: REFERENCE, skills, form });
    const args = ["checklist", "--prompt", PROMPT, "--reference", REFERENCE, "--format", "json"];
    const theirs = JSON.parse(retort(...args, ...(form === "hard" ? ["--hard"] : [])));
    assert.deepEqual(ours, theirs);
    assert.ok(ours.items.length > 3);
  }
});

test("an annotation in the page is the command's, but for how places are counted", () => {
  const ours = wasm.annotate(PROMPT);
  const theirs = JSON.parse(retort("annotate", "--prompt", PROMPT, "--json"));
  assert.deepEqual(ours.annotation, theirs.annotation);
  const bytes = Buffer.from(PROMPT);
  assert.equal(ours.evidence.length, theirs.words.evidence.length);
  ours.evidence.forEach(({ range, words }, index) => {
    const inBytes = theirs.words.evidence[index].range;
    assert.equal(PROMPT.slice(range.start, range.end), bytes.subarray(inBytes.start, inBytes.end).toString());
    if (range.start < range.end) assert.equal(PROMPT.slice(range.start, range.end), words);
  });
});

test("evidence is where JavaScript finds it, in the event and in the record", { timeout: 600_000 }, async () => {
  const checklist = wasm.generate_checklist({ instruction: PROMPT, skills: [], form: "full" });
  const coded = { ...checklist, items: checklist.items.filter(({ constraint }) => constraint) };
  assert.equal(coded.items.length, 2);
  const source = file("RETORT_TINY_MODEL");
  const engine = await wasm.Engine.load(source, { backend: "cpu", name: "tiny.gguf" }, () => {}, new wasm.Cancel());
  const told = [];
  const request = { prompt: PROMPT, response: RESPONSE, rubrics: [], checklist: coded };
  const record = await engine.judge(request, (event) => event.kind === "item" && told.push(event.verdict), new wasm.Cancel());
  assert.deepEqual(record.checklist.items, told);
  const brown = told.find(({ question }) => question.includes("brown"));
  assert.equal(brown.by, "code");
  assert.equal(brown.finding.verdict, "not_met");
  // Two in the response, found by eye.
  assert.deepEqual(brown.finding.evidence.map(({ start, end }) => RESPONSE.slice(start, end)), ["brown", "brown"]);
  // Three lines where eight were asked for; neither item is met.
  assert.deepEqual(
    [record.checklist.score.verified, record.checklist.score.verified_met, record.checklist.score.score],
    [2, 0, 0],
  );
  engine.free();
  source.close();
});

test("a checklist file goes to the command and back", () => {
  const folder = mkdtempSync(join(tmpdir(), "retort-"));
  try {
    const made = wasm.generate_checklist({ instruction: PROMPT, reference: REFERENCE, skills: ["factuality"], form: "full" });
    made.items[0].weight = -2.5;
    for (const format of ["toml", "json"]) {
      const path = join(folder, `list.${format}`);
      writeFileSync(path, wasm.write_checklist(made, format));
      assert.deepEqual(JSON.parse(retort("checklist", "--file", path, "--format", "json")), made);
      const back = join(folder, `back.${format}`);
      retort("checklist", "--file", path, "--out", back);
      assert.deepEqual(wasm.read_checklist(readFileSync(back, "utf8"), back).checklist, made);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("mistakes in a checklist are listed with their lines", () => {
  const text = '[[item]]\nquestion = "Is it so?"\nweight = 0\n[[item]]\nquestoin = "x"\n';
  assert.throws(
    () => wasm.read_checklist(text, "mine.toml"),
    (error) => error.code === "invalid_checklist" && /mine\.toml:3:/.test(error.message) && /mine\.toml:5:/.test(error.message),
  );
  assert.throws(() => wasm.write_checklist({ items: [{ id: "a b", question: "x", origin: "person" }] }, "toml"), { code: "invalid_checklist" });
  assert.throws(() => wasm.generate_checklist({ instruction: "x", skills: ["no_such"], form: "full" }), { code: "data" });
});

test("the vocabulary names everything that an annotation may say", () => {
  const { skills, domains, difficulties } = wasm.vocabulary();
  // FLASK: twelve skills, ten domains with 38 sub-domains, five levels (Ye et al. 2024).
  assert.deepEqual([skills.length, domains.length, difficulties.length], [12, 10, 5]);
  assert.equal(domains.reduce((sum, { subdomains }) => sum + subdomains.length, 0), 38);
  assert.equal(wasm.overall_rubric().id, "overall");
});
