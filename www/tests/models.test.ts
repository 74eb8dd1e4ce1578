import { describe, expect, it } from "vitest";
import { IDLE, follow, timeLeft, type Current, type DownloadState } from "../src/download/follow";
import { HUB, fileUrl, hubBase, parseAddress, readRepo } from "../src/download/hub";
import { ARCHITECTURES, PRESETS } from "../src/download/presets";
import { WASM_LIMIT, fitOf, memoryFor } from "../src/memory";
import { formOfName, profileOf } from "../src/profile";
import { INITIAL, offeredAdapters, reduce, sourceName, type ModelState } from "../src/state";
import type { EngineInfo } from "../src/types";
import type { Profile } from "../src/worker/names";
import { PROFILES, markerMatches, partOf, readMarker } from "../src/worker/names";
import type { Preset, StoredFile } from "../src/worker/protocol";

const SHA = "0123456789abcdef".repeat(4);
const file = (change: Partial<StoredFile> = {}): StoredFile => ({
  sha256: SHA, bytes: 10, finished: true, name: "tiny.gguf", title: "Tiny", source: "", licence: "", at: 1, kind: "model", profile: null, ...change,
});
const ready = (change: Partial<EngineInfo["model"]>, profile: Profile | null = null): ModelState => ({
  phase: "ready", origin: "cached", other_tab: false, profile,
  info: { model: { name: "tiny.gguf", sha256: SHA, head: null, ...change } } as EngineInfo,
});

describe("markers", () => {
  it("of an earlier version are read, and what is new in them is taken only where it is what it should be", () => {
    expect(readMarker(`{"bytes":10,"sha256":"${SHA}"}`)).toEqual({ bytes: 10, sha256: SHA });
    expect(readMarker(JSON.stringify({ bytes: 10, sha256: SHA, title: "Tiny", at: 5, kind: "model", profile: "head", licence: 3, name: null, more: 1 }))).toEqual({
      bytes: 10, sha256: SHA, title: "Tiny", at: 5, kind: "model", profile: "head",
    });
    expect(readMarker(JSON.stringify({ bytes: 10, sha256: SHA, kind: "virus", profile: "constructor", modified: "now" }))).toEqual({ bytes: 10, sha256: SHA });
    for (const broken of ["", "[]", "1", `{"bytes":-1,"sha256":"${SHA}"}`, `{"bytes":1.5,"sha256":"${SHA}"}`, `{"bytes":1,"sha256":"../x"}`]) {
      expect(readMarker(broken)).toBe(null);
      expect(markerMatches(broken, 1, SHA)).toBe(false);
    }
  });

  it("and files are told apart by their names", () => {
    expect([`${SHA}.gguf`, `${SHA}.part`, `${SHA}.json`].map((name) => partOf(name)?.part)).toEqual(["file", "partial", "marker"]);
    for (const name of [SHA, `${SHA}.gguf.json`, `${SHA}.txt`, "tiny.gguf", ".gguf", `${SHA}.toString`]) expect(partOf(name)).toBe(null);
  });
});

describe("addresses of Hugging Face", () => {
  it("are read in every form that people copy", () => {
    const all = { repo: "Qwen/Qwen3-4B-GGUF", revision: "main", file: null };
    const one = { ...all, file: "Qwen3-4B-Q4_K_M.gguf" };
    expect(["Qwen/Qwen3-4B-GGUF", " https://huggingface.co/Qwen/Qwen3-4B-GGUF/ ", "hf.co/Qwen/Qwen3-4B-GGUF", "https://huggingface.co/Qwen/Qwen3-4B-GGUF/tree/main"].map(parseAddress)).toEqual([all, all, all, all]);
    expect(
      ["Qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf", "https://huggingface.co/Qwen/Qwen3-4B-GGUF/blob/main/Qwen3-4B-Q4_K_M.gguf", "https://huggingface.co/Qwen/Qwen3-4B-GGUF/resolve/main/Qwen3-4B-Q4_K_M.gguf?download=true"].map(parseAddress),
    ).toEqual([one, one, one]);
    expect(parseAddress("a/b/resolve/v1.0/sub folder/x.GGUF")).toEqual({ repo: "a/b", revision: "v1.0", file: "sub folder/x.GGUF" });
  });
  it("and nothing else is", () => {
    for (const bad of ["", "owner", "https://example.com/a/b", "javascript:alert(1)/b", "../b", "a/..", "a/b/../x.gguf", "a/b/x.bin", "a b/c", "a/b/blob", "a/%", "a/b/%2e%2e/x.gguf", "ftp://a/b"]) {
      expect([bad, parseAddress(bad)]).toEqual([bad, null]);
    }
  });
  it("lead to a pinned commit, spelled so that nothing in a name is taken for more", () => {
    expect(fileUrl(HUB, { repo: "a/b", commit: "c".repeat(40) }, "sub/50% é#.gguf")).toBe(`https://huggingface.co/a/b/resolve/${"c".repeat(40)}/sub/50%25%20%C3%A9%23.gguf`);
  });
  it("may be answered by a mirror on the page's own server, by no other", () => {
    const page = "https://judge.example/retort/models.html";
    expect(hubBase("", page)).toBe(HUB);
    expect(hubBase("?hub=mirror/", page)).toBe("https://judge.example/retort/mirror");
    for (const other of ["https://elsewhere.example/", "//elsewhere.example", "data:text/plain,x", "http://judge.example/", "https://"]) {
      expect([other, hubBase(`?hub=${encodeURIComponent(other)}`, page)]).toEqual([other, HUB]);
    }
  });
});

