import { describe, expect, it } from "vitest";
import { formatBytes, formatBytesOf, formatDuration, formatParameters, formatPercent, formatScore, lineOf, recordName } from "../src/format";
import { Refusals } from "../src/refusals";
import { radarOf, wrapLabel } from "../src/radar";
import type { Rubric, RubricVerdict } from "../src/types";
import { RetortError, toFailure } from "../src/worker/failure";
import { cacheNames, markerMatches, rangeStart } from "../src/worker/names";
import { readRegistry } from "../src/worker/registry";

describe("format", () => {
  it("writes bytes in decimal units", () => {
    expect([0, 999, 1000, 999_949, 999_950, 98_431_000, 1e9].map(formatBytes)).toEqual(["0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB", "98.4 MB", "1.0 GB"]);
  });
  it("writes a part in the unit of the whole", () => {
    expect(formatBytesOf(500_000, 98_431_000)).toBe("0.5 of 98.4 MB");
    expect(formatBytesOf(3, 600)).toBe("3 of 600 B");
  });
  it("never rounds to nothing or to all", () => {
    expect([0, 0.001, 0.005, 0.5, 0.994, 0.9951, 1].map(formatPercent)).toEqual(["0%", "<1%", "1%", "50%", "99%", ">99%", "100%"]);
  });
  it("has no text for a score that is not a number (P16)", () => {
    expect(formatScore(3.456)).toBe("3.46");
    expect([NaN, Infinity, -Infinity].map(formatScore)).toEqual([null, null, null]);
  });
  it("writes durations", () => {
    expect([12.4, 1234, 59_949, 59_960, 125_000].map(formatDuration)).toEqual(["12 ms", "1.2 s", "59.9 s", "1 min 0 s", "2 min 5 s"]);
  });
  it("writes parameter counts", () => {
    expect([134_515_008, 1_700_000_000, 900].map(formatParameters)).toEqual(["134.5 M", "1.7 B", "900"]);
  });
  it("names records by time", () => {
    expect(recordName(new Date("2026-01-02T03:04:05.678Z"))).toBe("retort-judgement-2026-01-02T03-04-05.json");
  });
  it("finds the line that a diagnostic names", () => {
    expect(["r.toml: line 12: missing", "r.toml:7:3: missing", "r.toml: missing"].map(lineOf)).toEqual([12, 7, null]);
  });
});

describe("radar", () => {
  const row = (name: string, values: number[], expected: number | null) => {
    const rubric: Rubric = { id: name, name, ability: null, criterion: "", question: null, options: values.map((value) => ({ label: String(value), value, description: null })) };
    const verdict: RubricVerdict = {
      rubric_id: name, rubric_name: name, rubric_sha256: "",
      verdict: expected === null
        ? { kind: "unscored", code: "mass_too_low", message: "" }
        : { kind: "scored", expected, min: values[0]!, max: values.at(-1)!, distribution: [], mass: 1, method: "option_probabilities", truncated: false },
    };
    return { rubric, verdict };
  };
  it("is drawn on the scale that all rubrics share", () => {
    const radar = radarOf([row("a", [0, 1, 2], 0.5), row("b", [0, 1, 2], 2), row("c", [0, 1, 2], 1)]);
    expect(radar).toEqual({ kind: "chart", min: 0, max: 2, labels: ["a", "b", "c"], values: [0.5, 2, 1] });
  });
  it("is refused for scales of different ranges, even of the same length (P17)", () => {
    expect(radarOf([row("a", [1, 2, 3], 2), row("b", [0, 1, 2], 2), row("c", [1, 2, 3], 2)])).toEqual({ kind: "none", why: "mixed_scales" });
  });
  it("is refused for fewer than three axes", () => {
    expect(radarOf([row("a", [1, 5], 2), row("b", [1, 5], 2)])).toEqual({ kind: "none", why: "too_few" });
  });
  it("leaves a gap, not a zero, where there is no score (P8)", () => {
    const radar = radarOf([row("a", [1, 5], 2), row("b", [1, 5], null), { ...row("c", [1, 5], 2), verdict: null }]);
    expect(radar).toMatchObject({ values: [2, null, null] });
  });
  it("breaks labels between words", () => {
    expect(wrapLabel("Commonsense understanding")).toEqual(["Commonsense", "understanding"]);
    expect(wrapLabel("A b c")).toEqual(["A b c"]);
  });
});

