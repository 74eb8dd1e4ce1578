import { describe, expect, it } from "vitest";
import { NOTHING_ASKED, faultOf, reduceAsks, sentItems, type AskAction, type Asks } from "../src/asks";
import type { Annotated, Annotation, ChecklistItem } from "../src/types";

const request = (id: string, question: string, more: Partial<ChecklistItem> = {}): ChecklistItem => ({ id, question, origin: "request", ...more });
const WORDS: ChecklistItem = {
  id: "constraint-1", question: "Is the response at most 20 words long?", origin: "constraint",
  constraint: { kind: "count", what: "word", limit: { at_most: 20 } }, passage: "at most 20 words",
};
const NAMES = request("request-1", "Does the response name three colours?");
const WHITE = request("request-2", "Does the response say what they make together?");

const after = (asks: Asks, ...actions: AskAction[]) => actions.reduce(reduceAsks, asks);
const generated = (items: ChecklistItem[], anew = false): AskAction => ({ type: "generated", items, anew });
const listed = () => after(NOTHING_ASKED, generated([WORDS, NAMES, WHITE]));
const questions = (asks: Asks) => asks.items.map(({ item }) => item.question);
const edit = (id: string, question: string): AskAction => ({ type: "item_edited", id, change: { question } });

describe("a checklist", () => {
  it("is generated again with the prompt; an item that a person changed stays, in its place and once", () => {
    let asks = after(listed(), edit("request-1", "Does it name three colours of light?"));
    asks = after(asks, generated([WORDS, NAMES, WHITE]));
    expect(questions(asks)).toEqual([WORDS.question, "Does it name three colours of light?", WHITE.question]);
    // The prompt no longer gives the item that it was made from: the person's words stay all the same.
    asks = after(asks, generated([WORDS]));
    expect(questions(asks)).toEqual([WORDS.question, "Does it name three colours of light?"]);
  });

  it("keeps what a person wrote or opened, whatever the prompt", () => {
    let asks = after(listed(), { type: "items_added", items: [request("own-1", "Mine?", { origin: "person" })] });
    asks = after(asks, generated([]), generated([NAMES], true));
    expect(questions(asks)).toEqual([NAMES.question, "Mine?"]);
  });

  it("keeps an item off although its id has shifted", () => {
    let asks = after(listed(), { type: "item_switched", ids: ["request-2"], on: false });
    asks = after(asks, generated([{ ...WHITE, id: "request-1" }, { ...NAMES, id: "request-2" }]));
    expect(asks.items.map(({ item, on }) => [item.question, on])).toEqual([[WHITE.question, false], [NAMES.question, true]]);
  });

  it("brings deleted items back only when it is asked to", () => {
    let asks = after(listed(), { type: "item_deleted", id: "request-1" }, generated([WORDS, NAMES, WHITE]));
    expect(questions(asks)).toEqual([WORDS.question, WHITE.question]);
    asks = after(asks, generated([WORDS, NAMES, WHITE], true));
    expect(questions(asks)).toEqual([WORDS.question, NAMES.question, WHITE.question]);
  });

  it("gives every item an id of its own, and a person's item keeps its own", () => {
    let asks = after(listed(), edit("request-1", "Mine now?"));
    const other = request("request-1", "Does the response do something else?");
    asks = after(asks, generated([other, { ...other, question: "And that?" }]));
    expect(asks.items.map(({ item }) => [item.id, item.question])).toEqual([
      ["request-1-2", other.question], ["request-1-3", "And that?"], ["request-1", "Mine now?"],
    ]);
  });

  it("that came from a file does not change with the prompt", () => {
    const file = { items: [request("a", "From the file?")] };
    let asks = after(listed(), { type: "opened", checklist: file, name: "list.toml" }, generated([WORDS]));
    expect([questions(asks), asks.file]).toEqual([["From the file?"], "list.toml"]);
    asks = after(asks, generated([WORDS], true));
    expect(questions(asks)).toEqual([WORDS.question, "From the file?"]);
  });

  it("can be had back after each change, and typing is one change", () => {
    let asks = after(listed(), edit("request-1", "D"), edit("request-1", "Do"), edit("request-1", "Does?"));
    asks = after(asks, { type: "item_deleted", id: "request-2" }, { type: "cleared" });
    expect(questions(asks)).toEqual([]);
    asks = after(asks, { type: "undone" });
    expect(questions(asks)).toEqual([WORDS.question, "Does?"]);
    asks = after(asks, { type: "undone" });
    expect(questions(asks)).toEqual([WORDS.question, "Does?", WHITE.question]);
    asks = after(asks, { type: "undone" });
    expect(questions(asks)).toEqual([WORDS.question, NAMES.question, WHITE.question]);
    expect(after(asks, { type: "undone" })).toBe(asks);
  });

  it("does not bring back another prompt's items with an undo", () => {
    let asks = after(listed(), { type: "item_deleted", id: "request-1" }, generated([request("request-1", "New prompt?")]));
    asks = after(asks, { type: "undone" });
    expect(questions(asks)).toEqual(["New prompt?"]);
  });
});

