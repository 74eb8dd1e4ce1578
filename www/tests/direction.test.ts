import { expect, it } from "vitest";
import { directionOf, LONG_TEXT } from "../src/direction";

it("a long text runs as its first letter does, a short one as its paragraphs do", () => {
  const long = (start: string) => start + "x".repeat(LONG_TEXT);
  expect(directionOf("שלום")).toBe("auto");
  expect(directionOf(long("1. (שלום) and more"))).toBe("rtl");
  expect(directionOf(long("«مرحبا»"))).toBe("rtl");
  expect(directionOf(long("Hello שלום"))).toBe("ltr");
  expect(directionOf(long("空は"))).toBe("ltr");
  expect(directionOf("1".repeat(LONG_TEXT + 1))).toBe("ltr");
  // What is about to be put in makes it long.
  expect(directionOf("שלום", LONG_TEXT + 1)).toBe("rtl");
});
