import { ENGLISH_WORDS } from "./language.ts";

const LONGEST_WORD = 16;
/** What a letter costs that belongs to no word, and what words cost by their length: short ones fit everywhere. */
const UNKNOWN = 6;
const COST: readonly number[] = [0, 5, 4, 3, 2.5, 2];
/** How much of a run may belong to no word, if nothing else is said. */
const STRANGE = 0.08;
/** Letters in a word, one with another: chance makes shorter ones. */
const LETTERS = 2.8;

const ENGLISH: ReadonlySet<string> = new Set(ENGLISH_WORDS);
const SHORT: ReadonlySet<string> = new Set(["a", "i", ...ENGLISH_WORDS.filter((word) => word.length === 2)]);

/** `ignorelayer1` as `ignore layer 1`; nothing where too little of it is English. */
export function wordsApart(run: string, unknown = STRANGE): string | undefined {
  const words = cheapest(run.toLowerCase());
  const strange = words.filter((word) => !isWord(word)).join("").length;
  const isEnglish = words.length > 1 && strange <= run.length * unknown && run.length >= words.length * LETTERS;
  return isEnglish ? words.join(" ") : undefined;
}

const isWord = (word: string): boolean =>
  /^\d+$/.test(word) ||
  (word.length < 3
    ? SHORT.has(word)
    : ENGLISH.has(word.replace(/(?<=[a-z]{4})(?:s|ed|ing)$/, "")) || ENGLISH.has(word));

/** The way to part a run into the fewest words and letters that belong to none; those in a row stay together. */
function cheapest(run: string): readonly string[] {
  const cost = [0];
  const from = [0];
  for (let end = 1; end <= run.length; end++) {
    cost[end] = (cost[end - 1] ?? 0) + UNKNOWN;
    from[end] = end - 1;
    for (let start = Math.max(0, end - LONGEST_WORD); start < end; start++) {
      const price = (cost[start] ?? 0) + (COST[end - start] ?? 1.5);
      if (price < (cost[end] ?? 0) && isWord(run.slice(start, end))) {
        cost[end] = price;
        from[end] = start;
      }
    }
  }
  const words: string[] = [];
  for (let end = run.length; end > 0; end = from[end] ?? 0) {
    const word = run.slice(from[end] ?? 0, end);
    const next = words.at(-1);
    if (next !== undefined && !isWord(word) && !isWord(next)) words[words.length - 1] = word + next;
    else words.push(word);
  }
  return words.toReversed();
}