describe("an item", () => {
  it("with other words is no longer what code verifies, until it is restored", () => {
    let asks = after(listed(), edit("constraint-1", "Is it brief?"));
    expect(asks.items[0]!.item).toEqual({ id: "constraint-1", question: "Is it brief?", origin: "constraint", passage: "at most 20 words" });
    asks = after(asks, { type: "item_restored", id: "constraint-1" });
    expect(asks.items[0]).toEqual({ item: WORDS, on: true, original: null, kept: false });
  });

  it("with another weight or skill is still verified", () => {
    const asks = after(listed(), { type: "item_edited", id: "constraint-1", change: { weight: 2, skill: "conciseness" } });
    expect(asks.items[0]!.item).toEqual({ ...WORDS, weight: 2, skill: "conciseness" });
    // What is the default is not written into a file.
    const back = after(asks, { type: "item_edited", id: "constraint-1", change: { weight: 1, skill: undefined } });
    expect(back.items[0]!.item).toEqual(WORDS);
  });

  it("is sent where it is on, sound, and its kind is judged", () => {
    const hard = request("hard-1", "How well?", { answer: "one_to_five" });
    const asks = after(NOTHING_ASKED, generated([WORDS, NAMES, hard]), { type: "item_switched", ids: ["request-1"], on: false });
    const ids = (checklist: boolean, hard: boolean) => sentItems(asks.items, { checklist, hard }).map(({ id }) => id);
    expect([ids(true, false), ids(false, true), ids(true, true), ids(false, false)]).toEqual([["constraint-1"], ["hard-1"], ["constraint-1", "hard-1"], []]);
    const spoiled = after(asks, edit("constraint-1", "  "), { type: "item_edited", id: "hard-1", change: { weight: 0 } });
    expect(sentItems(spoiled.items, { checklist: true, hard: true })).toEqual([]);
    expect(spoiled.items.map(({ item }) => faultOf(item))).toEqual(["no_question", null, "no_weight"]);
    expect(faultOf({ ...NAMES, weight: NaN })).toBe("no_weight");
  });
});

describe("an annotation", () => {
  const said = (by: Annotation["by"], skill: "insightfulness" | "readability"): Annotation => ({ skills: [skill], domains: [], difficulty: null, by });
  const read = (prompt: string, again = false, reference = ""): AskAction => {
    const annotated: Annotated = { annotation: said("code", "readability"), evidence: [], domain_scores: [], skill_scores: [], difficulty_estimate: null };
    return { type: "read", texts: { prompt, reference }, annotated, again };
  };
  const mine = { type: "annotated", annotation: said("person", "insightfulness") } as const;

  it("that a person set stands while its prompt stays", () => {
    let asks = after(NOTHING_ASKED, read("a"), mine, read("a", false, "a new reference"));
    expect(asks.annotation).toEqual(mine.annotation);
    expect(asks.texts).toEqual({ prompt: "a", reference: "a new reference" });
    asks = after(asks, read("b"));
    expect(asks.annotation!.by).toBe("code");
  });

  it("that a person set is read again when they ask for it", () => {
    expect(after(NOTHING_ASKED, read("a"), mine, read("a", true)).annotation!.by).toBe("code");
  });

  it("by the model stands as a person's does, for they asked for it", () => {
    const model = { type: "annotated", annotation: said("model", "insightfulness") } as const;
    expect(after(NOTHING_ASKED, read("a"), model, read("a")).annotation!.by).toBe("model");
  });
});
