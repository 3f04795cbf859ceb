import { CONFUSABLE } from "./confusables.ts";
import { isEnglishWord } from "./language.ts";

/** Letters of another script inside Latin words, as the Latin ones they look like; capitals stay. */
export const lookalikes = (text: string): string =>
  text.replaceAll(/[\p{L}\p{M}\u0660-\u0669\u0e50-\u0e59]+/gu, (word) =>
    [...word].every((sign) => /\p{ASCII}/u.test(sign) || CONFUSABLE.has(sign))
      ? word.replaceAll(/\P{ASCII}/gu, (sign) => CONFUSABLE.get(sign) ?? sign)
      : word,
  );

const LEET: Readonly<Record<string, string>> = {
  0: "o",
  2: "z",
  3: "e",
  4: "a",
  5: "s",
  6: "g",
  7: "t",
  8: "b",
  9: "g",
  "@": "a",
  $: "s",
  "+": "t",
  "|": "l",
  "€": "e",
  "£": "l",
  "¥": "y",
  "₵": "c",
  "₤": "l",
  "₦": "n",
  "¤": "o",
  "₱": "p",
  "₮": "t",
  "₩": "w",
  "₣": "f",
  "₳": "a",
  "₴": "s",
  "₭": "k",
  "₲": "g",
  "₽": "p",
  "฿": "b",
  "¢": "c",
  "§": "s",
  ß: "b",
  "×": "x",
  "∂": "d",
  ø: "o",
  µ: "u",
  μ: "u",
  "®": "r",
  "©": "c",
  "°": "o",
  "†": "t",
  "‡": "t",
  "₹": "r",
  "₫": "d",
};

/** Letters drawn with several signs. */
const DRAWN: readonly (readonly [string, string])[] = [
  ["|\\/|", "m"],
  ["/\\/\\", "m"],
  ["\\/\\/", "w"],
  ["|\\|", "n"],
  ["/-\\", "a"],
  ["/\\", "a"],
  ["\\/", "v"],
  ["|)", "d"],
  ["|-|", "h"],
  ["|_|", "u"],
  ["|<", "k"],
  ["|3", "b"],
  ["|=", "f"],
  ["|>", "p"],
  ["|2", "r"],
  ["_|", "j"],
  ["|_", "l"],
];

const SIGN = String.raw`\d@$€£¥₵₤₦¤₱₮₩₣₳₴₭₲₽฿¢§ß×∂øµμ®©°†‡₹₫`;
const WORD = new RegExp(String.raw`[\p{L}\p{N}!+|${SIGN}]{2,80}`, "gu");
const MIXED = new RegExp(String.raw`\p{L}[${SIGN}!+|]|[${SIGN}|!]\p{L}`, "u");
const TO_READ = new RegExp(`[${SIGN}]|[!+|](?=[\\p{L}\\d])`, "gu");

/** How many of the words must be written so for all to be read so; else only those that turn into words. */
const MANY = 0.25;

/** Digits and signs inside words as the letters they look like; numbers stay and what is called `@name`. `1` and `!` stand for i or for l. */
export function undigited(text: string, one: "i" | "l"): string | undefined {
  const drawn = DRAWN.reduce((read, [signs, letter]) => read.replaceAll(signs, letter), text);
  const written = (drawn.match(WORD) ?? []).filter((word) => MIXED.test(word)).length;
  if (written === 0) return drawn === text ? undefined : drawn;
  const isMany = written > 2 && written > (drawn.match(/\S+/g) ?? []).length * MANY;
  const read = drawn.replaceAll(WORD, (word) => {
    if (word.length < 3 || !MIXED.test(word) || /^@[a-z]+$/i.test(word)) return word;
    const letters = word.replaceAll(TO_READ, (sign) => (sign === "1" || sign === "!" ? one : (LEET[sign] ?? sign)));
    return isMany || (letters.length > 3 && isEnglishWord(letters.toLowerCase())) ? letters : word;
  });
  return read === text ? undefined : read;
}
