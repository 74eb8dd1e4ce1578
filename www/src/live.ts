import { signal } from "@preact/signals";

/** Spoken by screen readers when it changes; never shown. */
export const announcement = signal("");
