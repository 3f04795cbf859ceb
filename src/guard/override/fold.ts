import { withoutHidden } from "../clean.ts";
import confusables from "./confusables.json" with { type: "json" };

/** Letters of other scripts by the Latin ones they look like: for words in Latin letters, after NFKC. Not Unicode's whole table. */
const LOOKS_LIKE: ReadonlyMap<string, string> = new Map(
  Object.entries(confusables).flatMap(([latin, others]) => [...others].map((one) => [one, latin] as const)),
);

const ANSI = /\u001b\[[\d;]*[A-Za-z]/g;
const BOXED = /[\u{1f130}-\u{1f149}\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu;

/** A mark that has a place in the order of marks; those that choose a variant have none. */
const MARK = String.raw`(?:(?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{M})`;
/** Marks piled up on one letter higher than Unicode asks anybody to bear: to put them in order takes quadratic time. */
const PILED = new RegExp(`(${MARK}{30})${MARK}+`, "gu");

/** No marks piled up. Everything that is normalised passes here first. */
export const unpiled = (text: string): string => (isAscii(text) ? text : text.replaceAll(PILED, "$1"));

export const isAscii = (text: string): boolean => /^[\t\n\x20-\x7e]*$/.test(text);

/** Accents and strokes away, where a script can be read without them. */
const withoutMarks = (text: string): string =>
  text
    .normalize("NFD")
    .replaceAll(/(?<=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}\p{P}\s])\p{M}+/gu, "")
    .normalize("NFC");

/** Letters that one language writes in two ways, in one of them. Expects small letters. */
export const foldedLetters = (text: string): string =>
  isAscii(text)
    ? text
    : withoutMarks(text)
        .replaceAll("ı", "i")
        .replaceAll("ß", "ss")
        .replaceAll("ł", "l")
        .replaceAll("ς", "σ")
        .replaceAll(/[أإآ]/g, "ا")
        .replaceAll("ة", "ه")
        .replaceAll("ى", "ي")
        .replaceAll("\u093c", "");

/**
 * A text as a reader takes it: no hidden characters, plain letters in place of wide, bold, circled and look-alike ones, no emphasis
 * and no pictures inside words. Its lines and its quotes stay.
 */
export function legible(text: string): string {
  return (isAscii(text) ? text : undressed(text))
    .replaceAll(/(?:\(\p{L}\)){2,}/gu, (run) => run.replaceAll(/[()]/g, ""))
    .replaceAll(/(?<=\p{L})(?:[*~\u2010\u2011]|__){1,8}(?=\p{L})/gu, "")
    .replaceAll(/[^\S\n]+/gu, " ");
}

function undressed(text: string): string {
  const bare = withoutHidden(text.toWellFormed().replaceAll(ANSI, "").replaceAll(BOXED, boxed));
  const plain = withoutMarks(
    unpiled(bare)
      .normalize("NFKC")
      .slice(0, 2 * LONGEST),
  )
    .replaceAll("’", "'")
    .replaceAll(/[\p{L}\p{M}]+/gu, lookalikes);
  if (!/\p{Extended_Pictographic}/u.test(plain)) return plain;
  return plain.replaceAll(PICTURED, (run) => run.replaceAll(PICTURES, /\p{L}{5}/u.test(run) ? " " : ""));
}

const PICTURES = /\p{Extended_Pictographic}{1,4}/gu;
/** Letters with pictures between them: words, or pieces of one where the pieces are short. */
const PICTURED = /\p{L}{1,40}(?:\p{Extended_Pictographic}{1,4}\p{L}{1,40}){1,200}/gu;

/** Longer texts are not layers; the limit bounds the time of judging. */
export const LONGEST = 20_000;

/** Only in words that are otherwise Latin: a word of another language is unchanged. */
const lookalikes = (word: string): string =>
  /[a-z]/i.test(word) && [...word].every((sign) => /\p{ASCII}/u.test(sign) || LOOKS_LIKE.has(sign))
    ? word.replaceAll(/\P{ASCII}/gu, (sign) => LOOKS_LIKE.get(sign) ?? sign)
    : word;

/** Letters in boxes and circles, and those that flags are made of. */
function boxed(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  const first = [0x1_f1_e6, 0x1_f1_70, 0x1_f1_50, 0x1_f1_30].find((one) => code >= one) ?? code;
  return String.fromCodePoint(97 + code - first);
}
