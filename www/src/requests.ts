/** Counts the requests of the page itself; the worker counts its own (see worker.ts). */
import { signal } from "@preact/signals";
import { isKept } from "./kept";
import { Refusals } from "./refusals";

export const pageRequests = signal({ own: 0, other: 0 });
export const refusedRequests = signal(0);

export function watchRequests(): void {
  const count = (entries: PerformanceEntryList) => {
    let { own, other } = pageRequests.value;
    for (const entry of entries) {
      // data: and blob: addresses are made in the page and go nowhere.
      if (!/^https?:/.test(entry.name) || isKept(entry)) continue;
      if (new URL(entry.name).origin === location.origin) own += 1;
      else other += 1;
    }
    pageRequests.value = { own, other };
  };
  if (typeof PerformanceObserver === "function") {
    const observer = new PerformanceObserver((list) => count(list.getEntries()));
    observer.observe({ type: "resource", buffered: true });
    // The page's own document.
    pageRequests.value = { own: performance.getEntriesByType("navigation").some(isKept) ? 0 : 1, other: 0 };
  }
  const refusals = new Refusals();
  document.addEventListener("securitypolicyviolation", (event) => {
    refusals.add(event.originalPolicy);
    refusedRequests.value = refusals.count;
  });
}
