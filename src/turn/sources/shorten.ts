import { truncateText } from "../../guard/index.ts";

/** What is left where a text is cut before a word: the blanks and signs that join it to what was behind. */
const JOINING = /[\s,;:–—-]+$/u;

/** At most so many characters, cut between words where there are any, with `…` at the end; a text that fits stays as it is. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const hard = truncateText(text, Math.max(0, most - 1), "");
  const endsWord = /\s/u.test(text.charAt(hard.length));
  const blank = endsWord ? hard.length : hard.search(/\s\S*$/u);
  // A script without blanks, and a word that is half of it all, are cut between characters.
  const beginning = blank * 2 >= hard.length ? hard.slice(0, blank).replace(JOINING, "") : hard;
  return `${beginning}…`;
}

/** The longest of lengths up to `longest` that fits; 1 where none does. What fits must fit shorter, too. */
export function longestFitting(longest: number, fits: (most: number) => boolean): number {
  if (fits(longest)) return longest;
  let [fitting, tooLong] = [1, longest];
  while (tooLong - fitting > 1) {
    const middle = Math.floor((fitting + tooLong) / 2);
    if (fits(middle)) fitting = middle;
    else tooLong = middle;
  }
  return fitting;
}
