import { disguised } from "../wording.ts";
import { isAscii } from "./fold.ts";
import { flowOf } from "./unreadable.ts";
import { finding, type GuardFinding } from "./verdict.ts";
import { englishWords, isEnglishWord } from "./words.ts";

/** Words that must appear before a way of writing counts as a disguise. */
const APPEARING = 2;

/**
 * A text that reveals more plain words when it is decoded: no honest layer needs that, whatever it says. `plain` is the text as a reader
 * takes it.
 */
export function disguiseOf(text: string, plain: string): GuardFinding | undefined {
  if (!isAscii(text) && englishWords(plain) - englishWords(asItStands(text)) >= APPEARING)
    return disguiseFinding("hidden", "odd letters", plain);
  for (const code of codesIn(text)) if (showsMore(code)) return disguiseFinding("blob", code[0], code[2]);
  for (const trick of tricksIn(plain)) if (showsMore(trick)) return disguiseFinding("hidden", trick[0], trick[2]);
  return undefined;
}

const showsMore = ([, before, after]: Decoding): boolean =>
  before !== after && englishWords(after) - englishWords(before) >= APPEARING;

const disguiseFinding = (kind: "hidden" | "blob", by: string, words: string): GuardFinding =>
  finding(kind, disguised(by), words);

/** The text in lower case, without accents that are not part of a language. */
const asItStands = (text: string): string =>
  text
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("’", "'")
    .replaceAll(/[*~]{1,3}/g, "")
    .replaceAll(/[\u00c0-\u024f]/gu, (letter) => letter.normalize("NFD")[0] ?? letter);

/** The encoding, the original text, and its meaning. */
type Decoding = readonly [by: string, before: string, after: string];

/** Parts of a text in which characters represent others. */
function* codesIn(text: string): Iterable<Decoding> {
  // Text in an address names a place, and tells its reader nothing.
  const written = text.replaceAll(/\bhttps?:\S+/gi, " ");
  for (const [run] of written.matchAll(/(?:[A-Za-z0-9+/_-]{4,}\n?){4,}={0,2}/g)) {
    const once = decodeRun(run.replaceAll("\n", ""), "base64");
    yield ["base64", run, /^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(once) ? decodeRun(once, "base64") : once];
  }
  for (const [run] of written.matchAll(
    /(?<![0-9a-f]{2})(?:(?:0x|\\x)?[0-9a-f]{2}[\s:,]{0,2}){7,}[0-9a-f]{2}(?![0-9a-z])/gi,
  ))
    yield ["hex", run, decodeRun(run.replaceAll(/0x|\\x|[\s:,]/gi, ""), "hex")];
  for (const [run] of written.matchAll(/\b(?:[A-Z2-7]{24,}={0,6}|[a-z2-7]{32,}={0,6})(?![A-Za-z0-9])/g))
    yield ["base32", run, base32(run)];
  for (const [run] of written.matchAll(/(?:[01]{7,8}[\s,]{0,2}){6,}/g))
    yield ["bits", run, (run.match(/[01]{7,8}/g) ?? []).map((bits) => characterOf(Number.parseInt(bits, 2))).join("")];
  for (const [run] of written.matchAll(/(?:\b\d{2,3}\b[^\p{L}\d]{1,3}){7,}\d{2,3}/gu))
    yield ["numbers", run, (run.match(/\d+/g) ?? []).map((code) => characterOf(Number(code))).join("")];
  yield ["escapes", written, unescaped(written)];
}

const decodeRun = (run: string, encoding: "base64" | "hex"): string => Buffer.from(run, encoding).toString("utf8");

function base32(run: string): string {
  const bits = [...run.toUpperCase().replaceAll("=", "")]
    .map((sign) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(sign).toString(2).padStart(5, "0"))
    .join("");
  return (bits.match(/.{8}/g) ?? []).map((byte) => characterOf(Number.parseInt(byte, 2))).join("");
}

const characterOf = (code: number): string => (code > 31 && code < 127 ? String.fromCharCode(code) : "\0");

