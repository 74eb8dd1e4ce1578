import { RetortError } from "./failure";
import { cacheNames } from "./names";
import type { Preset } from "./protocol";

/** Reads `models/registry.json`, a list of models; every field is checked, because the server is not the page. */
export function readRegistry(text: string): Preset[] {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (thrown) {
    throw bad(`it is not JSON (${thrown instanceof Error ? thrown.message : String(thrown)})`);
  }
  if (!Array.isArray(data)) throw bad("it is not a list");
  return data.map((entry: unknown, index) => {
    if (typeof entry !== "object" || entry === null) throw bad(`entry ${index + 1} is not an object`);
    const fields = entry as Record<string, unknown>;
    const text = (key: string): string => {
      const value = fields[key];
      if (typeof value !== "string" || value === "") throw bad(`entry ${index + 1} has no text in the field "${key}"`);
      return value;
    };
    const bytes = fields["bytes"];
    if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes <= 0) {
      throw bad(`entry ${index + 1} has no positive whole number in the field "bytes"`);
    }
    const sha256 = text("sha256");
    try {
      cacheNames(sha256);
    } catch (thrown) {
      throw bad(`entry ${index + 1}: ${(thrown as Error).message}`);
    }
    return {
      name: text("name"),
      file: text("file"),
      url: text("url"),
      bytes,
      sha256,
      licence: text("licence"),
      description: typeof fields["description"] === "string" ? fields["description"] : "",
      default: fields["default"] === true,
    };
  });
}

function bad(why: string): RetortError {
  return new RetortError("bad_registry", `The server's model registry cannot be used: ${why}.`);
}
