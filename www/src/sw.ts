/// <reference lib="webworker" />
/**
 * Lets the page work without a network after the first visit: it keeps the page's own files, never models (they lie in the
 * origin's private file system) and nothing of what people type. It answers GET requests to its own server and lets everything
 * else pass untouched, so that it never makes a request to another origin itself.
 *
 * Written by hand, because it is this short: a precache of Workbox would do the same with several packages and a runtime of its
 * own, and would not know which of the two wasm files this browser runs.
 *
 * Every build has a cache of its own, named by a hash of its files. A new build is fetched in the background and waits until
 * the person reloads, so that the files of two builds are never mixed.
 */
import { hasRelaxedSimd } from "retort-engine/variant";

declare const self: ServiceWorkerGlobalScope;
/** Every file of this build, relative to this script, and a hash of them all; see vite.config.ts. */
declare const __FILES__: string[];
declare const __BUILD__: string;

const PREFIX = "retort-page-";
const CACHE = `${PREFIX}${__BUILD__}`;
const REGISTRY = "models/registry.json";
/** Which of the two wasm files this browser would never run. */
const OTHER_WASM = hasRelaxedSimd() ? /(?:^|\/)retort_bg-[^/]*\.wasm$/ : /(?:^|\/)retort_relaxed_bg-[^/]*\.wasm$/;
/** How the page tells answers that cost no request; see requests.ts. */
const MARK = { "server-timing": "retort-kept" };

const scope = new URL("./", self.location.href);
const files = new Set(__FILES__.filter((file) => !OTHER_WASM.test(file)));

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("message", (event) => {
  if (event.data === "take-over") void self.skipWaiting();
});
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== scope.origin || !url.pathname.startsWith(scope.pathname) || request.headers.has("range")) return;
  const path = url.pathname.slice(scope.pathname.length);
  if (path === REGISTRY) return event.respondWith(registry(request));
  const file = path === "" ? "index.html" : path;
  if (files.has(file)) event.respondWith(kept(file, request));
});

async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  let requests = 0;
  // A few at a time: the page may be loading its model meanwhile.
  const waiting = [...files];
  const fetcher = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      // Names in assets/ carry a hash of the content, so that whatever the browser has under them is right.
      const response = await fetch(new URL(file, scope), { cache: file.startsWith("assets/") ? "force-cache" : "no-cache" });
      if (!response.ok) throw new Error(`${file}: ${response.status}`);
      await cache.put(new URL(file, scope), await marked(response));
    }
  };
  await Promise.all(Array.from({ length: 4 }, fetcher));
  // A page without models of its own server is a page all the same.
  const offered = await fetch(new URL(REGISTRY, scope), { cache: "no-cache" }).catch(() => null);
  if (offered?.ok) await cache.put(new URL(REGISTRY, scope), await marked(offered));
  for (const entry of performance.getEntriesByType("resource") as PerformanceResourceTiming[]) {
    // What the browser had already cost no request.
    if (/^https?:/.test(entry.name) && entry.transferSize > 0) requests += 1;
  }
  for (const client of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) client.postMessage({ type: "kept", requests });
}

async function activate(): Promise<void> {
  for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
}

/** A file of this build; where it is missing, because the browser cleared it, from the server. */
async function kept(file: string, request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  return (await cache.match(new URL(file, scope))) ?? fetch(request);
}

/** What the server offers can change at any time: asked first, remembered for when it cannot be. */
async function registry(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(new URL(REGISTRY, scope), await marked(response.clone()));
    return response;
  } catch (thrown) {
    const before = await cache.match(new URL(REGISTRY, scope));
    if (before) return before;
    throw thrown;
  }
}

/** The same answer with the mark. Its headers stay: the policy is among them. */
async function marked(response: Response): Promise<Response> {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(MARK)) headers.set(name, value);
  // The body is stored as it is read, unpacked.
  headers.delete("content-encoding");
  headers.delete("content-length");
  return new Response(await response.blob(), { status: response.status, headers });
}
