import { describe, expect, it } from "vitest";
import { apart, chosenOf, goneOf, isSkill, labelsOf, meanScale, scalesOf, withOwn, withTick, type Shelved } from "../src/own-rubrics";
import type { Rubric } from "../src/types";

const rubric = (id: string, values = [1, 2, 3, 4, 5], name = id): Rubric =>
  ({ id, name, ability: null, criterion: "", question: null, options: values.map((value) => ({ label: String(value), value, description: null })) });
const file = (id: string, ...rubrics: Rubric[]): Shelved => ({ id, title: `Title ${id}`, reading: { kind: "read", rubrics } });
const ids = (rubrics: Rubric[]) => rubrics.map(({ id }) => id);

describe("ids", () => {
  it("are never those of the skills, and never the same twice", () => {
    expect(ids(apart([rubric("readability"), rubric("custom_readability"), rubric("kind"), rubric("kind"), rubric("kind")], ["readability", "overall"])))
      .toEqual(["custom_readability", "custom_custom_readability", "kind", "custom_kind", "custom_kind_2"]);
    // Nothing but the id changes, and what needs no other one is the very same.
    const own = rubric("kind");
    expect(apart([own], [])[0]).toBe(own);
    expect(apart([own], ["kind"])[0]).toEqual({ ...own, id: "custom_kind" });
  });
  it("are unique within one file that has both", () => {
    const { own, fresh } = withOwn([], [rubric("readability"), rubric("custom_readability")], [rubric("readability")]);
    expect(new Set(ids(own)).size).toBe(2);
    expect(fresh).toEqual(own);
  });
  it("tell the twelve from all others", () => {
    expect([isSkill("readability"), isSkill("overall"), isSkill("custom_readability")]).toEqual([true, false, false]);
  });
});

describe("what is chosen", () => {
  const shelf: Shelved[] = [
    file("a", rubric("kind"), rubric("tone")),
    { id: "b", title: "Bad", reading: { kind: "unreadable", message: "x:1:1: no" } },
    { id: "c", title: "Slow", reading: { kind: "waiting" } },
    file("d", rubric("kind", [0, 10])),
    file("e", rubric("other")),
  ];
  it("is every rubric of the ticked files that can be read", () => {
    const ticked = { a: "Title a", b: "Bad", c: "Slow", d: "Title d", gone: "Gone" };
    expect(ids(chosenOf(shelf, ticked, ["tone"]))).toEqual(["kind", "custom_tone", "custom_kind"]);
    expect(chosenOf(shelf, {}, [])).toEqual([]);
    expect(goneOf(shelf, ticked)).toEqual([{ id: "gone", title: "Gone" }]);
  });
  it("changes by one tick at a time", () => {
    const one = withTick({}, shelf[0]!, true);
    expect(one).toEqual({ a: "Title a" });
    expect(withTick(withTick(one, shelf[3]!, true), shelf[0]!, false)).toEqual({ d: "Title d" });
  });
});

it("the same name twice is told apart, and the first keeps it", () => {
  expect(labelsOf([rubric("readability", [1], "Readability"), rubric("mine", [1], "Readability"), rubric("kind", [1], "Kindness")]))
    .toEqual(["Readability", "Readability (mine)", "Kindness"]);
});

describe("scales (P17)", () => {
  const rubrics = [rubric("kind", [0, 10]), rubric("readability"), rubric("tone"), rubric("overall"), rubric("odd", [-1, 0, 10])];
  it("go by the lowest and the highest value", () => {
    expect(scalesOf(rubrics)).toEqual([{ min: 0, max: 10, places: [0] }, { min: 1, max: 5, places: [1, 2, 3] }, { min: -1, max: 10, places: [4] }]);
  });
  it("have a mean where the skills are, or where there is but one", () => {
    expect(meanScale(rubrics, ["overall"])).toEqual({ min: 1, max: 5, places: [1, 2] });
    expect(meanScale([rubrics[0]!, rubric("overall")], ["overall"])).toEqual({ min: 0, max: 10, places: [0] });
    expect(meanScale([rubrics[0]!, rubric("tone")], [])).toBeNull();
    expect(meanScale([rubric("overall")], ["overall"])).toBeNull();
  });
});