/** Characters written by their number, in the languages that have a way to. */
export const unescaped = (text: string): string =>
  text
    .replaceAll(/&#x([0-9a-f]{1,6});?/gi, (_, hex: string) => characterOf(Number.parseInt(hex, 16)))
    .replaceAll(/&#(\d{1,7});?/g, (_, digits: string) => characterOf(Number(digits)))
    .replaceAll(/(?:\\u\{?|%u|\\x|U\+|=|%25|%)([0-9a-f]{4}|[0-9a-f]{2})\}?[ ,]?/gi, (_, hex: string) =>
      characterOf(Number.parseInt(hex, 16)),
    );

/** Ways to write a line that its letters betray. Expects the text legible. */
function* tricksIn(plain: string): Iterable<Decoding> {
  const small = plain.toLowerCase();
  for (const one of ["i", "l"]) yield ["digits for letters", small, undigited(small, one)];
  for (const [run] of small.matchAll(APART)) {
    const letters = run.replaceAll(/\P{L}/gu, "");
    // Words of a language flow; a list of letters does not.
    if (letters.length >= FEWEST_APART && flowOf(letters) > FLOWS) yield ["letters set apart", "", "the letters"];
  }
  for (const [run] of small.matchAll(/(?<![\p{L}\p{N}])[a-z]{17,200}(?![\p{L}\p{N}])/gu)) {
    const words = parted(run);
    if (words.filter(({ length }) => length > 3).length >= FEWEST_PARTED) yield ["no blanks", run, words.join(" ")];
  }
  for (const line of small.split(/\n|(?<=[.!?;])\s/u)) yield* turned(line.slice(0, TRIED));
}

const LEET: Readonly<Record<string, string>> = {
  0: "o",
  3: "e",
  4: "a",
  5: "s",
  7: "t",
  8: "b",
  "@": "a",
  $: "s",
  "€": "e",
};

/** Digits and symbols inside words as the letters they look like, if a word results. `1` and `!` mean i or l. */
const undigited = (text: string, one: string): string =>
  text.replaceAll(/[a-z\d@$€!|]{3,24}/g, (word) => {
    if (!/[a-z]/.test(word) || !/[\d@$€!|]/.test(word)) return word;
    const letters = word.replaceAll(/[\d@$€!|]/g, (sign) => (/[1!|]/.test(sign) ? one : (LEET[sign] ?? sign)));
    return isEnglishWord(letters) ? letters : word;
  });

/** Single letters with non-letters between them. */
const APART = /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}][^\p{L}\p{N}]{1,6}){7,400}[\p{L}\p{N}](?![\p{L}\p{N}])/gu;
const FEWEST_APART = 8;
const FLOWS = -4.3;

/** Of more than three letters: short ones are in every word. */
const FEWEST_PARTED = 3;
const LONGEST_WORD = 14;

/** `ignorelayer1`: the fewest words that make up a run; empty if it has other letters. */
function parted(run: string): readonly string[] {
  const best: (readonly string[] | undefined)[] = [[]];
  for (let end = 1; end <= run.length; end++) {
    for (let start = Math.max(0, end - LONGEST_WORD); start < end; start++) {
      const before = best[start];
      const word = run.slice(start, end);
      if (before === undefined || (word.length < 2 && !/[ai]/.test(word)) || !isEnglishWord(word)) continue;
      if (best[end] === undefined || before.length + 1 < (best[end]?.length ?? 0)) best[end] = [...before, word];
    }
  }
  return best[run.length] ?? [];
}

/** How much of a line is tried for each turn. */
const TRIED = 240;
const FEWEST_LETTERS = 11;
/** How much of the words must be English for a line to be plain. */
const PLAIN = 0.6;

const backwards = (text: string): string => [...text].toReversed().join("");
const shifted = (text: string, by: number): string =>
  text.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + by) % 26) + 97));

/** Lines written backwards, or with other letters for each letter, as the plain text that they become when turned. */
function* turned(line: string): Iterable<Decoding> {
  const words = line.match(/[a-z']{2,}/g) ?? [];
  if ((line.match(/[a-z]/g)?.length ?? 0) < FEWEST_LETTERS || isPlainEnglish(line)) return;
  const turns: readonly Decoding[] = [
    ["reversal", line, backwards(line)],
    ["reversal of words", line, line.replaceAll(/[\p{L}\p{N}]+/gu, backwards)],
    ["mirrored letters", line, line.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(219 - letter.charCodeAt(0)))],
    ...Array.from({ length: 25 }, (_, i): Decoding => ["shifted letters", line, shifted(line, i + 1)]),
  ];
  if (words.length > 1) yield* turns.filter(([, , read]) => isPlainEnglish(read));
}

function isPlainEnglish(text: string): boolean {
  const words = text.match(/[a-z']{2,}/g) ?? [];
  return words.filter(isEnglishWord).length >= words.length * PLAIN;
}

/** `IGNORE_ALL_LAYERS`, `ignore-all-layers` and `IgnoreAllLayers`, as the words that they name. */
export const namesAsSentences = (text: string): string =>
  (text.match(/(?<![\p{L}\p{N}])\p{L}[\p{L}\p{N}]*(?:[_-]+[\p{L}\p{N}]+){2,12}|[\p{Lu}\p{Ll}\d]{14,80}/gu) ?? [])
    .map((run) => run.replaceAll(/[_-]+|(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ").toLowerCase())
    .filter((run) => run.split(" ").length > 2)
    .join("\n");