describe("what the hub says of a repository", () => {
  const commit = "0123456789".repeat(4);
  it("is its GGUF files, smallest first, with what they can be checked by", () => {
    const said = {
      sha: commit, gated: "manual", cardData: { license: "apache-2.0" },
      siblings: [
        { rfilename: "README.md", size: 3 },
        { rfilename: "b.gguf", size: 130, lfs: { sha256: SHA, size: 2000, pointerSize: 130 } },
        { rfilename: "a.gguf", size: 1000 },
        { rfilename: "c-00001-of-00002.gguf", lfs: { sha256: "nonsense", size: 3000 } },
        { rfilename: "no-size.gguf" }, { rfilename: "odd.gguf", size: -1 }, null, 7,
      ],
    };
    expect(readRepo("a/b", JSON.stringify(said))).toEqual({
      repo: "a/b", commit, gated: true, licence: "apache-2.0",
      files: [
        { path: "a.gguf", bytes: 1000, sha256: null, split: false },
        { path: "b.gguf", bytes: 2000, sha256: SHA, split: false },
        { path: "c-00001-of-00002.gguf", bytes: 3000, sha256: null, split: true },
      ],
    });
  });
  it("is refused where it is something else", () => {
    for (const bad of ["", "null", "[]", "{}", `{"sha":"main","siblings":[]}`, `{"sha":"${commit}","siblings":{}}`]) expect([bad, readRepo("a/b", bad)]).toEqual([bad, null]);
  });
});

describe("presets", () => {
  it("have addresses that are read, and name a file only where it is one file", () => {
    for (const { repo, file: name, about_bytes, licence } of PRESETS) {
      expect(parseAddress(repo)?.repo).toBe(repo);
      if (name !== null) expect(parseAddress(`${repo}/${name}`)?.file).toBe(name);
      expect(about_bytes === null).toBe(name === null);
      expect(licence).not.toBe("");
    }
    expect(new Set(PRESETS.map(({ repo }) => repo)).size).toBe(PRESETS.length);
    expect(new Set(PRESETS.map(({ profile }) => profile))).toEqual(new Set(PROFILES));
    expect(PRESETS.some(({ architecture }) => ARCHITECTURES.includes(architecture))).toBe(true);
  });
});

describe("memory", () => {
  it("is reckoned from the file, and from the shape where it is known", () => {
    // The default model: 98,362,432 bytes; BENCHMARKS.md measured 1.24 of the file after a judgement.
    expect(memoryFor(98_362_432)).toBe(Math.round(1.24 * 98_362_432));
    // 2.5 GB x 1.07, and 2 x 36 layers x 1024 numbers x 4096 tokens x 1.125 bytes = 339,738,624.
    expect(memoryFor(2.5e9, { layers: 36, kv_width: 1024 })).toBe(2_675_000_000 + 339_738_624);
  });
  it("is warned of beyond what WebAssembly can hold, or where it is much for the device", () => {
    expect(fitOf(WASM_LIMIT, undefined)).toBe("fine");
    expect(fitOf(WASM_LIMIT + 1, 64)).toBe("too_large");
    expect(fitOf(2 ** 30 + 1, 2)).toBe("tight");
    expect(fitOf(2 ** 30, 2)).toBe("fine");
  });
});

