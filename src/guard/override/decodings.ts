import { codedLetters } from "./coded-letters.ts";
import { denseCodes } from "./dense-codes.ts";
import { numberCodes } from "./number-codes.ts";
import { twoSigns } from "./two-signs.ts";
import { wordsApart } from "./words-apart.ts";

const NAMED: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: " ",
  shy: "",
  zwnj: "",
  zwj: "",
  period: ".",
  comma: ",",
  excl: "!",
  sol: "/",
  hyphen: "-",
  tab: " ",
  newline: "\n",
  lowbar: "_",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
};

/** What is decoded again, where an encoding stands inside another. */
const TWICE = 4;

/** What encodings inside a text stand for, and encodings inside those. */
export function* decodings(text: string): Iterable<readonly [string, string]> {
  const once = [...decodedOnce(text)];
  yield* once;
  for (const [, decoded] of once.slice(0, TWICE)) yield* decodedOnce(decoded);
}

function* decodedOnce(text: string): Iterable<readonly [string, string]> {
  yield* unescaped(text);
  yield* codedLetters(text);
  yield* numberCodes(text);
  yield* twoSigns(text);
  yield* denseCodes(text);
  for (const [run] of text.matchAll(/(?:[A-Za-z0-9+/_-]{4,}\n?){4,}={0,2}/g))
    yield* decoded("base64", run.replaceAll("\n", ""), "base64");
  for (const [run] of text.matchAll(PIECES_OF_64))
    if (/\d|[a-z][A-Z]/.test(run))
      yield* decoded("base64", run.replaceAll(/["'\s,]|(?<=["'\s])\+|\n[-*]/g, ""), "base64");
  for (const [run] of text
    .replaceAll(/^[0-9a-f]{6,8}:?\s+/gim, "")
    .matchAll(/(?<![0-9a-f]{2})(?:(?:0x)?[0-9a-f]{2}[\s:,]{0,2}){7,}[0-9a-f]{2}(?![0-9a-z])/gi))
    yield* decoded("hex", run.replaceAll(/0x|[\s:,]/gi, ""), "hex");
  for (const [run] of text.matchAll(/(?:\b[A-Z2-7]{16,}={0,6}(?![A-Za-z0-9]))|\b[a-z2-7]{24,}={0,6}(?![A-Za-z0-9])/g))
    if (/\d/.test(run) || /[A-Z]/.test(run)) yield* readable("base32", base32(run));
}

/** Short pieces with blanks, quotes, or the marks of a list between them. What is read of a piece and between two is not read again in another way. */
const PIECES_OF_64 =
  /(?:(?=([A-Za-z0-9+/_-]{2,12}))\1(?=((?:["'\s+,]|(?<=\n[-*\s]{0,8})[-*]){1,12}))\2){3,}[A-Za-z0-9+/_-]{1,12}={0,2}/g;

/** Ways to write a character by its number, in the languages that have one. */
function* unescaped(text: string): Iterable<readonly [string, string]> {
  const entities = text
    .replaceAll(/&#x([0-9a-f]{1,6});?/gi, (_, hex: string) => codePoint(Number.parseInt(hex, 16)))
    .replaceAll(/&#(\d{1,7});?/g, (_, digits: string) => codePoint(Number(digits)))
    .replaceAll(/&([a-z]{2,7});/gi, (whole, name: string) => NAMED[name.toLowerCase()] ?? whole)
    .replaceAll(/&([a-z])(?:fr|opf|scr);/gi, "$1");
  if (entities !== text) yield ["entities", entities];
  const percent = text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => fromHex(run.replaceAll("%", "")));
  if (percent !== text) yield [/(?:%[0-9a-f]{2}){4}/i.test(text) ? "percent signs" : "a percent sign", percent];
  const printed = text
    .replaceAll(/=\?[\w-]{3,12}\?q\?([^?\n]+)\?=/gi, (_, words: string) => words.replaceAll("_", " "))
    .replaceAll(/(?<=[A-Za-z ])=\n(?=[A-Za-z ])/g, "")
    .replaceAll(/(?:=[0-9A-F]{2})+/g, (run) => fromHex(run.replaceAll("=", "")));
  if (printed !== text) yield ["quoted printable", printed];
  const escaped = text
    .replaceAll(
      /\\u\{([0-9a-f]{1,6})\}|(?:\\u|%u|\\U0000|\\00)([0-9a-f]{4}) ?|(?:\\x|0x)([0-9a-f]{2}),? ?|U\+([0-9a-f]{4,6})\b[ ,]?/gi,
      (_, ...found: readonly (string | undefined)[]) =>
        codePoint(Number.parseInt(found.slice(0, 4).find((one) => one !== undefined) ?? "", 16)),
    )
    .replaceAll(/\\N\{latin (?:small|capital) letter ([a-z])\}/gi, "$1")
    .replaceAll(/\+([A-Za-z0-9/]{3,})-/g, (whole, run: string) => utf16(run) ?? whole)
    .replaceAll(/\[([a-z])([a-z])\]/gi, (whole, one: string, other: string) =>
      one.toLowerCase() === other.toLowerCase() ? one : whole,
    )
    .replaceAll(/\\([0-3]?[0-7]{2})/g, (_, octal: string) => codePoint(Number.parseInt(octal, 8)))
    .replaceAll(/\\0{0,4}([2-7][0-9a-f]) ?/gi, (_, hex: string) => codePoint(Number.parseInt(hex, 16)))
    .replaceAll(/\bchr\w*\((\d{2,3})\)[\s.+&,]*/gi, (_, digits: string) => codePoint(Number(digits)));
  if (escaped !== text) yield ["escapes", escaped];
  if (/\\[nrt]/.test(text)) yield ["line breaks written out", text.replaceAll(/\\[nrt]/g, "\n")];
}

const codePoint = (code: number): string => (code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : "");

/** What stands in UTF-7. */
function utf16(run: string): string | undefined {
  const bytes = Buffer.from(run, "base64");
  const text = bytes
    .subarray(0, bytes.length - (bytes.length % 2))
    .swap16()
    .toString("utf16le");
  return /^[ -~]+$/.test(text) ? text : undefined;
}

const fromHex = (digits: string): string => Buffer.from(digits, "hex").toString("utf8");

function decoded(by: string, run: string, encoding: "base64" | "hex"): Iterable<readonly [string, string]> {
  const once = Buffer.from(run, encoding).toString("utf8");
  const ended = once.replaceAll(/^\ufffd+|(?<!\ufffd)\ufffd+$/g, "");
  const hex = /^(?:[0-9a-f]{2}){8,}$/i.test(ended);
  const again = hex || /^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(ended);
  return readable(by, again ? Buffer.from(ended, hex ? "hex" : "base64").toString("utf8") : ended);
}

/** Only what is text again. */
function* readable(by: string, text: string): Iterable<readonly [string, string]> {
  const written = text.replaceAll("\0", "");
  const plain = / /.test(written) ? written : (wordsApart(written) ?? written);
  if (plain.length >= 6 && /^[\p{L}\p{N}\p{P}\p{Zs}\n]+$/u.test(plain) && / /.test(plain)) yield [by, plain];
}

function base32(run: string): string {
  const bits = [...run.toUpperCase().replaceAll("=", "")]
    .map((sign) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(sign).toString(2).padStart(5, "0"))
    .join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))).toString("utf8");
}
