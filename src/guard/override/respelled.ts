import { ENGLISH_WORDS, isCommonWord } from "./language.ts";
import { proseOf } from "./prose.ts";

const VOWELS = /[aeiou]/g;

/** A shape that a word keeps when it is written wrongly in one way. */
const SHAPES = {
  /** Its consonants, and a vowel that begins it: `spndng`. */
  consonants: (word: string) => word.slice(0, 1) + word.slice(1).replaceAll(VOWELS, ""),
  /** The same without the vowel that begins it. */
  allConsonants: (word: string) => word.replaceAll(VOWELS, ""),
  /** Its consonants and where vowels stand, whichever they are: `ln_str_ct__n`. */
  vowelPlaces: (word: string) => word.replaceAll(VOWELS, "_"),
  /** Its letters in any order, but for the first and the last. */
  ends: (word: string) => word.slice(0, 1) + [...word.slice(1, -1)].sort().join("") + word.slice(-1),
  /** Its letters, however often each stands. */
  single: (word: string) => word.replaceAll(/([a-z])\1+/g, "$1"),
} as const;

type Shape = keyof typeof SHAPES;

const byShape = new Map<Shape, ReadonlyMap<string, string>>();

/** English words by their shape; where two share one, the commoner. */
function englishByShape(shape: Shape): ReadonlyMap<string, string> {
  const known = byShape.get(shape);
  if (known !== undefined) return known;
  const words = ENGLISH_WORDS.filter((word) => word.length > 1 && (word.length > 3 || shape !== "ends"));
  const made = new Map(words.toReversed().map((word) => [SHAPES[shape](word), word] as const));
  byShape.set(shape, made);
  return made;
}

/** Ways in which all words of a line may be written wrongly, and how such a word looks. */
const WRONGS: readonly (readonly [string, RegExp, Shape])[] = [
  ["missing vowels", /^[aeiou]?[b-df-hj-np-tv-z]+$/, "consonants"],
  ["missing vowels", /^[b-df-hj-np-tv-z]+$/, "allConsonants"],
  ["hidden vowels", /[*_#.]/, "vowelPlaces"],
  ["other vowels", /^[a-z]+$/, "vowelPlaces"],
  ["stretched letters", /([a-z])\1\1/, "single"],
  ["letters in another order", /^[a-z]{4,}$/, "ends"],
];

const WORD = /(?<![\p{L}\p{N}])[a-z*_#](?:[a-z*_#.]*[a-z*_#])?(?![\p{L}\p{N}])/gu;
/** How much of a line has to be English in the end. */
const CLEAR = 0.75;
const FEWEST = 3;
/** How many longer words, and how much of them all, must have been written wrongly. */
const LONG = 4;
const FEWEST_MENDED = 2;
const MENDED = 0.25;

/** Lines whose words are all written wrongly in the same way, as what they are meant to say. Expects small letters. */
export function* respelled(text: string): Iterable<readonly [string, string, string]> {
  for (const line of text.split("\n")) {
    const words = proseOf(line).match(WORD) ?? [];
    if (words.length < FEWEST || words.filter(isCommonWord).length > words.length * 0.7) continue;
    for (const [by, wrong, shape] of WRONGS) {
      const read = rightly(proseOf(line), wrong, shape);
      if (read !== undefined) yield [by, read, line];
    }
  }
}

function rightly(line: string, wrong: RegExp, shape: Shape): string | undefined {
  let mended = 0;
  let all = 0;
  let clear = 0;
  const read = line.replaceAll(WORD, (word) => {
    if (!/[a-z]/.test(word)) return word;
    all += 1;
    const known = isCommonWord(word);
    const meant =
      known || !wrong.test(word) ? undefined : englishByShape(shape).get(SHAPES[shape](word.replaceAll(/[*#.]/g, "_")));
    mended += meant === undefined || word.length < LONG ? 0 : 1;
    clear += known || meant !== undefined ? 1 : 0;
    return meant ?? word;
  });
  return mended >= Math.max(FEWEST_MENDED, all * MENDED) && clear >= all * CLEAR ? read : undefined;
}
