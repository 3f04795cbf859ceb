import { englishWords } from "./language.ts";

/** Lines of a language game: the same letters put before, behind or into every word. */

const FEWEST = 3;
const LONGEST = 1000;
const CLEAR = 0.7;
/** `s-s-sender`: a beginning that is said again. */
const STUTTER = /(?<![a-z])([a-z]{1,3})(?:[-.…]{1,3}\1)*[-.…]{1,3}(?=\1[a-z])/g;
const WORD = /[a-z]{2,}/g;

/** Lines without what stands in most of their words, if that makes sense of them. Expects small letters. */
export function* games(text: string): Iterable<readonly [string, string]> {
  for (const line of text.split("\n")) {
    if (line.length > LONGEST) continue;
    if ((line.match(STUTTER)?.length ?? 0) >= FEWEST) yield [line.replaceAll(STUTTER, ""), line];
    const words = line.match(WORD) ?? [];
    if (words.length < FEWEST || words.length > 80 || englishWords(line) > words.length * CLEAR) continue;
    for (const read of untangled(line, words)) {
      const all = read.match(WORD)?.length ?? 0;
      if (englishWords(read) >= Math.max(2, all * CLEAR)) yield [read, line];
    }
  }
}

function* untangled(line: string, words: readonly string[]): Iterable<string> {
  // `lolayeror`: a consonant, a vowel and the same consonant.
  yield line.replaceAll(/([b-df-hj-np-tv-z])[aeiou]\1/g, "$1");
  // `constytution`, `e-thay`: what moved behind a stroke.
  yield line.replaceAll(
    /(?<![a-z])([a-z]+)-([a-z]*)ay(?![a-z])/g,
    (_, rest: string, first: string) => (first === "w" || first === "y" ? "" : first) + rest,
  );
  yield line.replaceAll(/(?<![a-z])([a-z])\1(?=[a-z])/g, "$1");
  for (const filler of fillersOf(words)) {
    yield line.replaceAll(new RegExp(String.raw`([aeiou]+)${filler}\1`, "g"), "$1");
    yield line.replaceAll(new RegExp(`(?<=[b-df-hj-np-tv-z])${filler}`, "g"), "");
    yield line.replaceAll(new RegExp(`(?<![a-z])${filler}(?=[a-z])`, "g"), "");
    yield line.replaceAll(new RegExp(`(?<=[a-z])${filler}(?![a-z])`, "g"), "");
    yield line.replaceAll(filler, "");
  }
}

const SHORTEST_FILLER = 1;
const LONGEST_FILLER = 5;
const MOST = 8;
/** How many of the words hold it. */
const EVERYWHERE = 0.7;

/** Letters in a row that nearly all words hold, the longest first. */
function fillersOf(words: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const word of words) {
    const held = new Set<string>();
    for (let size = SHORTEST_FILLER; size <= LONGEST_FILLER; size++)
      for (let at = 0; at + size <= Math.min(word.length, 40); at++) held.add(word.slice(at, at + size));
    for (const one of held) counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count >= Math.max(FEWEST, words.length * EVERYWHERE))
    .map(([filler]) => filler)
    .sort((a, b) => b.length - a.length)
    .slice(0, MOST);
}
