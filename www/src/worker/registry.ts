import { text } from "../text";
import { RetortError } from "./failure";
import { cacheNames } from "./names";
import type { Preset } from "./protocol";

/** Reads `models/registry.json`, a list of models; every field is checked, because the server is not the page. */
export function readRegistry(json: string): Preset[] {
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch (thrown) {
    throw bad(text.failure.registryNotJson(thrown instanceof Error ? thrown.message : String(thrown)));
  }
  if (!Array.isArray(data)) throw bad(text.failure.registryNotList);
  return data.map((entry: unknown, index) => {
    if (typeof entry !== "object" || entry === null) throw bad(text.failure.registryEntry(index + 1));
    const fields = entry as Record<string, unknown>;
    const words = (key: string): string => {
      const value = fields[key];
      if (typeof value !== "string" || value === "") throw bad(text.failure.registryText(index + 1, key));
      return value;
    };
    const bytes = fields["bytes"];
    if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes <= 0) {
      throw bad(text.failure.registryBytes(index + 1));
    }
    const sha256 = words("sha256");
    try {
      cacheNames(sha256);
    } catch (thrown) {
      throw bad(text.failure.registrySha(index + 1, (thrown as Error).message));
    }
    return {
      name: words("name"),
      title: typeof fields["title"] === "string" && fields["title"] !== "" ? fields["title"] : words("name"),
      file: words("file"),
      url: words("url"),
      bytes,
      sha256,
      licence: words("licence"),
      description: typeof fields["description"] === "string" ? fields["description"] : "",
      default: fields["default"] === true,
    };
  });
}

function bad(why: string): RetortError {
  return new RetortError("bad_registry", text.failure.badRegistry(why));
}
