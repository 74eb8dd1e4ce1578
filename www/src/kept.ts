/** Whether the service worker answered from what it keeps, which costs no request; it marks those answers (sw.ts). */
export function isKept(entry: PerformanceEntry): boolean {
  return (entry as PerformanceResourceTiming).serverTiming?.some(({ name }) => name === "retort-kept") ?? false;
}
