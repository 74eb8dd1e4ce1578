/** Plain static hosting: no headers, a path of its own, and no network after the first visit. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { done, expect, fill, press, ready, test } from "./fixtures.ts";
import { PORTS } from "./servers.ts";

// Long chains of visits: a busy machine needs several times what a free one does.
test.describe.configure({ timeout: 120_000 });

const FOLDER = "/pages/retort/";

/** Gives what the test server gives, but under another path and without any of its headers, as a plain static host would. */
class StaticHost {
  readonly seen: string[] = [];
  /** Put in front of the engine's worker. */
  workerPrelude = "";
  /** Changes what is served of a file. */
  change: (path: string, body: string) => string = (_path, body) => body;
  #server: Server;

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request.url ?? "/", request.headers.range, response));
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get page(): string {
    return `${this.origin}${FOLDER}`;
  }

  async #answer(address: string, range: string | undefined, response: ServerResponse): Promise<void> {
    this.seen.push(address);
    if (!address.startsWith(FOLDER)) return void response.writeHead(404).end();
    const path = address.slice(FOLDER.length - 1);
    if (path === "/probe.js") {
      response.writeHead(200, { "content-type": "text/javascript" });
      return void response.end(`onmessage = ({ data }) => fetch(data).then(() => postMessage("answered"), () => postMessage("refused"));`);
    }
    const answer = await fetch(`http://127.0.0.1:${PORTS.tiny}${path}`, range === undefined ? {} : { headers: { range } });
    let body = Buffer.from(await answer.arrayBuffer());
    const type = answer.headers.get("content-type");
    if (path === "/models/registry.json") body = Buffer.from(body.toString().replaceAll(`"/models/`, `"`));
    if (/\/worker-[^/]*\.js$/.test(path)) body = Buffer.from(`${this.workerPrelude}\n${body}`);
    if (/\.(?:js|html)$/.test(path) || path === "/") body = Buffer.from(this.change(path, body.toString()));
    const content_range = answer.headers.get("content-range");
    response.writeHead(answer.status, { ...(type !== null && { "content-type": type }), ...(content_range !== null && { "content-range": content_range }) });
    response.end(body);
  }
}

const there = test.extend<{ host: StaticHost }>({
  host: async ({ guard }, use) => {
    const host = new StaticHost();
    await host.open();
    guard.tried.push(host.origin);
    await use(host);
    await host.close();
  },
});

const kept = (page: Page) => expect(page.getByTestId("requests")).toContainText("This page works without a network now.", { timeout: 30_000 });

there("on a host without headers, the browser still keeps page and worker from every other origin", async ({ page, host, guard }) => {
  let reached = 0;
  const stranger = createServer((_, response) => {
    reached += 1;
    response.writeHead(200, { "access-control-allow-origin": "*" }).end();
  });
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`;
  guard.allow.push(/Content Security Policy/);
  guard.tried.push(new URL(address).origin);
  host.workerPrelude = `fetch("${address}").then(() => "answered", () => "refused").then((how) => (globalThis.tried = how));`;
  await page.goto(host.page);
  await ready(page);
  const headers = await page.evaluate(async () => [...(await fetch("./")).headers.keys()]);
  expect(headers.filter((name) => /security|policy|options/.test(name))).toEqual([]);

  await expect.poll(() => page.workers()[0]!.evaluate(() => (globalThis as { tried?: string }).tried)).toBe("refused");
  expect(await page.evaluate((url) => fetch(url).then(() => "answered", () => "refused"), address)).toBe("refused");
  expect(reached).toBe(0);
  await expect(page.getByTestId("requests")).toContainText("Refused by the policy: 2.");

  // Why the engine's worker is not simply started from its file: such a worker obeys nobody here, so this test could fail.
  const free = await page.evaluate((url) => new Promise((resolve) => {
    const worker = new Worker("./probe.js");
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage(url);
  }), address);
  expect(free).toBe("answered");
  expect(reached).toBe(1);
  await new Promise((resolve) => stranger.close(resolve));
});

there("after one visit the page judges without a network, and counts no request", async ({ page, context, host, guard }) => {
  guard.allow.push(/net::ERR_/);
  await page.goto(host.page);
  await ready(page);
  await kept(page);
  // What was counted is what was sent, but for the service worker's own script, which the browser fetches by itself.
  const counted = async () => Number(/(\d+) to its own server, 0 to any other/.exec(await page.getByTestId("requests").innerText())?.[1]);
  await expect.poll(counted).toBe(host.seen.filter((path) => !path.endsWith("/sw.js")).length);
  expect(host.seen.filter((path) => !path.startsWith(FOLDER))).toEqual([]);

  const address = host.page;
  await context.setOffline(true);
  await host.close();
  await page.reload();
  await ready(page);
  await fill(page);
  await press(page, "Judge");
  await done(page);
  await expect(page.getByTestId("requests")).toContainText("0 to its own server, 0 to any other");
  // A screen that was never opened, and the download page.
  await page.getByRole("link", { name: "Models", exact: true }).first().click();
  await expect(page.getByTestId("models-entry")).toHaveCount(1);
  await page.goto(`${address}models.html`);
  await expect(page.getByTestId("preset").first()).toBeVisible();
  expect(await page.locator("meta[http-equiv]").getAttribute("content")).toContain("https://huggingface.co");
  await host.open();
});

there("a new version of the page is told of, and taken when the person says so", async ({ page, host }) => {
  await page.goto(host.page);
  await ready(page);
  await kept(page);
  await expect(page.getByTestId("fresh")).toBeEmpty();
  const caches = () => page.evaluate(async () => (await globalThis.caches.keys()).filter((name) => name.startsWith("retort-page-")));
  const before = await caches();
  expect(before).toHaveLength(1);

  host.change = (path, body) =>
    path === "/sw.js" ? body.replaceAll(before[0]!.slice("retort-page-".length), "another-build")
    : path === "/" || path === "/index.html" ? body.replace(`name="description" content="`, `name="description" content="(new) `)
    : body;
  await page.reload();
  await ready(page);
  await fill(page);
  await expect(page.getByTestId("fresh")).toContainText("A new version of this page is ready.");
  // Nothing is taken from under the person.
  await expect(page.getByLabel("Prompt", { exact: true })).not.toHaveValue("");
  await Promise.all([page.waitForEvent("load"), press(page, "Reload")]);
  await ready(page);
  await expect(page.locator("meta[name=description]")).toHaveAttribute("content", /^\(new\)/);
  expect(await caches()).toEqual(["retort-page-another-build"]);
  await expect(page.getByTestId("fresh")).toBeEmpty();
});
