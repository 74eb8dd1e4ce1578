/** A page under guard: every test fails on a console complaint or on a request to another origin. */
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import AxeBuilder from "@axe-core/playwright";
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
  /** The last byte of every file whose address this matches is changed on its way. */
  corrupt: RegExp | null = null;
  /** How many bytes passed before the break. */
  brokeAt = 0;
  /** Put in front of the worker's script, and of any other whose address `preludeFor` matches. */
  workerPrelude = "";
  preludeFor = /\/worker-[^/]*\.js$/;
  /** Where a stand-in for Hugging Face listens; its addresses begin with /hub/. */
  hubPort: number | null = null;
  #server: Server;
  // A request may be told of after the server is closed, when it no longer knows its address.
  #listensAt: number | null = null;
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
    this.#listensAt = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get origin(): string {
    if (this.#listensAt === null) throw new Error("The gate is not open.");
    return `http://127.0.0.1:${this.#listensAt}`;
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
    const port = this.hubPort !== null && path.startsWith("/hub/") ? this.hubPort : this.port;
    const headers: typeof request.headers = { ...request.headers, host: `127.0.0.1:${port}`, "accept-encoding": "identity" };
    // "Not changed" would leave the browser with the script as it was before the prelude.
    if (this.preludeFor.test(path)) for (const name of ["if-modified-since", "if-none-match"]) delete headers[name];
    const onward = httpRequest({ host: "127.0.0.1", port, path, method: request.method, headers }, (answer) => {
      if (this.preludeFor.test(path) && this.workerPrelude !== "") {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("end", () => {
          const body = Buffer.concat([Buffer.from(`${this.workerPrelude}\n`), ...parts]);
          response.writeHead(answer.statusCode!, { ...answer.headers, "content-length": body.length });
          response.end(body);
        });
        return;
      }
      if (this.corrupt?.test(path)) {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("end", () => {
          const body = Buffer.concat(parts);
          if (body.length > 0) body[body.length - 1]! ^= 1;
          response.writeHead(answer.statusCode!, answer.headers);
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

export const test = base.extend<{ gate: Gate; guard: Guard; model: "tiny" | "real" | "adapted" }>({
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

/** Puts a rubric into the library, on the screen where rubrics are written, which is shown afterwards. */
export async function keepRubric(page: Page, title: string, source: string): Promise<void> {
  await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Rubrics", exact: true }).click();
  await expect(page.getByTestId("rubrics-builtin").locator("li")).toHaveCount(12);
  await page.getByTestId("rubrics-file").setInputFiles({ name: `${title}.toml`, mimeType: "", buffer: Buffer.from(source) });
  await expect(page.getByTestId("rubrics-state")).toHaveAttribute("data-usable", "true");
  await press(page, "Save");
  await expect(page.getByTestId("rubrics-own").getByRole("button", { name: title, exact: true })).toBeVisible();
}

/** With the id of a built-in skill and a scale of its own. */
export const POINTS = `[[rubric]]
id = "readability"
name = "Readability"
criterion = "How many points would a child give it?"
${[0, 5, 10].map((value) => `
[[rubric.option]]
label = "${value}"
value = ${value}
description = "It deserves ${value} points."
`).join("")}`;

/** What axe calls serious or critical on the page as it stands: rule and place of each. */
export async function seriousOf(page: Page, axe = new AxeBuilder({ page })): Promise<string[]> {
  const { violations } = await axe.analyze();
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}

export async function expectAccessible(page: Page): Promise<void> {
  expect(await seriousOf(page)).toEqual([]);
}

/** The same in the dark, for a page that was looked at in the light: nothing but its colours differs, so that nothing else is looked for again. */
export async function expectAccessibleInDark(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await seriousOf(page, new AxeBuilder({ page }).withRules(["color-contrast"]))).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
}
