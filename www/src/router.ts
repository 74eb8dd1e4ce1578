/**
 * Which screen is shown, and what a link says of it: `#/compare`, `#/learn?lesson=position`.
 *
 * Everything stands in the address's fragment, which a browser never sends: a link may carry a whole rubric.
 */
import { signal, type ReadonlySignal } from "@preact/signals";

export interface Route {
  /** The name of a screen, or a name that no screen has. */
  screen: string;
  params: URLSearchParams;
}

export const HOME = "judge";

/** Reads a fragment, with or without its `#`. */
export function readRoute(fragment: string): Route {
  const path = fragment.replace(/^#/, "");
  if (!path.startsWith("/")) return { screen: HOME, params: new URLSearchParams() };
  const [name = "", ...rest] = path.slice(1).split("?");
  return { screen: name === "" ? HOME : name, params: new URLSearchParams(rest.join("?")) };
}

/** The fragment of a screen; parameters without a value are left out. */
export function hrefOf(screen: string, params: Record<string, string | undefined> = {}): string {
  const given = Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  return `#/${screen}${query === "" ? "" : `?${query}`}`;
}

const current = signal<Route>(readRoute(typeof location === "undefined" ? "" : location.hash));
export const route: ReadonlySignal<Route> = current;

export function watchRoute(): void {
  addEventListener("hashchange", () => (current.value = readRoute(location.hash)));
}

/** Goes to a screen, as a link to it would. */
export function go(screen: string, params: Record<string, string | undefined> = {}): void {
  location.hash = hrefOf(screen, params);
}

/** Changes what the address says of the screen that is shown, without a step in the browser's history. */
export function amend(params: Record<string, string | undefined>): void {
  const href = hrefOf(current.value.screen, params);
  history.replaceState(null, "", href);
  current.value = readRoute(href);
}