describe("stored models", () => {
  const sha = "0123456789abcdef".repeat(4);
  it("are named by content, and by nothing that could leave the folder", () => {
    expect(cacheNames(sha)).toEqual({ file: `${sha}.gguf`, partial: `${sha}.part`, marker: `${sha}.json` });
    for (const bad of ["", "../x", sha.toUpperCase(), `${sha}0`]) expect(() => cacheNames(bad)).toThrow("SHA-256");
  });
  it("are believed only with a marker of the same size and hash (P33)", () => {
    const marker = JSON.stringify({ bytes: 10, sha256: sha });
    expect(markerMatches(marker, 10, sha)).toBe(true);
    expect(markerMatches(marker, 11, sha)).toBe(false);
    expect(markerMatches(marker, 10, sha.replace("0", "1"))).toBe(false);
    for (const broken of ["", "null", "{", "[]"]) expect(markerMatches(broken, 10, sha)).toBe(false);
  });
  it("are continued only from where the server says that it begins", () => {
    expect(rangeStart("bytes 100-199/200")).toBe(100);
    for (const bad of [null, "", "bytes */200", "100-199/200", "bytes 100-"]) expect(rangeStart(bad)).toBeNull();
  });
});

describe("the registry", () => {
  const entry = { name: "m", title: "M", file: "m.gguf", url: "m.gguf", bytes: 3, sha256: "a".repeat(64), licence: "Apache-2.0", description: "d", default: true };
  const adapter = { ...entry, name: "a", file: "a.gguf", url: "a.gguf" };
  it("is read", () => {
    expect(readRegistry(JSON.stringify([entry]))).toEqual([{ ...entry, adapters: [] }]);
    expect(readRegistry(JSON.stringify([{ ...entry, adapters: [adapter] }]))).toEqual([{ ...entry, adapters: [adapter] }]);
  });
  it("shows the name where there is no title", () => {
    expect(readRegistry(JSON.stringify([{ ...entry, title: undefined }]))[0]!.title).toBe("m");
  });
  it("is refused with the entry and the field that are wrong", () => {
    const refused = (value: unknown) => {
      try {
        readRegistry(typeof value === "string" ? value : JSON.stringify(value));
        return "";
      } catch (thrown) {
        return (thrown as Error).message;
      }
    };
    expect(refused("{")).toContain("not JSON");
    expect(refused({})).toContain("not a list");
    expect(refused([{ ...entry, adapters: {} }])).toContain("entry 1 has adapters that are not a list");
    expect(refused([entry, { ...entry, adapters: [adapter, { ...adapter, sha256: "x" }] }])).toContain('entry 2, adapter 2, field "sha256"');
    expect(refused([entry, { ...entry, bytes: -1 }])).toContain('entry 2 has no positive whole number in the field "bytes"');
    expect(refused([{ ...entry, sha256: "xyz" }])).toContain('entry 1, field "sha256"');
    expect(refused([{ ...entry, url: undefined }])).toContain('"url"');
    expect(refused([null])).toContain("entry 1 is not an object");
  });
});

describe("refusals", () => {
  it("count an attempt once although two policies report it", () => {
    const refusals = new Refusals();
    expect(refusals.count).toBe(0);
    for (const policy of ["header", "meta", "header"]) refusals.add(policy);
    expect(refusals.count).toBe(2);
  });
});

describe("failures", () => {
  it("keep the code of the engine's errors", () => {
    expect(toFailure(Object.assign(new Error("no"), { name: "RetortError", code: "no_gpu" }))).toEqual({ code: "no_gpu", message: "no" });
    expect(toFailure(new RetortError("bad_server", "x"))).toEqual({ code: "bad_server", message: "x" });
  });
  it("know memory, traps and cancellation when they see them (P35, P40)", () => {
    expect(toFailure(new RangeError("WebAssembly.Memory.grow(): Maximum memory size exceeded")).code).toBe("out_of_memory");
    expect(toFailure(new RangeError("Array buffer allocation failed")).code).toBe("out_of_memory");
    expect(toFailure(new WebAssembly.RuntimeError("unreachable")).code).toBe("engine_crashed");
    expect(toFailure(new DOMException("x", "AbortError")).code).toBe("cancelled");
    expect(toFailure("text")).toEqual({ code: "unexpected", message: "text" });
  });
});
