import { LETTERS, signOf } from "./alphabet.ts";
import { englishWords } from "./language.ts";
import { wordsApart } from "./words-apart.ts";

/** Characters written by their numbers, in whatever base and dress: `0x49`, `#73`, `Alt+073`, `CHAR(73)`, `one zero zero`. */

type Decoded = Iterable<readonly [string, string]>;

/** What a number wears: a prefix that names its base or what to do with it, and a closing letter. */
const DRESS =
  /\b(?:0[xob]|[uU]\+?|x|chr[wb]?|n?char|alt|ascii|dec|hex|bin|oct)(?=[0-9a-f]*\d|[0-9a-f]{2}\b)|(?<=\b[0-9a-f]{2})h\b/gi;
const NAMES =
  /\b(?:chr[wb]?|n?char(?:code)?|alt|ascii|dec|hex|bin|oct|fromcharcode|string|map|join|ord|print|to|text|bytes?)\b/gi;
const FEWEST = 7;
const MOST = 4000;
/** Texts with fewer figures are not tried. */
const FEWEST_FIGURES = 12;

/** How a number is told in a base, and the base. */
const BASES: readonly (readonly [RegExp, number])[] = [
  [/^[01]{5,8}$/, 2],
  [/^[012]{4,5}$/, 3],
  [/^[0-7]{2,4}$/, 8],
  [/^\d{2,4}$/, 10],
  [/^0{0,6}[0-9a-f]{2}$/i, 16],
  [/^[0-9a-z]{1,2}$/i, 36],
];

/** Places in the alphabet, from one, from nought and from its end. */
const PLACES: readonly ((place: number) => string | undefined)[] = [
  (place) => LETTERS[place - 1],
  (place) => LETTERS[place],
  (place) => LETTERS[26 - place],
];

/** What numbers in a text stand for. */
export function* numberCodes(text: string): Decoded {
  const plain = inFigures(text.slice(0, MOST));
  if ((plain.match(/\d/g)?.length ?? 0) < FEWEST_FIGURES) return;
  for (const [run] of plain.matchAll(/(?<![\w.-])\d{20,}(?![\w.-])/g)) yield* joined(run);
  const tokens =
    plain
      .replaceAll(NAMES, " ")
      .replaceAll(DRESS, " ")
      .match(/[0-9a-z]+/gi) ?? [];
  for (const [form, base] of BASES)
    for (const run of runsOf(tokens, form)) yield* readable(run.map((one) => charOf(one, base)).join(""));
  for (const run of runsOf(tokens, /^0?(?:\d|1\d|2[0-6])$/))
    for (const place of PLACES) yield* readable(run.map((one) => place(Number(one)) ?? "").join(""));
  for (const run of runsOf(tokens, /^([2-9])\1{0,3}$/)) yield* readable(run.map(keyed).join(""));
  yield* nibbles(tokens);
}

/** `01001001 …` in halves. */
function* nibbles(tokens: readonly string[]): Decoded {
  for (const run of runsOf(tokens, /^[01]{4}$/))
    yield* readable((run.join("").match(/.{8}/g) ?? []).map((bits) => charOf(bits, 2)).join(""));
}

/** Figures without any blanks: three for each character, or two for each letter. */
function* joined(run: string): Decoded {
  const threes = run.length % 3 === 0 ? (run.match(/.{3}/g) ?? []) : [];
  yield* readable(threes.map((one) => charOf(one, 10)).join(""));
  const twos = run.length % 2 === 0 ? (run.match(/../g) ?? []) : [];
  if (twos.every((one) => Number(one) > 0 && Number(one) < 27))
    yield* readable(twos.map((one) => LETTERS[Number(one) - 1] ?? "").join(""));
}

const charOf = (digits: string, base: number): string => signOf(Number.parseInt(digits, base));

const KEYS = ["", "", "abc", "def", "ghi", "jkl", "mno", "pqrs", "tuv", "wxyz"];
const keyed = (presses: string): string => KEYS[Number(presses[0])]?.[presses.length - 1] ?? "\0";

/** Tokens in a row that have such a form. */
function runsOf(tokens: readonly string[], form: RegExp): readonly (readonly string[])[] {
  const runs: string[][] = [[]];
  for (const token of tokens) {
    if (form.test(token)) runs.at(-1)?.push(token);
    else if (runs.at(-1)?.length !== 0) runs.push([]);
  }
  return runs.filter((run) => run.length >= FEWEST);
}

/** Only what is text. */
function* readable(text: string): Decoded {
  if (text.length < FEWEST || text.includes("\0")) return;
  if (/[ ,.]/.test(text)) {
    if (englishWords(text) > 1) yield ["numbers", text];
    return;
  }
  const words = /^[a-z]+$/i.test(text) ? wordsApart(text) : undefined;
  if (words !== undefined) yield ["numbers", words];
}

const NUMBERS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
const NUMBER = new RegExp(`\\b(?:twenty[ -]([a-z]{3,5})|(${NUMBERS.join("|")}))\\b`, "gi");
const FEWEST_NAMED = 10;

/** Numbers in words as figures, where there are many; a row of noughts and ones as one number. */
function inFigures(text: string): string {
  if ((text.match(NUMBER)?.length ?? 0) < FEWEST_NAMED) return text;
  return text
    .replaceAll(NUMBER, (_, unit: string | undefined, name: string | undefined) =>
      String(
        unit === undefined ? NUMBERS.indexOf(name?.toLowerCase() ?? "") : 20 + NUMBERS.indexOf(unit.toLowerCase()),
      ),
    )
    .replaceAll(/\b[01](?: [01])+\b/g, (bits) => bits.replaceAll(" ", ""));
}
