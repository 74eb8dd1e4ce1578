/** A page under guard: every test fails on a console complaint or on a request to another origin. */
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, test as base, type Page } from "@playwright/test";
import { PORTS } from "./servers.ts";

/**
 * Stands between browser and server: sees every request, those of workers too, and can break a model's download.
 * Each test gets a port, and so an origin, of its own.
 */
export class Gate {
  readonly seen: { path: string; range: string | null }[] = [];
  /** The next answer with a model's bytes ends after this share of them. */
  breakAfter: number | null = null;
  /** Every further request for a model's bytes is cut off unanswered. */
  refuse = false;
  /** How many bytes passed before the break. */
  brokeAt = 0;
  /** Put in front of the worker's script. */
  workerPrelude = "";
  #server: Server;
  #sockets = new Set<Socket>();

  constructor(private readonly port: number) {
    this.#server = createServer((request, response) => this.#pass(request, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The requests for a model's bytes so far. */
  get downloads(): { path: string; range: string | null }[] {
    return this.seen.filter(({ path }) => path.endsWith(".gguf"));
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "/";
    this.seen.push({ path, range: request.headers.range ?? null });
    if (this.refuse && path.endsWith(".gguf") && this.downloads.length > 1) {
      response.destroy();
      return;
    }
    const headers = { ...request.headers, host: `127.0.0.1:${this.port}`, "accept-encoding": "identity" };
    const onward = httpRequest({ host: "127.0.0.1", port: this.port, path, method: request.method, headers }, (answer) => {
      const isWorker = /\/worker-[^/]*\.js$/.test(path);
      if (isWorker && this.workerPrelude !== "") {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("end", () => {
          const body = Buffer.concat([Buffer.from(`${this.workerPrelude}\n`), ...parts]);
          response.writeHead(answer.statusCode!, { ...answer.headers, "content-length": body.length });
          response.end(body);
        });
        return;
      }
      response.writeHead(answer.statusCode!, answer.headers);
      const share = path.endsWith(".gguf") ? this.breakAfter : null;
      if (share === null) {
        answer.pipe(response);
        return;
      }
      const limit = Math.floor(Number(answer.headers["content-length"]) * share);
      this.brokeAt = limit;
      this.breakAfter = null;
      let passed = 0;
      answer.on("data", (part: Buffer) => {
        if (passed >= limit) return;
        response.write(part.subarray(0, limit - passed));
        passed += part.length;
        // Time for the bytes to reach the page, then the line goes dead.
        if (passed >= limit) setTimeout(() => response.destroy(), 300);
      });
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }
}

interface Guard {
  /** Complaints that this test expects. */
  allow: RegExp[];
  /** Other origins that this test itself tries to reach, to see it refused. */
  tried: string[];
}

export const test = base.extend<{ gate: Gate; guard: Guard; model: "tiny" | "real" }>({
  model: ["tiny", { option: true }],
  gate: async ({ model }, use) => {
    const gate = new Gate(PORTS[model]);
    await gate.open();
    await use(gate);
    await gate.close();
  },
  guard: [
    async ({ context, gate }, use) => {
      const guard: Guard = { allow: [], tried: [] };
      const complaints: string[] = [];
      const foreign: string[] = [];
      const complain = (what: string) => complaints.push(what);
      context.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) complain(`${message.type()}: ${message.text()}`);
      });
      context.on("weberror", (error) => complain(`uncaught: ${error.error().message}`));
      context.on("request", (request) => {
        const url = request.url();
        if (/^(data|blob|about):/.test(url)) return;
        const { origin } = new URL(url);
        if (origin !== gate.origin && !guard.tried.includes(origin)) foreign.push(url);
      });
      await use(guard);
      expect(complaints.filter((complaint) => !guard.allow.some((allowed) => allowed.test(complaint)))).toEqual([]);
      expect(foreign).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** For `Gate.workerPrelude`: keeps hold of the engine's memory, whichever way its module is started. */
export const WATCH_HEAP = `
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const start = WebAssembly[name];
    WebAssembly[name] = async (...args) => {
      const made = await start.apply(WebAssembly, args);
      self.engineMemory = (made.instance ?? made).exports.memory;
      return made;
    };
  }`;

/** Bytes of the engine's heap. */
export function heapOf(page: Page): Promise<number> {
  const worker = page.workers()[0];
  if (!worker) throw new Error("The page has no worker.");
  return worker.evaluate(() => (self as unknown as { engineMemory: WebAssembly.Memory }).engineMemory.buffer.byteLength);
}

export const PROMPT = "Name the three primary colours of light and say what they make together.";
export const RESPONSE = "The primary colours of light are red, green and blue. Mixed at full strength they make white.";

export async function open(page: Page, gate: Gate): Promise<void> {
  // The GPU here is emulated, so that of itself the page would rightly take the CPU.
  const gpu = test.info().project.name === "webgpu";
  await page.goto(`${gate.origin}/${gpu ? "?backend=gpu" : ""}`);
}

export async function ready(page: Page): Promise<void> {
  await expect(page.getByTestId("ready")).toBeVisible({ timeout: 120_000 });
}

export async function fill(page: Page, prompt = PROMPT, response = RESPONSE): Promise<void> {
  await page.getByLabel("Prompt", { exact: true }).fill(prompt);
  await page.getByLabel("Response", { exact: true }).fill(response);
}

export async function done(page: Page, timeout = 60_000): Promise<void> {
  await expect(page.getByTestId("standing")).toHaveAttribute("data-phase", "done", { timeout });
}

export const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
