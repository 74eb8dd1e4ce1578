/**
 * Starts a worker that obeys the page's own policy.
 *
 * A worker whose script is a file obeys the policy that came with that file: on a host that sends no headers that is none at
 * all, and the page's `<meta>` would not bind it. One made from a blob: address inherits the policy of the page that made it,
 * so the worker begins as a tiny module of that kind, and only imports its real script from the page's own server.
 */
export function startWorker(script: string, name: string): Worker {
  const address = new URL(script, document.baseURI).href;
  const blob = URL.createObjectURL(new Blob([`import ${JSON.stringify(address)};`], { type: "text/javascript" }));
  const worker = new Worker(blob, { type: "module", name });
  // The browser reads the address after this task; its first message says that it has.
  const release = () => URL.revokeObjectURL(blob);
  worker.addEventListener("message", release, { once: true });
  worker.addEventListener("error", release, { once: true });
  return worker;
}
