import { englishWords } from "./language.ts";

/** Codes that make four bytes of five signs, or three of four: Ascii85 and its kin, uuencode. */

type Decoded = Iterable<readonly [string, string]>;

const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SMALL = CAPITALS.toLowerCase();
const FIGURES = "0123456789";
/** The signs of the codes to the base of 85. */
const ALPHABETS: readonly string[] = [
  Array.from({ length: 85 }, (_, i) => String.fromCharCode(33 + i)).join(""),
  `${FIGURES}${SMALL}${CAPITALS}.-:+=^!/*?&<>()[]{}@%$#`,
  `${FIGURES}${CAPITALS}${SMALL}!#$%&()*+-;<=>?@^_\`{|}~`,
];
const RUN = /(?<!\S)(?:<~)?([!-~]{18,2000}?)(?:~>)?(?!\S)/g;
const LINE = /^[!-M][ -`]{12,62}$/gm;

/** What such codes in a text stand for. */
export function* denseCodes(text: string): Decoded {
  for (const [, run = ""] of text.matchAll(RUN))
    if (/[^\w./:-]/.test(run)) for (const alphabet of ALPHABETS) yield* readable(base85(run, alphabet));
  for (const [line] of text.matchAll(LINE)) yield* readable(uuencoded(line));
}

function* readable(bytes: readonly number[]): Decoded {
  const text = Buffer.from(bytes).toString("latin1").replaceAll("\0", "");
  if (/^[\n -~]{6,}$/.test(text) && englishWords(text) > 1) yield ["a dense code", text];
}

function base85(run: string, alphabet: string): readonly number[] {
  const bytes: number[] = [];
  for (let at = 0; at < run.length; at += 5) {
    const group = run.slice(at, at + 5);
    const last = alphabet.at(-1) ?? "";
    const value = [...group.padEnd(5, last)].reduce((sum, sign) => sum * 85 + alphabet.indexOf(sign), 0);
    for (let i = 0; i < group.length - 1; i++) bytes.push(Math.floor(value / 256 ** (3 - i)) % 256);
  }
  return bytes;
}

function uuencoded(line: string): readonly number[] {
  const length = line.charCodeAt(0) - 32;
  const bits = [...line.slice(1)].map((sign) => ((sign.charCodeAt(0) - 32) % 64).toString(2).padStart(6, "0")).join("");
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return bytes.slice(0, length);
}
