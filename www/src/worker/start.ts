/**
 * Starts a worker that obeys the page's own policy.
 *
 * A worker whose script is a file obeys the policy that came with that file: on a host that sends no headers that is none at
 * all, and the page's `<meta>` would not bind it. One made from a blob: address inherits the policy of the page that made it,
 * so the worker begins as a tiny module of that kind, and only imports its real script from the page's own server.
 *
 * It imports by a call, not by a declaration: in Firefox the declarations of such a module pass by the service worker, so that without
 * a network nothing would start. What is sent to the worker before its real script listens waits until it does.
 */
export function startWorker(script: string, name: string): Worker {
  const address = new URL(script, document.baseURI).href;
  const blob = URL.createObjectURL(new Blob([beginning(address)], { type: "text/javascript" }));
  const worker = new Worker(blob, { type: "module", name });
  // The browser reads the address after this task; its first message says that it has.
  const release = () => URL.revokeObjectURL(blob);
  worker.addEventListener("message", release, { once: true });
  worker.addEventListener("error", release, { once: true });
  return worker;
}

/** The tiny module. An import that fails is the worker's error, as a declaration's would be. */
const beginning = (address: string) => `
const early = [];
const keep = (event) => { event.stopImmediatePropagation(); early.push(event); };
addEventListener("message", keep);
import(${JSON.stringify(address)}).then(() => {
  removeEventListener("message", keep);
  for (const { data, ports } of early) dispatchEvent(new MessageEvent("message", { data, ports }));
}, (problem) => setTimeout(() => { throw problem; }));
`;
