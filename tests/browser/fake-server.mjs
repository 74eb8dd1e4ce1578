/**
 * Serves the page built with the stand-in engine, with the policy and the range requests of the real server.
 * Only for working on the page and on these tests before the engine is built: `npm run test:fake`.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const port = Number(process.argv[process.argv.indexOf("--port") + 1]);
const root = fileURLToPath(new URL("../../www/dist-fake", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm", ".json": "application/json" };
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; font-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
/** The download page alone may reach where models come from. */
const DOWNLOAD_POLICY = POLICY.replace("connect-src 'self'", "connect-src 'self' https://huggingface.co https://*.huggingface.co https://*.hf.co");

const model = Buffer.alloc(3_000_000, 7);
model.write("GGUF");
/** The stand-in engine takes anything of some length for an adapter. With `--adapters` there are two. */
const adapters = (process.argv.includes("--adapters") ? ["tone", "mood"] : []).map((name, index) => ({ name, content: Buffer.alloc(600_000 + index, name) }));
const registry = JSON.stringify([
  { name: "tiny", title: "Tiny stand-in", file: "tiny.gguf", url: "tiny.gguf", bytes: model.length, sha256: createHash("sha256").update(model).digest("hex"), licence: "Apache-2.0", description: "A stand-in.", default: true,
    adapters: adapters.map(({ name, content }, index) => ({
      name, title: ["Tone", "Mood"][index], file: `${name}.gguf`, url: `${name}.gguf`, bytes: content.length, sha256: createHash("sha256").update(content).digest("hex"),
      licence: "Apache-2.0", description: ["Hears the tone: the right choice where you have no reason for another.", "Hears the mood: for ranking responses rather than for a profile of skills."][index], default: index === 0,
    })),
  },
]);

createServer(async (request, response) => {
  const path = decodeURIComponent(new URL(request.url, "http://local").pathname);
  const headers = { "content-security-policy": path === "/models.html" ? DOWNLOAD_POLICY : POLICY, "x-content-type-options": "nosniff" };
  let body;
  let type;
  if (path === "/models/registry.json") [body, type] = [Buffer.from(registry), "application/json"];
  else if (adapters.some(({ name }) => path === `/models/${name}.gguf`)) [body, type] = [adapters.find(({ name }) => path === `/models/${name}.gguf`).content, "application/octet-stream"];
  else if (path === "/models/tiny.gguf") [body, type] = [model, "application/octet-stream"];
  else {
    const file = normalize(join(root, path === "/" ? "index.html" : path));
    try {
      if (!file.startsWith(root)) throw new Error("outside");
      body = await readFile(file);
      type = TYPES[extname(file)] ?? "application/octet-stream";
    } catch {
      response.writeHead(404, headers).end();
      return;
    }
  }
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  if (range) {
    const start = Number(range[1]);
    const end = range[2] ? Math.min(Number(range[2]), body.length - 1) : body.length - 1;
    if (start >= body.length) {
      response.writeHead(416, { ...headers, "content-range": `bytes */${body.length}` }).end();
      return;
    }
    response.writeHead(206, { ...headers, "content-type": type, "content-length": end - start + 1, "content-range": `bytes ${start}-${end}/${body.length}`, "accept-ranges": "bytes" });
    response.end(body.subarray(start, end + 1));
    return;
  }
  response.writeHead(200, { ...headers, "content-type": type, "content-length": body.length, "accept-ranges": "bytes" }).end(body);
}).listen(port, "127.0.0.1");