describe("a download", () => {
  const current = (change: Partial<Current> = {}): Current => ({
    url: "", source: "", profile: "options", wanted: { name: "t", title: "T", bytes: 1000, sha256: SHA, licence: "" },
    phase: "running", stage: "starting", loaded_bytes: 0, from: null, cached: false, failure: null, ...change,
  });
  const state = (change: Partial<Current> = {}): DownloadState => ({ ...IDLE, current: current(change) });

  it("says how long it still takes, once it can be known, and not from what was there before", () => {
    let now = follow(state(), { type: "progress", stage: "hashing", loaded_bytes: 400, total_bytes: 400 }, 0);
    expect(now.current!.from).toBe(null);
    now = follow(now, { type: "progress", stage: "download", loaded_bytes: 400, total_bytes: 1000 }, 1000);
    now = follow(now, { type: "progress", stage: "download", loaded_bytes: 500, total_bytes: 1000 }, 6000);
    expect(timeLeft(now.current!, 2000)).toBe(null);
    // 100 bytes in 5 s, 500 to go.
    expect(timeLeft(now.current!, 6000)).toBe(25_000);
    expect(timeLeft(current(), 6000)).toBe(null);
  });
  it("keeps what is stored when it pauses, and forgets nothing when a late message comes", () => {
    const paused = follow(state({ loaded_bytes: 300 }), { type: "paused" }, 0);
    expect([paused.current!.phase, paused.current!.loaded_bytes]).toEqual(["paused", 300]);
    const done = follow(state(), { type: "done", cached: false }, 0);
    expect(follow(done, { type: "paused" }, 0)).toBe(done);
    const failed = follow(state(), { type: "failed", error: { code: "hash_mismatch", message: "no" } }, 0);
    expect([failed.current!.phase, failed.current!.failure?.code]).toEqual(["failed", "hash_mismatch"]);
    expect(follow(IDLE, { type: "progress", stage: "download", loaded_bytes: 1, total_bytes: 2 }, 0).current).toBe(null);
  });
});

describe("stored models", () => {
  const preset: Preset = { name: "tiny", title: "Tiny of the server", file: "", url: "", bytes: 10, sha256: SHA, licence: "", description: "", default: true, adapters: [
    { name: "tone", title: "Tone", file: "", url: "", bytes: 1, sha256: "f".repeat(64), licence: "", description: "", default: true },
  ] };
  it("get the adapters that the server offers for the same file, and their own title", () => {
    let state = reduce(INITIAL, { type: "presets", presets: [preset] });
    state = reduce(state, { type: "stored", files: [file()], freed: null, error: null });
    const source = { kind: "stored", sha256: SHA } as const;
    state = reduce(state, { type: "load_requested", load_id: 1, source, backend: "auto", adapter: { kind: "none" } });
    expect(state.model).toMatchObject({ phase: "loading", name: "Tiny" });
    expect(offeredAdapters(state).map(({ name }) => name)).toEqual(["tone"]);
    expect(sourceName(state, { kind: "stored", sha256: "e".repeat(64) })).toBe("");
  });
  it("keep what was said of a deletion while the list is only looked at", () => {
    let state = reduce(INITIAL, { type: "stored", files: [], freed: 10, error: null });
    state = reduce(state, { type: "stored", files: [file()], freed: null, error: null });
    expect(state.stored).toEqual({ files: [file()], freed: 10, error: null });
    state = reduce(state, { type: "stored", files: [file()], freed: null, error: { code: "file_in_use", message: "" } });
    expect([state.stored!.freed, state.stored!.error?.code]).toEqual([null, "file_in_use"]);
  });
  it("are asked as the file itself says, then as whoever offered it said", () => {
    const of = (model: ModelState, asked_by: Profile | null = null) => profileOf({ model, asked_by });
    const head = { outputs: 1, labels: [] };
    expect(of({ phase: "none" })).toBe(null);
    expect(of(ready({}))).toBe("options");
    expect(of(ready({}, "selene"))).toBe("selene");
    expect(of(ready({ head }, "options"))).toBe("head");
    // Offered as a reward model, but the file has no head.
    expect(of(ready({}, "head"))).toBe("options");
    // A person knows better than what was stored; a head cannot be asked by anything but itself.
    expect(of(ready({}, "selene"), "options")).toBe("options");
    expect(of(ready({ head }), "glider")).toBe("head");
    // A file of one's own goes by its name.
    expect(of(ready({ name: "prometheus-7b-v2.0.Q4_K_M.gguf" }))).toBe("prometheus");
  });
  it("that are public judges are known by their names", () => {
    const names = ["flow-judge-v0.1-Q4_K_M.gguf", "Flow_Judge.gguf", "selene-1-mini-llama-3.1-8b-q4_k_m.gguf", "glider_Q4_K_M.gguf", "workflow.gguf"];
    expect(names.map(formOfName)).toEqual(["flow_judge", "flow_judge", "selene", "glider", null]);
  });
});
