/**
 * Words as the memory search sees them. Pure, and the same for every database.
 *
 * A full-text index takes a run of letters as one word. Scripts that write without spaces would be one word a sentence, so
 * such runs are also cut into single signs and overlapping pairs, in the texts and in the queries alike.
 */

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]+/u;
const UNSPACED_RUNS = new RegExp(`(${UNSPACED.source})`, "u");

/** Words so common that they say nothing of what is meant; `s`, `t`, `ll` and the like are what is left of `it's`. */
const COMMON = new Set(
  `a about am an and any are as at be been but by can could d did do does for from had has have he her hers him his how i
  if in into is it its just ll m me my not of on or our re s she so some t than that the their them then there these they
  this to us ve was we were what when where which who whom why will with would you your`.split(/\s+/),
);

/** More words than this make a query slow and no better. */
const MOST_TERMS = 32;
/** Longer words are not words: keys, hashes, base64. */
const LONGEST_TERM = 128;

/**
 * The words of any text to search by: distinct, without common words unless there are no others. Of too many the longest
 * stay, for long words are the rare ones. None where a text has no word at all.
 */
export function searchTerms(text: string): readonly string[] {
  const terms = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    for (const term of UNSPACED.test(word) ? queryFragments(word) : [word.toLowerCase()]) {
      if (term.length <= LONGEST_TERM) terms.add(term);
    }
  }
  const telling = [...terms].filter((term) => !COMMON.has(term));
  const wanted = telling.length > 0 ? telling : [...terms];
  return wanted.sort((a, b) => b.length - a.length).slice(0, MOST_TERMS);
}

/** What the index needs beside the text itself: the parts of every word that holds signs of a script without spaces. */
export function indexFragments(text: string): string {
  const found: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    for (const run of unspacedParts(word))
      found.push(...(run.unspaced ? [...run.signs, ...pairs(run.signs)] : [run.text]));
  }
  return found.join(" ");
}

function queryFragments(word: string): string[] {
  return unspacedParts(word).flatMap((run) => {
    if (!run.unspaced) return [run.text.toLowerCase()];
    return run.signs.length > 1 ? pairs(run.signs) : [...run.signs];
  });
}

interface Run {
  readonly text: string;
  readonly unspaced: boolean;
  readonly signs: readonly string[];
}

/** A word cut where its script changes; nothing for a word of ordinary scripts. */
function unspacedParts(word: string): readonly Run[] {
  if (!UNSPACED.test(word)) return [];
  const parts = word.split(UNSPACED_RUNS).filter((text) => text !== "");
  return parts.map((text) => ({ text, unspaced: UNSPACED.test(text), signs: [...text] }));
}

function pairs(signs: readonly string[]): string[] {
  return signs.slice(1).map((sign, i) => `${signs[i]}${sign}`);
}
