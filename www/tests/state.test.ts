import { describe, expect, it } from "vitest";
import { INITIAL, ownFiles, reduce, stillOf, type State } from "../src/state";
import type { AdapterInfo, EngineInfo, JudgeRecord, Rubric, RubricVerdict } from "../src/types";

const rubric = (id: string): Rubric => ({
  id, name: id, ability: null, criterion: "", question: null,
  options: [1, 2, 3].map((value) => ({ label: String(value), value, description: null })),
});
const verdict = (id: string, expected: number): RubricVerdict => ({
  rubric_id: id, rubric_name: id, rubric_sha256: "",
  verdict: { kind: "scored", expected, min: 1, max: 3, distribution: [], mass: 1, method: "option_probabilities", truncated: false },
});
const record = (verdicts: RubricVerdict[], cancelled: boolean): JudgeRecord => ({
  format: "retort.judgement/1", version: "", task: "rubric_scores",
  input: { prompt_sha256: "", response_sha256: "", reference_sha256: null },
  model: { name: "", sha256: null, adapter: null }, backend: "cpu", device: "", seed: null, orders: [], verdicts,
  truncations: [], notices: [], timings: { total_ms: 1, tokens: 1, tokens_reused: 0 }, cancelled,
});
const running = (): State => reduce(INITIAL, { type: "judge_requested", run_id: 7, request: { prompt: "", response: "", rubrics: ["a", "b", "c"].map(rubric) } });
const ids = (state: State) => state.run!.rows.map((row) => row.verdict?.rubric_id ?? null);

describe("what stands still while a judgement goes on", () => {
  it("is the same value for every step of it, and another when it begins, ends or something else changes", () => {
    const idle = stillOf(INITIAL, null);
    expect(idle.running).toBe(false);
    expect("run" in idle).toBe(false);
    let state = running();
    const begun = stillOf(state, idle);
    expect([begun === idle, begun.running]).toEqual([false, true]);
    state = reduce(state, { type: "judge_event", run_id: 7, event: { kind: "progress", done_tokens: 1, total_tokens: 2 } });
    state = reduce(state, { type: "judge_event", run_id: 7, event: { kind: "verdict", index: 0, verdict: verdict("a", 3) } });
    expect(stillOf(state, begun)).toBe(begun);
    const told = stillOf(reduce(state, { type: "stall_changed", stalled: true }), begun);
    expect([told === begun, told.stalled]).toEqual([false, true]);
    expect(stillOf(reduce(state, { type: "judged", run_id: 7, record: record([], false) }), begun).running).toBe(false);
  });
});

describe("a run", () => {
  it("puts each verdict into its row as it comes, whatever the order", () => {
    let state = running();
    state = reduce(state, { type: "judge_event", run_id: 7, event: { kind: "verdict", index: 2, verdict: verdict("c", 3) } });
    expect(ids(state)).toEqual([null, null, "c"]);
  });

  it("collects what a judge is writing until its verdict is there", () => {
    const writing = (state: State, question: number, piece: string) => reduce(state, { type: "judge_event", run_id: 7, event: { kind: "writing", question, piece } });
    let state = writing(writing(running(), 0, "It is "), 0, "sound.");
    expect(state.run!.writing).toEqual({ rubric_id: "a", text: "It is sound." });
    state = reduce(state, { type: "judge_event", run_id: 7, event: { kind: "verdict", index: 0, verdict: verdict("a", 3) } });
    expect(state.run!.writing).toBeNull();
    state = writing(state, 1, "Not");
    expect(state.run!.writing).toEqual({ rubric_id: "b", text: "Not" });
    state = reduce(state, { type: "judged", run_id: 7, record: record([verdict("a", 3)], true) });
    expect(state.run!.writing).toBeNull();
  });

  it("ignores messages of an earlier run", () => {
    const state = running();
    expect(reduce(state, { type: "judge_event", run_id: 6, event: { kind: "verdict", index: 0, verdict: verdict("a", 3) } })).toBe(state);
    expect(reduce(state, { type: "judged", run_id: 6, record: record([], false) })).toBe(state);
  });

  it("keeps finished scores when it is cancelled", () => {
    let state = running();
    state = reduce(state, { type: "judge_event", run_id: 7, event: { kind: "verdict", index: 0, verdict: verdict("a", 2) } });
    state = reduce(state, { type: "cancel_requested" });
    expect(state.run!.cancelling).toBe(true);
    state = reduce(state, { type: "judged", run_id: 7, record: record([verdict("a", 2)], true) });
    expect(state.run!.phase).toBe("cancelled");
    expect(ids(state)).toEqual(["a", null, null]);
  });

  it("keeps them too when cancelling ends in an error, and shows no error", () => {
    let state = running();
    state = reduce(state, { type: "judge_event", run_id: 7, event: { kind: "verdict", index: 0, verdict: verdict("a", 2) } });
    state = reduce(state, { type: "judge_failed", run_id: 7, error: { code: "cancelled", message: "" } });
    expect(state.run!.phase).toBe("cancelled");
    expect(state.error).toBeNull();
    expect(ids(state)).toEqual(["a", null, null]);
  });

  it("matches the record's verdicts by id, not by position (P19)", () => {
    const state = reduce(running(), { type: "judged", run_id: 7, record: record([verdict("c", 3), verdict("a", 1)], false) });
    expect(ids(state)).toEqual(["a", null, "c"]);
  });

  it("ends when the worker dies, with what it had (P35)", () => {
    let state = running();
    state = reduce(state, { type: "judge_event", run_id: 7, event: { kind: "verdict", index: 1, verdict: verdict("b", 2) } });
    state = reduce(state, { type: "worker_died", message: "gone" });
    expect(state.run!.phase).toBe("failed");
    expect(ids(state)).toEqual([null, "b", null]);
    expect(state.error).toEqual({ place: "engine", failure: { code: "worker_died", message: "gone" } });
    expect(state.model.phase).toBe("none");
  });
});

