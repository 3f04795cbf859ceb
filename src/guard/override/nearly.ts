import { ENGLISH_WORDS, isCommonWord } from "./language.ts";
import { once } from "./once.ts";
import { VOCABULARY } from "./vocabulary.ts";

/** Lines in which several words are written nearly right: heard, mixed up, with a letter too many, too few or another one. */

/** Words by a key that they share with those that sound or look like them; the first one stays. */
const keyed = (words: readonly string[], keysOf: (word: string) => readonly string[]): ReadonlyMap<string, string> => {
  const known = new Map<string, string>();
  for (const word of words) for (const key of keysOf(word)) if (!known.has(key)) known.set(key, word);
  return known;
};

/** What such talk is made of comes first. */
const WORDS = once(() => [...VOCABULARY, ...ENGLISH_WORDS].filter((word) => /^[a-z]{3,}$/.test(word)));
const byLetters = once(() => keyed(WORDS(), (word) => [sorted(word)]));
const byEdit = once(() =>
  keyed(
    [...VOCABULARY].filter((word) => word.length > 3),
    (word) => [word, ...shorter(word)],
  ),
);

const sorted = (word: string): string => [...word].sort().join("");
const shorter = (word: string): readonly string[] => [...word].map((_, at) => word.slice(0, at) + word.slice(at + 1));

type Sounds = readonly (readonly [RegExp, string])[];

const ENDINGS: Sounds = [[/(?:ti|si|ci|ssi|sh|ch)[ou]n/g, "sn"]];
const SOUNDS: Sounds = [
  [/ph/g, "f"],
  [/gh(?=t|$)/g, ""],
  [/x/g, "ks"],
  [/qu/g, "kw"],
  [/c(?=[ei])|z|[sc]h/g, "s"],
  [/[cq]/g, "k"],
  [/d|th|dh/g, "t"],
  [/v/g, "f"],
  [/j/g, "g"],
  [/(?<=.)[aeiouh]+/g, ""],
  [/^[aeiou]/g, "a"],
  [/(.)\1+/g, "$1"],
];
/** Tongues that know no l or no r, and those that swallow it. */
const ONE_LIQUID: Sounds = [[/l/g, "r"]];
const NO_R: Sounds = [[/r$/g, ""]];

const heard = (word: string, sounds: Sounds): string =>
  sounds.reduce((sound, [from, to]) => sound.replaceAll(from, to), word);

/** Consonants as they sound, and that a vowel begins it. */
const soundOf =
  (...sounds: readonly Sounds[]) =>
  (word: string): string =>
    heard(word.replaceAll("y", "i"), sounds.flat());

/** The word that is meant by a wrong one. */
type Way = (word: string) => string | undefined;

/** What stands in code, links and tables: their words are no mistakes. */
const CODE = /[[\]{}=<>/|_]|\.\w/;
const WORD = /(?<![\p{L}\p{N}])[a-z]{3,24}(?![\p{L}\p{N}])/gu;
const FEWEST = 2;
const LONGEST = 1000;
/** A word of so many letters is enough. */
const LONG = 9;
/** How much of a line has to be written wrongly, and how much of that one way must make right. */
const WRONG = 0.3;
const MENDED = 0.65;

/** Each line with its wrong words as those that they are nearest to, in the ways that make sense of most. Expects small letters. */
export function* nearly(text: string): Iterable<readonly [string, string]> {
  const ways = WAYS.map(remembered);
  for (const line of text.split("\n")) {
    if (CODE.test(line)) continue;
    const words = line.match(WORD) ?? [];
    if (words.length < FEWEST || line.length > LONGEST) continue;
    const wrong = words.filter((word) => !isCommonWord(word));
    const isWrong = wrong.length >= Math.max(FEWEST, words.length * WRONG);
    if (!isWrong && !wrong.some((word) => word.length >= LONG - 1)) continue;
    for (const meantBy of isWrong ? ways : ways.slice(0, 2)) {
      const read = righted(line, meantBy);
      if (read !== undefined) yield [read, line];
    }
  }
}

/** The same, looked up once for each word of a text. */
const remembered = (meantBy: Way): Way => {
  const known = new Map<string, string | undefined>();
  return (word) => {
    if (!known.has(word)) known.set(word, meantBy(word));
    return known.get(word);
  };
};

/** What such talk is about. */
const TOPIC =
  /\b(?:layers?|constitution\w*|rules?|safety|operators?|owners?|senders?|instructions?|guardrails?|limits?|prompts?|polic(?:y|ies)|constraints?|funds|confirmation|approval|charter|safeguards?|section)\b/u;

function righted(line: string, meantBy: Way): string | undefined {
  let mended = 0;
  let wrong = 0;
  let isLong = false;
  const read = line.replaceAll(WORD, (word) => {
    if (isCommonWord(word)) return word;
    const meant = meantBy(word);
    wrong += 1;
    mended += meant === undefined ? 0 : 1;
    isLong ||= meant !== undefined && meant.length >= LONG && VOCABULARY.has(meant);
    return meant ?? word;
  });
  return mended >= Math.max(isLong ? 1 : FEWEST, wrong * MENDED) && TOPIC.test(read) ? read : undefined;
}

const beats = (word: string): number => word.match(/[aeiouy]+/g)?.length ?? 0;

/** Words that sound alike. */
const alike = (...sounds: readonly Sounds[]) => {
  const keyOf = soundOf(...sounds);
  const known = once(() => keyed(WORDS(), (word) => [keyOf(word)]));
  return (word: string): string | undefined => {
    const sound = keyOf(word);
    const meant = sound.length > 2 || !/[aeiou]/.test(word) ? known().get(sound) : undefined;
    return meant !== undefined && (!/[aeiou]/.test(word) || Math.abs(beats(meant) - beats(word)) < 2)
      ? meant
      : undefined;
  };
};
const meantSound = alike(ENDINGS, SOUNDS);
const meantLetters = (word: string): string | undefined => byLetters().get(sorted(word));
/** Words of their own, though one letter away from such talk. */
const RIGHT: ReadonlySet<string> = new Set("lawyer lawyers player players chatter chapter chapters".split(" "));
/** One letter too many, too few or another. */
const meantEdit = (word: string): string | undefined => {
  if (word.length < 4 || RIGHT.has(word)) return undefined;
  const near = byEdit();
  const rests = shorter(word);
  return near.get(word) ?? rests.map((rest) => near.get(rest)).find((found) => found !== undefined);
};

/** Letters that a way of speaking mixes up. */
const swapped = (from: string, to: string) => {
  const plain = (word: string): string => [...word].map((letter) => (from.includes(letter) ? to : letter)).join("");
  const known = once(() => keyed(WORDS(), (word) => [plain(word)]));
  return (word: string): string | undefined => (word.length < 4 ? undefined : known().get(plain(word)));
};

const WAYS: readonly Way[] = [
  meantLetters,
  meantSound,
  alike(SOUNDS),
  alike(ENDINGS, ONE_LIQUID, SOUNDS),
  alike(ENDINGS, SOUNDS, NO_R),
  meantEdit,
  swapped("lrw", "l"),
  swapped("aeiouyə", "a"),
  (word) => meantEdit(word) ?? meantSound(word) ?? meantLetters(word),
];
