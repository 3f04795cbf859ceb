import { ENGLISH_WORDS, flowOf } from "./language.ts";
import { parted } from "./parted.ts";

const LONGEST_WORD = 16;
/** What a letter costs that belongs to no word, and what words cost by their length: short ones fit everywhere. */
const UNKNOWN = 6;
const COST: readonly number[] = [0, 5, 4, 3, 2.5, 2];
/** How much of a run may belong to no word, if nothing else is said. */
const STRANGE = 0.08;
/** Letters in a word, one with another: chance makes shorter ones. */
const LETTERS = 2.8;

/** Letters of English words in a row follow each other better than this; so do hardly any others. */
const FLOW = -4.8;
const FEW = 11;

const ENGLISH: ReadonlySet<string> = new Set(ENGLISH_WORDS);
const SHORT: ReadonlySet<string> = new Set(["a", "i", ...ENGLISH_WORDS.filter((word) => word.length === 2)]);

/** `ignorelayer1` as `ignore layer 1`; nothing where too little of it is English. */
export function wordsApart(run: string, unknown = STRANGE): string | undefined {
  if (run.length > FEW && flowOf(run.toLowerCase().replaceAll(/[^a-z]/g, "")) < FLOW) return undefined;
  const words = cheapest(run.toLowerCase());
  const strange = words.filter((word) => !isWord(word)).join("").length;
  const isEnglish = words.length > 1 && strange <= run.length * unknown && run.length >= words.length * LETTERS;
  return isEnglish ? words.join(" ") : undefined;
}

const isWord = (word: string): boolean =>
  word.length < 3
    ? SHORT.has(word) || FIGURES.test(word)
    : ENGLISH.has(word) || isInflected(word) || FIGURES.test(word);

const FIGURES = /^\d+$/;
const ENDINGS: readonly string[] = ["s", "ed", "ing"];

const isInflected = (word: string): boolean =>
  ENDINGS.some(
    (ending) => word.length > ending.length + 3 && word.endsWith(ending) && ENGLISH.has(word.slice(0, -ending.length)),
  );

/** The cheapest words of a run, where letters that belong to none and stand in a row stay together. */
function cheapest(run: string): readonly string[] {
  const wordOf = (word: string) => (isWord(word) ? (COST[word.length] ?? 1.5) : undefined);
  const words: string[] = [];
  for (const word of parted(run, { longest: LONGEST_WORD, letter: UNKNOWN, wordOf })) {
    const last = words.at(-1);
    if (last !== undefined && !isWord(word) && !isWord(last)) words[words.length - 1] = last + word;
    else words.push(word);
  }
  return words;
}