describe("a load", () => {
  const info = { backend: "cpu", reason: "", device: "", model: {} } as unknown as EngineInfo;
  const loading = () => reduce(INITIAL, { type: "load_requested", load_id: 3, source: { kind: "preset", name: "m" }, backend: "auto", adapter: { kind: "none" } });

  it("shows progress in bytes, of the current load only", () => {
    const progress = { type: "load_progress", load_id: 3, name: "m", stage: "download", loaded_bytes: 5, total_bytes: 10 } as const;
    expect(reduce(loading(), progress).model).toMatchObject({ phase: "loading", loaded_bytes: 5, total_bytes: 10 });
    const state = loading();
    expect(reduce(state, { ...progress, load_id: 2 })).toBe(state);
  });

  it("is not undone by the failure of the one that it replaced", () => {
    const state = loading();
    expect(reduce(state, { type: "load_failed", load_id: 2, place: "model", error: { code: "cancelled", message: "" } })).toBe(state);
  });

  it("ends ready, or with an error that drops a waiting judgement", () => {
    expect(reduce(loading(), { type: "loaded", load_id: 3, info, origin: "cached", other_tab: false, profile: null }).model.phase).toBe("ready");
    const queued = reduce(loading(), { type: "queue_changed", queued: true });
    const failed = reduce(queued, { type: "load_failed", load_id: 3, place: "model", error: { code: "not_gguf", message: "x" } });
    expect(failed).toMatchObject({ queued: false, model: { phase: "none" }, error: { place: "model", failure: { code: "not_gguf" } } });
  });

  it("is gone when stored models are deleted", () => {
    const ready = reduce(loading(), { type: "loaded", load_id: 3, info, origin: "cached", other_tab: false, profile: null });
    expect(reduce(ready, { type: "models_forgotten", bytes: 5 })).toMatchObject({ model: { phase: "none" }, forgotten: 5 });
  });

  it("that is cancelled is no error", () => {
    const state = reduce(loading(), { type: "load_failed", load_id: 3, place: "model", error: { code: "cancelled", message: "" } });
    expect(state.error).toBeNull();
    expect(state.model.phase).toBe("none");
  });
});

describe("files of one's own", () => {
  it("are parts in the order of their names, however they were chosen (P36)", () => {
    const files = [3, 1, 2].map((part) => new File([], `m-0000${part}-of-00003.gguf`));
    const source = ownFiles(files);
    expect(source?.kind === "file" && source.files.map(({ name }) => name)).toEqual([1, 2, 3].map((part) => `m-0000${part}-of-00003.gguf`));
    expect(ownFiles([])).toBeNull();
  });
});

