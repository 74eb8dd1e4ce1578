/** Unicode's words and sentences (UAX 29) of a text of any length. Pure. */

/** Browsers take time that grows with the square of the text, so that it is given to them in windows of so many units. */
const WINDOW = 2000;

const segmenters = new Map<"word" | "sentence", Intl.Segmenter>();

function segmenterOf(granularity: "word" | "sentence"): Intl.Segmenter {
  const known = segmenters.get(granularity);
  if (known) return known;
  const made = new Intl.Segmenter(undefined, { granularity });
  segmenters.set(granularity, made);
  return made;
}

/** Where each segment ends, in UTF-16 units; the last one ends with the text. */
export function endsOf(text: string, granularity: "word" | "sentence"): number[] {
  const segmenter = segmenterOf(granularity);
  const ends: number[] = [];
  let at = 0;
  let size = WINDOW;
  while (at < text.length) {
    const starts = [...segmenter.segment(text.slice(at, at + size))].map(({ index }) => at + index);
    if (at + size >= text.length) {
      ends.push(...starts.slice(1), text.length);
      break;
    }
    // The window may have cut its last segment, which begins the next window; one that fills it is looked at in a wider one.
    if (starts.length === 1) {
      size *= 2;
      continue;
    }
    ends.push(...starts.slice(1));
    at = starts.at(-1)!;
    size = WINDOW;
  }
  return ends;
}
