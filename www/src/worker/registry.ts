import { text } from "../text";
import { RetortError } from "./failure";
import { cacheNames } from "./names";
import type { Offered, Preset } from "./protocol";

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
    const place = String(index + 1);
    const fields = object(entry, place);
    const adapters = fields["adapters"] ?? [];
    if (!Array.isArray(adapters)) throw bad(text.failure.registryAdapters(place));
    return {
      ...offered(fields, place),
      adapters: adapters.map((adapter: unknown, at) => {
        const within = `${place}, adapter ${at + 1}`;
        return offered(object(adapter, within), within);
      }),
    };
  });
}

function object(entry: unknown, place: string): Record<string, unknown> {
  if (typeof entry !== "object" || entry === null) throw bad(text.failure.registryEntry(place));
  return entry as Record<string, unknown>;
}

function offered(fields: Record<string, unknown>, place: string): Offered {
  const words = (key: string): string => {
    const value = fields[key];
    if (typeof value !== "string" || value === "") throw bad(text.failure.registryText(place, key));
    return value;
  };
  const bytes = fields["bytes"];
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes <= 0) {
    throw bad(text.failure.registryBytes(place));
  }
  const sha256 = words("sha256");
  try {
    cacheNames(sha256);
  } catch (thrown) {
    throw bad(text.failure.registrySha(place, (thrown as Error).message));
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
}

function bad(why: string): RetortError {
  return new RetortError("bad_registry", text.failure.badRegistry(why));
}