describe("an adapter", () => {
  const applied: AdapterInfo = { name: "a.gguf", sha256: null, title: "A", rank: 4, strength: 1 };
  const info = { backend: "cpu", reason: "", device: "", model: {}, adapter: null } as unknown as EngineInfo;
  const loaded = () => {
    const loading = reduce(INITIAL, { type: "load_requested", load_id: 3, source: { kind: "preset", name: "m" }, backend: "auto", adapter: { kind: "none" } });
    return reduce(loading, { type: "loaded", load_id: 3, info, origin: "cached", other_tab: false, profile: null });
  };
  const asked = (state: State, adapter_id: number, name: string | null) =>
    reduce(state, { type: "adapter_requested", adapter_id, adapter: name === null ? { kind: "none" } : { kind: "file", file: new File([], name) } });

  it("is applied, and taken away", () => {
    let state = asked(loaded(), 4, "a.gguf");
    expect(state.adapter.changing).toBe("a.gguf");
    state = reduce(state, { type: "adapter_set", adapter_id: 4, adapter: applied });
    expect(state.adapter).toMatchObject({ applied, changing: null });
    state = reduce(asked(state, 5, null), { type: "adapter_set", adapter_id: 5, adapter: null });
    expect(state.adapter).toMatchObject({ applied: null, changing: null });
  });

  it("that cannot be applied leaves the one before, and says why", () => {
    let state = reduce(asked(loaded(), 4, "a.gguf"), { type: "adapter_set", adapter_id: 4, adapter: applied });
    const error = { code: "wrong_adapter", message: "another base" };
    state = reduce(asked(state, 5, "b.gguf"), { type: "adapter_failed", adapter_id: 5, error });
    expect(state.adapter).toMatchObject({ applied, changing: null });
    expect(state.error).toEqual({ place: "adapter", failure: error });
    expect(state.model.phase).toBe("ready");
  });

  it("that was chosen is the choice of the next load, once it is applied", () => {
    let state = reduce(loaded(), { type: "adapter_requested", adapter_id: 4, adapter: { kind: "preset", name: "tone" } });
    expect(state.choice).toEqual({ kind: "none" });
    state = reduce(state, { type: "adapter_progress", adapter_id: 3, loaded_bytes: 1, total_bytes: 2 });
    expect(state.adapter.fetched).toBeNull();
    state = reduce(state, { type: "adapter_progress", adapter_id: 4, loaded_bytes: 1, total_bytes: 2 });
    expect(state.adapter.fetched).toEqual({ loaded_bytes: 1, total_bytes: 2 });
    const failed = reduce(state, { type: "adapter_failed", adapter_id: 4, error: { code: "hash_mismatch", message: "" } });
    expect(failed.choice).toEqual({ kind: "none" });
    state = reduce(state, { type: "adapter_set", adapter_id: 4, adapter: applied });
    expect(state.choice).toEqual({ kind: "preset", name: "tone" });
    expect(state.adapter.fetched).toBeNull();
  });

  it("comes with its model, or its failure says that it was the adapter's", () => {
    const loading = reduce(INITIAL, { type: "load_requested", load_id: 3, source: { kind: "preset", name: "m" }, backend: "auto", adapter: { kind: "preset", name: null } });
    expect(reduce(loading, { type: "loaded", load_id: 3, info: { ...info, adapter: applied }, origin: "cached", other_tab: false, profile: null }).adapter.applied).toBe(applied);
    const error = { code: "hash_mismatch", message: "" };
    const state = reduce(loading, { type: "load_failed", load_id: 3, place: "adapter", error });
    expect(state.error).toEqual({ place: "adapter", failure: error });
    expect(state.model.phase).toBe("none");
  });

  it("goes with its model, and an answer that comes later brings it not back", () => {
    let state = asked(loaded(), 4, "a.gguf");
    state = reduce(state, { type: "load_requested", load_id: 6, source: { kind: "preset", name: "n" }, backend: "auto", adapter: { kind: "none" } });
    expect(reduce(state, { type: "adapter_set", adapter_id: 4, adapter: applied }).adapter.applied).toBeNull();
    expect(reduce(asked(loaded(), 4, "a.gguf"), { type: "worker_died", message: "gone" }).adapter.changing).toBeNull();
  });
});
