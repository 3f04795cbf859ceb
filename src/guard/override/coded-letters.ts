import { LETTERS, MORSE } from "./alphabet.ts";
import { wordsApart } from "./words-apart.ts";

/** Codes in which a group of signs, a word or a figure stands for one letter. */

/** Both spellings of some. */
const SPOKEN: ReadonlyMap<string, string> = new Map(
  "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu"
    .split(" ")
    .map((word) => [word, word[0] ?? ""]),
);

type Decoded = Iterable<readonly [string, string]>;

/** What such codes in a text stand for. */
export function* codedLetters(text: string): Decoded {
  yield* fromMorse(text);
  yield* fromSpoken(text);
  for (const [run] of text.toLowerCase().matchAll(NAMED_RUN))
    yield ["names of letters", lettersOf(run, /double[- ]u|[a-z]+/g, (name) => NAMES.get(name.replace(/[- ]/, "")))];
  yield* fromFigures(text);
  const named = text.replaceAll(/latin (?:small|capital) letter ([a-z])\b[\s,;]*/gi, "$1");
  if (named !== text) yield ["names of letters", named];
  if (/[\u2801-\u283f]{3}/.test(text)) yield ["Braille", text.replaceAll(/[\u2801-\u283f]/g, fromBraille)];
}

function* fromMorse(text: string): Decoded {
  const plain = text.replaceAll(/[·•*]/g, ".").replaceAll(/[–—−_]/g, "-");
  for (const [run] of plain.matchAll(/(?:(?<![^\s/|'"`:])[.-]{1,6}(?:[ \t]*[/|\n][ \t]*|[ \t]+|$)){6,}/g)) {
    const words = run.trim().split(/\s{0,20}[/|\n]\s*|\s{3,}/);
    yield [
      "Morse",
      words
        .map((word) =>
          word
            .split(/\s+/)
            .map((code) => MORSE.get(code) ?? "")
            .join(""),
        )
        .join(" "),
    ];
  }
}

/** `Golf Echo Tango`: six names of letters in a row and more are no talk of golf. */
function* fromSpoken(text: string): Decoded {
  for (const [run] of text.toLowerCase().replaceAll("x-ray", "xray").matchAll(SPOKEN_RUN))
    yield ["names of letters", lettersOf(run, /[a-z]+/g, (word) => SPOKEN.get(word))];
}

const SPOKEN_RUN = new RegExp(`(?:\\b(?:${[...SPOKEN.keys()].join("|")})\\b[^a-z]{0,4}){6,}`, "g");

/** The letters as they are read out. */
const NAMES: ReadonlyMap<string, string> = new Map(
  "a:ay a:eh b:bee b:be c:cee c:see c:sea d:dee e:ee f:ef f:eff g:gee h:aitch h:haitch i:eye i:i j:jay k:kay k:key l:el l:ell m:em n:en o:oh o:o p:pee q:cue q:queue r:ar r:are s:ess s:es t:tee t:tea u:you u:yu v:vee w:doubleu x:ex y:why y:wye z:zee z:zed"
    .split(" ")
    .map((pair) => [pair.slice(2), pair.slice(0, 1)] as const),
);
const NAMED_RUN = new RegExp(`(?:\\b(?:double[- ]u|${[...NAMES.keys()].join("|")})\\b[^a-z]{0,4}){8,}`, "g");

/** Bytes as bits, octal or decimal numbers; places in the alphabet. */
function* fromFigures(text: string): Decoded {
  for (const [run] of text.matchAll(/(?:[01]{8}[\s,]*){6,}/g))
    yield ["bits", bytes((run.match(/[01]{8}/g) ?? []).map((bits) => Number.parseInt(bits, 2)))];
  for (const [run] of text.matchAll(/(?:\b[01]{7}\b[\s,]*){6,}/g))
    yield ["bits", bytes((run.match(/[01]{7}/g) ?? []).map((bits) => Number.parseInt(bits, 2)))];
  for (const [run] of text.matchAll(/(?:\b\d{1,3}\b[^\p{L}\d]{1,3}){7,}\d{1,3}/gu)) {
    const written = run.match(/\d+/g) ?? [];
    const codes = written.map(Number);
    if (codes.every((code) => code > 31 && code < 127)) yield ["numbers", bytes(codes)];
    const octal = written.map((digits) => Number.parseInt(digits, 8));
    if (written.every((digits) => /^[01]?[0-7]{2}$/.test(digits)) && octal.every((code) => code > 31 && code < 127))
      yield ["numbers", bytes(octal)];
    if (codes.every((code) => code > 0 && code < 27))
      yield ["numbers", lettersOf(run, /\d+/g, (digits) => LETTERS[Number(digits) - 1])];
  }
}

/** The letters that items stand for. What mostly stands between items joins them, the rest parts words. */
function lettersOf(run: string, item: RegExp, letterOf: (item: string) => string | undefined): string {
  const items = run.match(item) ?? [];
  const gaps = run.split(item).slice(1, -1);
  const often = new Map<string, number>();
  for (const gap of gaps) often.set(gap, (often.get(gap) ?? 0) + 1);
  const [joint] = [...often].sort((a, b) => b[1] - a[1])[0] ?? [];
  const read = items
    .map((one, i) => (letterOf(one) ?? "") + (gaps[i] === joint || i >= gaps.length ? "" : " "))
    .join("");
  return read.includes(" ") ? read : (wordsApart(read) ?? read);
}

const bytes = (codes: readonly number[]): string => Buffer.from(codes).toString("utf8");

const BRAILLE = "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵";

const fromBraille = (sign: string): string => LETTERS[BRAILLE.indexOf(sign)] ?? sign;
