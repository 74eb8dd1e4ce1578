import { describe, expect, test } from "vitest";
import { freeTitle, MAX_VERSIONS, withVersion, type Version } from "../src/library";
import { edited, faultsOf, formatOf, idOf, rangeOf, readShared, withLevel, withOptional } from "../src/screens/rubrics/draft";
import { withOwn } from "../src/own-rubrics";
import type { Rubric } from "../src/types";

const rubric: Rubric = {
  id: "a", name: "A", ability: null, criterion: "c", question: null,
  options: [{ label: "1", value: 1, description: null }, { label: "3", value: 3, description: null }],
};

describe("findings", () => {
  test("one per line, with line and column where they are named", () => {
    expect(faultsOf("my file.toml:3:7: no name; add one\nmy file.toml:12: bad\n\nthe whole is empty")).toEqual([
      { line: 3, column: 7, message: "no name; add one" },
      { line: 12, column: null, message: "bad" },
      { line: null, column: null, message: "the whole is empty" },
    ]);
  });

  test("a range goes from the column to the end of its line, and never beyond the source", () => {
    const source = "ab\ncdef\ng";
    expect(rangeOf(source, { line: 2, column: 3 })).toEqual({ from: 5, to: 7 });
    expect(rangeOf(source, { line: 2, column: 99 })).toEqual({ from: 7, to: 7 });
    expect(rangeOf(source, { line: 3, column: null })).toEqual({ from: 8, to: 9 });
    expect(rangeOf(source, { line: 9, column: 1 })).toEqual({ from: 9, to: 9 });
    expect(rangeOf(source, { line: null, column: null })).toEqual({ from: 0, to: 0 });
  });
});

describe("sources", () => {
  test("JSON begins with a brace or a list, TOML may begin with a table", () => {
    expect(["{", ' [{"id": 1}]', "[[rubric]]\nid = 1", "[levels] # five", 'id = "x"', ""].map(formatOf)).toEqual(["json", "json", "toml", "toml", "toml", "toml"]);
  });

  test("the same source makes no version; the oldest of too many goes", () => {
    const one: Version[] = [{ at: 1, source: "a" }];
    expect(withVersion(one, "a", 2)).toBe(one);
    expect(withVersion(one, "b", 2)).toEqual([{ at: 2, source: "b" }, { at: 1, source: "a" }]);
    const many = Array.from({ length: MAX_VERSIONS }, (_, at) => ({ at, source: String(at) }));
    expect(withVersion(many, "new", 99)).toHaveLength(MAX_VERSIONS);
    expect(withVersion(many, "new", 99).at(-1)!.source).toBe(String(MAX_VERSIONS - 2));
  });

  test("titles and ids are free", () => {
    expect(freeTitle("A", ["A", "A (2)"])).toBe("A (3)");
    expect(freeTitle("B", ["A"])).toBe("B");
    expect(idOf("Über alles!", ["uber_alles"])).toBe("uber_alles_2");
    expect(idOf("日本語", [])).toBe("rubric");
  });
});

describe("the form", () => {
  test("an empty weight and an empty condition are none", () => {
    expect(withOptional({ ...rubric, weight: 2 }, "weight", " ")).not.toHaveProperty("weight");
    expect(withOptional(rubric, "weight", "-1.5").weight).toBe(-1.5);
    expect(withOptional(rubric, "not_applicable", "no code")).toHaveProperty("not_applicable", "no code");
  });

  test("a new level is as far above as the last step", () => {
    expect(withLevel(rubric).options.at(-1)).toEqual({ label: "5", value: 5, description: null });
  });

  test("only the rubric that is edited changes", () => {
    expect(edited([rubric, rubric], 1, { name: "B" }).map(({ name }) => name)).toEqual(["A", "B"]);
  });
});

test("an own rubric replaces its namesake and never a built-in one", () => {
  const other = { ...rubric, id: "b" };
  const { own, fresh } = withOwn([{ ...other, name: "old" }, rubric], [other, { ...rubric, id: "skill" }], [{ ...rubric, id: "skill" }]);
  expect(fresh.map(({ id }) => id)).toEqual(["b", "custom_skill"]);
  expect(own.map(({ id, name }) => `${id} ${name}`)).toEqual(["a A", "b A", "custom_skill A"]);
});

test("a link that holds something else is not taken", () => {
  expect(readShared({ kind: "rubric", title: "T", source: "id = 1" })).toEqual({ kind: "rubric", title: "T", source: "id = 1" });
  for (const other of [null, 3, {}, { kind: "page", title: "T", source: "x" }, { kind: "rubric", title: 1, source: "x" }, { kind: "rubric", title: "T", source: " " }]) expect(readShared(other)).toBeNull();
});
