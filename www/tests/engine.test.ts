import { describe, expect, it, vi } from "vitest";
import { EngineClient } from "../src/engine";
import { text } from "../src/text";
import type { EngineInfo, JudgeRequest } from "../src/types";
import type { FromWorker, ToWorker } from "../src/worker/protocol";

/** In the worker's place: takes down what it is sent, and says what a test lets it say. */
const worker = vi.hoisted(() => ({ sent: [] as unknown[], hear: (_: unknown) => {} }));
vi.mock("../src/worker/start", () => ({
  startWorker: () => ({
    addEventListener: (type: string, heard: (event: unknown) => void) => {
      if (type === "message") worker.hear = (data) => heard({ data });
    },
    postMessage: (message: unknown) => void worker.sent.push(message),
    terminate: () => {},
  }),
}));
vi.mock("../src/worker/worker.ts?worker&url", () => ({ default: "worker.js" }));

const request: JudgeRequest = { prompt: "p", response: "r", rubrics: [{ id: "readability", name: "Readability", ability: null, criterion: "", question: null, options: [] }] };
const sent = () => (worker.sent as ToWorker[]).filter(({ type }) => type === "judge" || type === "call");

/** A page that is loading; `loaded` is the worker's word that it has a model, with a head or without. */
function loading(): { engine: EngineClient; loaded: (head: EngineInfo["model"]["head"]) => void } {
  worker.sent.length = 0;
  const engine = new EngineClient("models/registry.json");
  engine.start();
  const loaded = (head: EngineInfo["model"]["head"]) =>
    worker.hear({
      type: "loaded", load_id: engine.state.value.load_id, info: { model: { name: "m.gguf", head }, adapter: null, tuning: null } as unknown as EngineInfo, origin: "local", other_tab: false, profile: null,
    } satisfies FromWorker);
  return { engine, loaded };
}

describe("a judgement that was asked for while a model was loading", () => {
  it("starts by itself when the model is there", () => {
    const { engine, loaded } = loading();
    engine.judge(request);
    expect(engine.state.value.queued).toBe(true);
    expect(sent()).toEqual([]);
    loaded(null);
    expect(sent()).toMatchObject([{ type: "judge", request }]);
    expect(engine.state.value).toMatchObject({ queued: false, run: { phase: "running" }, error: null });
  });

  it("is refused in words where the model turns out to have a head of its own, and nothing is sent to it", () => {
    const { engine, loaded } = loading();
    engine.judge(request);
    loaded({ outputs: 1, labels: [] });
    expect(sent()).toEqual([]);
    const { queued, run, error } = engine.state.value;
    expect({ queued, phase: run?.phase, verdict: run?.rows[0]?.verdict }).toEqual({ queued: false, phase: "failed", verdict: null });
    expect(error).toEqual({ place: "judge", failure: { code: "only_head", message: text.failure.onlyHead } });
    // What it cannot do, and what can be done.
    expect(text.failure.onlyHead).toContain("cannot judge by rubrics");
    expect(text.advice["only_head"]).toContain("Load another model");
  });

  it("apart from the page's own is refused with the same words", async () => {
    const { engine, loaded } = loading();
    await expect(engine.judgeApart(request)).rejects.toMatchObject({ code: "not_ready" });
    loaded({ outputs: 3, labels: [] });
    await expect(engine.judgeApart(request)).rejects.toEqual({ code: "only_head", message: text.failure.onlyHead });
    expect(sent()).toEqual([]);
  });
});

describe("reading ahead", () => {
  /** The calls and cancels that the worker was sent, in their order. */
  const told = () => (worker.sent as ToWorker[]).flatMap((message) => (message.type === "call" ? [message.call.name] : ["cancel_call", "judge", "set_adapter"].includes(message.type) ? [message.type] : []));

  it("is stopped by whatever else is asked of the model, and by nothing else", () => {
    const { engine, loaded } = loading();
    engine.readAhead(request);
    // There is no model yet.
    expect(told()).toEqual([]);
    loaded(null);
    engine.readAhead(request);
    expect(engine.ahead.value).toBe("reading");
    void engine.call("annotate", { instruction: "p" }).answer.catch(() => undefined);
    expect(told()).toEqual(["read_ahead", "annotate"]);
    void engine.call("compare", { prompt: "p", responses: ["a", "b"] }).answer.catch(() => undefined);
    expect(told().slice(2)).toEqual(["cancel_call", "compare"]);
    expect(engine.ahead.value).toBe("none");
    engine.readAhead(request);
    engine.judge(request);
    expect(told().slice(4)).toEqual(["read_ahead", "cancel_call", "judge"]);
    // Nothing is read while a judgement runs.
    engine.readAhead(request);
    expect(told()).toHaveLength(7);
  });

  it("says when it is done, and reads nothing for a model with a head of its own", async () => {
    const { engine, loaded } = loading();
    loaded(null);
    engine.readAhead(request);
    const call = (worker.sent as ToWorker[]).find((message) => message.type === "call")!;
    worker.hear({ type: "answered", call_id: call.call_id, get: undefined } satisfies FromWorker);
    await vi.waitFor(() => expect(engine.ahead.value).toBe("read"));
    const other = loading();
    other.loaded({ outputs: 1, labels: [] });
    other.engine.readAhead(request);
    expect(told()).toEqual([]);
  });
});
