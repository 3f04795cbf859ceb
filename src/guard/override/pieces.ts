import { isCommonWord, isEnglishWord } from "./language.ts";
import { wordsApart } from "./words-apart.ts";

/** Readings of words whose letters have something between them, whatever it is: signs, marks of a page, figures, blanks. */

/** What a page does not show: tags, comments, empty brackets, entities, notes, escaped blanks. */
const UNSHOWN =
  /<!--[^\n]{0,40}?-->|<\/?[a-z][^<>\n]{0,80}>|\/\*[^*\n]{0,20}\*\/|\{\}|\[\]|\(\)|\[\[|\]\]|==|\(\?\w\)|\[[^\]\w\n]{0,3}_?[^\]\w\n]{0,3}\][?*+]?|(?<![a-z0-9])_+(?=[a-z0-9])|(?<=[a-z0-9][.,]?)_+(?![a-z0-9])|\^?\[\^?\w{1,3}\]\^?|\\[,;:! ]|\\(?:text|mathrm|quad|s)\b[+*]?|&(?:[a-z]{2,8}|#\d{2,5});/gi;
const UNSHOWN_INSIDE = new RegExp(String.raw`(?<=\p{L})(?:[.,]?(?:${UNSHOWN.source}) ?)+(?=\p{L})`, "giu");
/** Letters that are signs, and signs that are no character: nothing of them belongs to a word. */
const NO_LETTER = /[\u02b0-\u02ff\u0640\ufffc\ufffd\ue000-\uf8ff\u0001-\u0008\u000e-\u001f\u007f-\u009f]+/gu;
const CONTRACTED = String.raw`['’](?:s|t|re|ve|ll|d|m|em)(?!\p{L})`;
/** Signs between two words, with no blank among them. */
const BETWEEN = new RegExp(String.raw`(?<=[\p{L}\p{N}])(?!${CONTRACTED})[^\p{L}\p{N}\s]+(?=[\p{L}\p{N}])`, "gu");
/** Letters with signs or figures between them. */
const CHUNK = new RegExp(String.raw`(?<!\p{L})\p{L}+(?:(?!${CONTRACTED})[^\p{L}\s]+\p{L}+)+`, "gu");
const PART = /[^\p{L}]+/u;

/** A line with blanks in place of what stands between its words. */
export function* pieces(text: string): Iterable<string> {
  for (const line of text.split("\n")) {
    if (line.length < SHORTEST || line.length > LONGEST) continue;
    const plain = line.replaceAll(NO_LETTER, "·");
    yield* piecesOf(plain);
    const bare = plain.replaceAll(UNSHOWN, "");
    if (bare === plain) continue;
    if ((plain.match(UNSHOWN_INSIDE)?.length ?? 0) >= FEWEST_SIGNS) yield* [bare, plain.replaceAll(UNSHOWN, " ")];
    yield* piecesOf(bare);
  }
  yield* blocksOf(text)
    .map(inOneStream)
    .filter((read) => read !== undefined);
}

const SHORTEST = 10;
const LONGEST = 1000;

function* piecesOf(line: string): Iterable<string> {
  const signs = line.match(BETWEEN)?.length ?? 0;
  const blanks = line.match(/\S\s+(?=\S)/g)?.length ?? 0;
  if (signs >= FEWEST_SIGNS && signs > blanks) yield line.replaceAll(BETWEEN, " ");
  const together = line.replaceAll(CHUNK, setTogether);
  if (together !== line) yield together;
  const stream = inOneStream(line);
  if (stream !== undefined) yield stream;
}

const FEWEST_SIGNS = 2;

/** `sa.fe/ty` as `safety`, `the42rules` as `the rules`: pieces that are words only together, and words that are none alone. */
function setTogether(chunk: string): string {
  const parts = chunk.toLowerCase().split(PART);
  const whole = parts.join("");
  if (isEnglishWord(whole)) return whole;
  if (parts.length < 3 && /^\p{L}{4,}-\p{L}{4,}$/u.test(chunk)) return chunk;
  if (parts.every(isEnglishWord)) return /\d/.test(chunk) ? parts.join(" ") : chunk;
  return (whole.length < SHORTEST ? undefined : wordsApart(whole, 0)) ?? chunk;
}

/** How much of a line's letters must stand in pieces that are no words. */
const BROKEN = 0.2;
const FEWEST_BROKEN = 2;
/** Longer ones may be names, where not most are such. */
const LONG_PIECE = 5;
const MOSTLY = 0.6;
const SHORTEST_STREAM = 11;
const LONGEST_STREAM = 300;

/** All letters of a line in a row, parted into words anew: whatever stood between them, and wherever. */
function inOneStream(line: string): string | undefined {
  const before = line.toLowerCase().match(/[a-z]+|\d+/g) ?? [];
  const stream = before.join("");
  if (stream.length < SHORTEST_STREAM || stream.length > LONGEST_STREAM) return undefined;
  const broken = before.filter((piece) => !isCommonWord(piece) && !/^\d+$/.test(piece));
  if (
    before.length > 1 &&
    broken.join("").length > broken.length * LONG_PIECE &&
    broken.length < before.length * MOSTLY
  )
    return undefined;
  if (broken.length < Math.min(FEWEST_BROKEN, before.length) || broken.join("").length < stream.length * BROKEN)
    return undefined;
  const read = wordsApart(stream);
  return read === undefined || / [b-z] /.test(read) ? undefined : read;
}

/** Lines below each other, of a few letters each, as one. */
const blocksOf = (text: string): readonly string[] =>
  text
    .split(/\n\s*\n/)
    .map((block) => block.split("\n"))
    .filter((lines) => lines.length > 2 && lines.join("").length < lines.length * FEW)
    .map((lines) => lines.join(" "));

const FEW = 16;
