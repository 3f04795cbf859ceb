import { withoutMarks } from "./marks.ts";
import { once } from "./once.ts";
import { TONGUES } from "./tongues.ts";
import { VOCABULARY } from "./vocabulary.ts";

const folded = (words: string): readonly string[] => withoutMarks(words.toLowerCase()).split(" ");

/** Common words of all languages in Latin letters, without accents. */
const COMMON: ReadonlySet<string> = new Set(Object.values(TONGUES).flatMap(folded));

/** Common English words, and those that orders about layers are made of. */
const ENGLISH: ReadonlySet<string> = new Set([
  ...folded(TONGUES.en ?? ""),
  ...[...VOCABULARY].filter((word) => word.length > 3),
]);

/** The same, the commonest first. */
export const ENGLISH_WORDS: readonly string[] = [...ENGLISH];

const ENDING = /(?:'s|s|es|ed|d|ing|ly|er|y)$/;

/** Whether a word in small Latin letters is English, as far as we know the language. */
export const isEnglishWord = (word: string): boolean =>
  ENGLISH.has(word) || (word.length > 4 && ENGLISH.has(word.replace(ENDING, "")));

/** Whether a word belongs to any language in Latin letters that we know. */
export const isCommonWord = (word: string): boolean => COMMON.has(word) || isEnglishWord(word);

/** How many of the words of a text are English; letters that stand alone do not count. */
export const englishWords = (text: string): number =>
  (text.toLowerCase().match(/[a-z']{2,}/g) ?? []).filter(isEnglishWord).length;

/** How often a letter follows another, and begins or ends a word, in all those languages: its share in bits, the rarer the lower. */
const pairs = once((): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  const add = (key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const word of new Set([...COMMON, ...ENGLISH])) {
    const closed = `^${word}$`;
    for (let i = 1; i < closed.length; i++) {
      add(closed.slice(i - 1, i));
      add(closed.slice(i - 1, i + 1));
    }
  }
  return new Map(
    [...counts].flatMap(([key, count]) =>
      key.length < 2 ? [] : [[key, Math.log2(count / (counts.get(key.slice(0, 1)) ?? count))] as const],
    ),
  );
});

/** What a pair costs that no word has. */
const NEVER = -9;

/** How well the letters of a word follow each other, for what is usual in words: about -3.5 for most, under -5 for letters that are none. */
export function flowOf(word: string): number {
  const known = pairs();
  const closed = `^${word}$`;
  let sum = 0;
  for (let i = 1; i < closed.length; i++) sum += known.get(closed.slice(i - 1, i + 1)) ?? NEVER;
  return sum / (closed.length - 1);
}
