/** The page's side of the service worker: registers it, and hears of new versions. */
import { signal } from "@preact/signals";

/** A new version waits for a reload. */
export const fresh = signal(false);
/** Everything that the page needs is kept. */
export const kept = signal(false);
/** Requests that the service worker made while this page was open. */
export const keptRequests = signal(0);

let waiting: ServiceWorker | null = null;

export function keepOffline(): void {
  const container = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  // While the page is developed its files change under it.
  if (!container || !import.meta.env.PROD) return;
  container.addEventListener("message", (event: MessageEvent<{ type?: unknown; requests?: unknown }>) => {
    if (event.data?.type === "kept" && typeof event.data.requests === "number") keptRequests.value += event.data.requests;
  });
  container.startMessages();
  const register = () => {
    container.register(new URL("sw.js", document.baseURI)).then(watch, () => {
      // Denied (storage is blocked, or no secure context): the page works as long as there is a network.
    });
  };
  // What the page needs first comes first.
  if (document.readyState === "complete") register();
  else addEventListener("load", register, { once: true });
}

function watch(registration: ServiceWorkerRegistration): void {
  const see = () => {
    kept.value = registration.active !== null;
    // Without one in charge there is nothing older that the page could be of.
    waiting = navigator.serviceWorker.controller ? registration.waiting : null;
    fresh.value = waiting !== null;
  };
  const follow = (worker: ServiceWorker | null) => worker?.addEventListener("statechange", see);
  follow(registration.installing);
  registration.addEventListener("updatefound", () => follow(registration.installing));
  see();
}

/** Lets the new version take over, then shows it. Other tabs of the page go on with what they have loaded. */
export function takeFresh(): void {
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
  waiting?.postMessage("take-over");
}
