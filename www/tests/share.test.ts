import { describe, expect, it } from "vitest";
import { MAX_PACKED, MAX_UNPACKED, packState, ShareError, unpackState } from "../src/share";

/** Letters that deflate cannot shrink below three quarters: a plain generator, so that every run has the same. */
function noise(length: number): string {
  let state = 1;
  let out = "";
  for (let i = 0; i < length; i++) {
    state = (state * 48271) % 2147483647;
    out += String.fromCharCode(33 + (state % 90));
  }
  return out;
}

/** Any text, deflated by the platform itself: past what `packState` would make. */
async function deflated(text: string): Promise<string> {
  const bytes = await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"))).bytes();
  return btoa(bytes.reduce((all, byte) => all + String.fromCharCode(byte), "")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const code = (work: Promise<unknown>) => work.then(() => "none", (error: unknown) => (error instanceof ShareError ? error.code : String(error)));

describe("a state in a link", () => {
  it("comes back as it was, in any script", async () => {
    const value = { v: 1, prompt: "مرحبا 世界 – naïve 😀\n\u2028", list: [1, null, true, { a: "" }], html: "<img src=x onerror=alert(1)>" };
    const packed = await packState(value);
    expect(packed).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(await unpackState(packed)).toEqual(value);
  });

  it("is zlib data, as Python's zlib and base64 write and read it", async () => {
    // base64.urlsafe_b64encode(zlib.compress(b'["b"]')), without its padding
    expect(await unpackState("eJyLVkpSigUABBsBXw")).toEqual(["b"]);
    // The header of zlib with its usual window: 0x78.
    expect(atob((await packState({ a: 1 })).slice(0, 4).replaceAll("-", "+").replaceAll("_", "/")).charCodeAt(0)).toBe(0x78);
  });

  it("is refused where it would be too long for a link, and says how long", async () => {
    const text = noise(30_000);
    await expect(packState({ text })).rejects.toThrow(/at most 16,000/);
    expect(await code(packState({ text }))).toBe("too_long");
    // It would shrink to little, but could not be opened again.
    expect(await code(packState("a".repeat(MAX_UNPACKED)))).toBe("too_long");
  });

  it("is refused where it is no plain data", async () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(await code(packState(cycle))).toBe("unserializable");
    expect(await code(packState(undefined))).toBe("unserializable");
  });

  it("says that it is damaged, wherever it was cut or changed", async () => {
    const packed = await packState({ prompt: noise(300) });
    for (const at of [1, 2, 3, 10, packed.length - 8, packed.length - 1]) expect(await code(unpackState(packed.slice(0, at)))).toBe("damaged");
    // zlib's checksum sees a change in the midst.
    const middle = Math.floor(packed.length / 2);
    const changed = `${packed.slice(0, middle)}${packed[middle] === "A" ? "B" : "A"}${packed.slice(middle + 1)}`;
    expect(await code(unpackState(changed))).toBe("damaged");
    for (const text of ["", "%%%", "a b", "====", "Zm9v"]) expect(await code(unpackState(text))).toBe("damaged");
    expect(await code(unpackState("eJzLy1fIKs7PAwAKkAK4"))).toBe("damaged");
    // zlib.compress(b"no json") above; zlib.compress(b'"\xff"'), which is not UTF-8, below.
    expect(await code(unpackState("eJxT-q8EAAKJAUQ"))).toBe("damaged");
  });

  it("does not unpack a bomb", async () => {
    const bomb = await deflated(JSON.stringify("a".repeat(10_000_000)));
    expect(bomb.length).toBeLessThan(MAX_PACKED);
    expect(await code(unpackState(bomb))).toBe("too_large");
    expect(await code(unpackState("A".repeat(MAX_PACKED + 1)))).toBe("too_large");
  });
});
