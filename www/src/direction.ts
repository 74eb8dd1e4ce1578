/** Which way a text runs. Pure. */

/** Of longer texts a browser takes noticeable time on every key to find out the direction of each paragraph. */
export const LONG_TEXT = 5000;

const STRONG = /\p{L}/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}]/u;

/** “auto” for a short text, which leaves each paragraph its own; a long one runs as its first letter does. */
export function directionOf(text: string, length = text.length): "auto" | "ltr" | "rtl" {
  if (length <= LONG_TEXT) return "auto";
  const first = STRONG.exec(text.slice(0, LONG_TEXT))?.[0];
  return first !== undefined && RIGHT_TO_LEFT.test(first) ? "rtl" : "ltr";
}
