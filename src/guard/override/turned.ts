import { englishWords, isCommonWord } from "./language.ts";
import { wordsOf } from "./vocabulary.ts";

/** How much of a line is tried for each turn. */
const TRIED = 300;
/** Shorter lines say nothing. */
const SHORTEST = 11;

const backwards = (text: string): string => [...text].toReversed().join("");
const wordsBackwards = (text: string): string => text.replaceAll(/[\p{L}\p{N}\p{P}]+/gu, backwards);
const inPairs = (text: string): string => text.replaceAll(/(.)(.)/gsu, "$2$1");
const shifted = (text: string, by: number): string =>
  text.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + by) % 26) + 97));
const mirrored = (text: string): string =>
  text.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(219 - letter.charCodeAt(0)));
/** `ubyoubu` for `you`: one syllable before every vowel, whichever it is. */
const withoutSyllable = (text: string): string => text.replaceAll(/(?:ub|ob|op|ab|ib|ip|idig|ug)(?=[aeiouy])/g, "");
/** `youp` for `you`: `p` and the same vowel after every vowel. */
const withoutEcho = (text: string): string => text.replaceAll(/([aeiou])[pfbg]\1/g, "$1");
/** A letter that parts all others. */
const without = (letter: string) => (text: string) => text.replaceAll(letter, "");

/** `ignoreway` and `ulesray`, as the words that they come from. */
const fromPigLatin = (text: string): string =>
  text.replaceAll(/(?<![a-z])([a-z]+)ay(?![a-z])/g, (_, rest: string) => {
    const turns = [1, 2, 3].map((moved) => rest.slice(rest.length - moved) + rest.slice(0, rest.length - moved));
    const kept = rest.replace(/[wyh]$/, "");
    return [...(rest.endsWith("w") ? [kept] : []), ...turns, kept].find(isCommonWord) ?? turns[0] ?? rest;
  });

type Turn = readonly [string, (line: string) => string];

const SHIFTS: readonly Turn[] = Array.from({ length: 25 }, (_, i) => [
  "shifted letters",
  (line: string) => shifted(line, i + 1),
]);

/** Each as the name of the disguise and what takes it off. */
const TURNS: readonly Turn[] = [
  ["reversal", backwards],
  ["reversal of words", wordsBackwards],
  ["letters in pairs", inPairs],
  ["mirrored letters", mirrored],
  ["turned words", fromPigLatin],
  ["filling syllables", withoutSyllable],
  ["filling syllables", withoutEcho],
  ...[..."xqzj"].map((letter): Turn => ["a filling letter", without(letter)]),
  ...SHIFTS,
];

/** Lines written backwards, or with other letters for each letter, as the plain text that they become when turned. Expects small letters. */
export function* turnings(text: string): Iterable<readonly [string, string, string]> {
  for (const whole of text.split("\n")) {
    if (whole.length < SHORTEST) continue;
    if (BACKWARDS.test(whole) || ENDS_FIRST.test(whole))
      yield ["order of words", unended(whole).split(" ").toReversed().join(" "), whole];
    for (const part of partsOf(whole)) {
      const read = lettersIn(part) < SHORTEST || isPlain(part) ? undefined : turned(part.slice(0, TRIED));
      if (read !== undefined) yield [...read, part];
    }
  }
}

/** A line, what follows its label, its sentences and its remarks in brackets. */
const partsOf = (line: string): ReadonlySet<string> =>
  new Set(
    [line, line.slice(line.indexOf(": ") + 1), ...line.split(/(?<=[.!?;:…])\s+|[()[\]"“”|]|\s[–—-]\s/u)].map((part) =>
      part.replace(/^[\s>*#-]+(?:\d+[.)] )?/, "").trim(),
    ),
  );

const BACKWARDS = /\b(?:last to first|backwards?|reversed? (?:order|words)|from the end)\b/;
/** The full stop stands after the first word, and none at the end. */
const ENDS_FIRST = /^[\s>*#-]*(?:\w{1,12}: )?[a-z]{2,}[.!?] .*[^.!?:;,\s]$/u;
const unended = (line: string): string => line.replaceAll(/[.!?]/g, "");

/** How much of the words must be English for it to be plain. */
const PLAIN = 0.6;
/** Words that a turn must win. */
const WON = 2;

const lettersIn = (text: string): number => text.match(/[a-z]/g)?.length ?? 0;
const wordCount = (text: string): number => text.match(/[a-z']{2,}/g)?.length ?? 0;
const isPlain = (text: string): boolean => {
  const words = text.match(/[a-z']{2,}/g) ?? [];
  return words.filter(isCommonWord).length >= words.length * PLAIN;
};

/** The turn that makes most of it plain, if one does. */
function turned(part: string): readonly [string, string] | undefined {
  const now = englishWords(part);
  const reads = TURNS.map(([by, turn]) => [by, turn(part)] as const).filter(([, read]) => read !== part);
  const [best] = reads.map((one) => ({ one, words: englishWords(one[1]) })).sort((a, b) => b.words - a.words);
  if (best === undefined || best.words < now + WON) return undefined;
  return best.words >= wordCount(best.one[1]) * PLAIN ? best.one : undefined;
}

/** Letters that stand alone, with anything but letters between them. */
const APART = /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}][^\p{L}\p{N}]{1,12}){5,}[\p{L}\p{N}](?![\p{L}\p{N}])/gu;
/** `i.g.n.o.r.e`, `i g n o r e`: letters that stand alone, set together again. What mostly stands between them joins; the rest parts words. */
export function spelled(text: string): string | undefined {
  const read = text.replaceAll(APART, (run) => {
    const between = run.split(/[\p{L}\p{N}]/u).slice(1, -1);
    const counts = new Map<string, number>();
    for (const sign of between) counts.set(sign, (counts.get(sign) ?? 0) + 1);
    const [joint = ""] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
    return run
      .split(/(?<=[\p{L}\p{N}])(?=[^\p{L}\p{N}])|(?<=[^\p{L}\p{N}])(?=[\p{L}\p{N}])/u)
      .map((part) => (/[\p{L}\p{N}]/u.test(part) ? part : part === joint ? "" : " "))
      .join("");
  });
  return read === text ? undefined : read;
}

/** The same, whatever stands between them: the words are told apart by what they are. */
export function rejoined(text: string): string | undefined {
  const read = text.replaceAll(APART, (run) => {
    const letters = run.replaceAll(/[^\p{L}\p{N}]/gu, "");
    return ` ${wordsOf(letters) ?? letters} `;
  });
  return read === text ? undefined : read;
}

/** `iiggnnoorree`: where nearly all letters stand twice. */
export function undoubled(text: string): string | undefined {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const twice = (text.match(/(\p{L})\1/gu)?.length ?? 0) * 2;
  return letters > 7 && twice > letters * 0.9 ? text.replaceAll(/([\p{L}\p{N}])\1/gu, "$1") : undefined;
}
