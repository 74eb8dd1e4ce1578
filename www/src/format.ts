/** Figures as people read them. All pure. */

/** Decimal units, as download pages and file managers show them: 98.4 MB. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = "";
  for (const next of units) {
    value /= 1000;
    unit = next;
    // 999.95 would be written as 1000.0
    if (value < 999.95) break;
  }
  return `${value.toFixed(1)} ${unit}`;
}

/** "12.3 of 98.4 MB": both in the unit of the whole, so that the two can be compared. */
export function formatBytesOf(done: number, total: number): string {
  const whole = formatBytes(total);
  const unit = whole.split(" ")[1]!;
  const power = { B: 0, kB: 1, MB: 2, GB: 3, TB: 4 }[unit] ?? 0;
  const part = power === 0 ? String(done) : (done / 1000 ** power).toFixed(1);
  return `${part} of ${whole}`;
}

/** Whole percent; never "100%" before the end nor "0%" for what is there. */
export function formatPercent(share: number): string {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share >= 0.995) return ">99%";
  return `${Math.round(share * 100)}%`;
}

/** A score to two decimals. A value that is not finite has no text; the caller shows that there is no score (P16). */
export function formatScore(score: number): string | null {
  return Number.isFinite(score) ? score.toFixed(2) : null;
}

/** What a head gives, which has no scale that would say how many decimals are enough. As with a score, what is not finite has no text. */
export function formatReward(value: number): string | null {
  return Number.isFinite(value) ? value.toFixed(3) : null;
}

/** A movement to two decimals with its sign, a true minus; what rounds to nothing has none. */
export function formatSigned(moved: number): string {
  const shown = Math.abs(moved).toFixed(2);
  return Number(shown) === 0 ? shown : `${moved < 0 ? "−" : "+"}${shown}`;
}

/** A weight as it was given; a true minus sign, so that it is not taken for a hyphen. */
export function formatWeight(weight: number): string {
  return Number.isFinite(weight) ? String(weight).replace("-", "−") : "";
}

export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Made once: making one takes longer than everything that is written with it. */
const COUNT = new Intl.NumberFormat("en");

export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** 134.5 M parameters. */
export function formatParameters(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(1)} B`;
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)} M`;
  return formatCount(count);
}

/** A file name that sorts by time and that every file system takes. */
export function recordName(at: Date): string {
  return `retort-judgement-${at.toISOString().slice(0, 19).replaceAll(":", "-")}.json`;
}

/** The line that a diagnostic names ("file.toml:12: …", "line 12"), or null. */
export function lineOf(message: string): number | null {
  const match = /\bline (\d+)\b/i.exec(message) ?? /:(\d+):/.exec(message);
  return match ? Number(match[1]) : null;
}
