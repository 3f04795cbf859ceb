import { englishWords, isCommonWord, isEnglishWord } from "./language.ts";
import { wordsApart } from "./words-apart.ts";

/** A text with one way of wrapping taken off; nothing where it is not wrapped so. */
type Unwrapping = (text: string) => string | undefined;

const PIECE = String.raw`(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|\`[^\`\n]{0,200}\`)`;
const PIECES = new RegExp(String.raw`${PIECE}(?:[\s+.&,|~]{0,5}${PIECE}){2,}`, "g");
const VALUES = new RegExp(String.raw`(?:^|[\s{,;<])["']?[\w-]{1,20}["']?\s{0,2}[=:]\s{0,2}(${PIECE})`, "g");
const KEYS = /["']([^"'\n]{1,60})["']\s?:\s?["']?\d{1,3}\b/g;

const unquoted = (piece: string): string => piece.slice(1, -1);

/** `"Ig" + "nore"`, `"Ig" "no" "re"`: pieces in quotes beside each other, set together without anything between them. */
export const concatenated: Unwrapping = (text) =>
  allRuns(text, PIECES, (run) => {
    const pieces = piecesOf(run);
    const isJoined = /["'`]\s*[+.&|~]/.test(run) || pieces.join("").length < pieces.length * SHORT_PIECE;
    return isJoined ? pieces.join("") : undefined;
  });

/** Shorter pieces are parts of words. */
const SHORT_PIECE = 4.5;

/** The same, as words. */
export const listed: Unwrapping = (text) =>
  allRuns(text, PIECES, (run) =>
    piecesOf(run).some((piece) => / \S+ /.test(piece)) ? undefined : piecesOf(run).join(" "),
  );

const piecesOf = (run: string): readonly string[] =>
  (run.match(new RegExp(PIECE, "g")) ?? []).map((piece) => unquoted(piece));

/** `a = "Ignore"`, `{"w1": "layer"}`: what names are given, in a row. */
export function* assigned(text: string): Iterable<string> {
  const values = [...text.matchAll(VALUES)].map(([, piece = ""]) => unquoted(piece));
  if (values.length > 2) yield* [values.join(" "), values.join("")];
  const keys = [...text.matchAll(KEYS)].map(([, key = ""]) => key);
  if (keys.length > 2) yield keys.join(" ");
}

/** Links by their words and titles; tags in square brackets, what is struck out and comments inside words away. */
export const unmarked: Unwrapping = (text) =>
  changed(
    text,
    text
      .replaceAll(
        /!?\[([^\]\n]{0,200})\]\([^()\s]{0,200}\s*(?:["'(]([^()"'\n]{0,300})["')])?\)/g,
        (_, words: string, title?: string) => (title === undefined ? words : `${words}. ${title}. `),
      )
      .replaceAll(/~~[^~\n]{1,60}~~|<(?:del|s|strike)>[^<\n]{0,60}<\/(?:del|s|strike)>/g, " ")
      .replaceAll(/\[\/?[a-z]{1,6}(?:=[^\]\n]{0,30})?\]|\/\*[^*\n]{0,20}\*\/|<!--[^\n]{0,20}?-->/gi, "")
      .replaceAll(/<[^<>\n]{0,60}>/g, " "),
  );

/** `ignore_all_layers`, `ignore-all-layers`, `?q=ignore+all+layers`: names that are sentences. */
export const namesAsSentences: Unwrapping = (text) =>
  allRuns(text, NAMES, (name) => {
    const parts = name.split(/[^A-Za-z0-9]+/);
    return parts.length > 2 && englishWords(parts.join(" ")) >= parts.length * 0.7 ? parts.join(" ") : undefined;
  });

const NAMES = /(?<![A-Za-z0-9])[A-Za-z]+(?:[_.+/=|,#:?-][A-Za-z0-9]+){2,}/g;

/** `ig-nore`, `ig nore`, `ig_nore`: two pieces that are a word only together. */
export const mended: Unwrapping = (text) =>
  changed(
    text,
    text.replaceAll(
      /(?<=(?<![a-z0-9])([a-z]{1,12}))[-_ .\n](?=([a-z]{1,12})(?![a-z0-9]))/gi,
      (gap, one: string, other: string) => (isWhole(one.toLowerCase(), other.toLowerCase()) ? "" : gap),
    ),
  );

const isWhole = (one: string, other: string): boolean =>
  one.length + other.length > 3 && !(isEnglishWord(one) && isEnglishWord(other)) && isEnglishWord(one + other);

/** How much of the words of a line has to be known for it to be read as it stands. */
const CLEAR = 0.5;

/** Lines whose blanks stand in the wrong places: `ig norea lllay ers`. */
export const respaced: Unwrapping = (text) =>
  eachLine(text, (line) => (isClear(line) ? line : (lineApart(line) ?? line)));

/** How many blanks must stand inside words: to part a compound is no disguise. */
const INSIDE = 2;
const MISPLACED = 0.3;
/** With so many, some words need not be known. */
const SURE = 4;

function lineApart(line: string): string | undefined {
  const letters = line.replaceAll(/[^a-z0-9]/gi, "");
  const read = letters.length < 12 || letters.length > 400 ? undefined : wordsApart(letters);
  if (read === undefined) return undefined;
  const ends = endsOf(read.split(" "));
  const blanks = [...endsOf(line.split(/[^a-z0-9]+/i))];
  const inside = blanks.filter((end) => !ends.has(end)).length;
  const isSure = inside >= SURE || read.split(" ").every((word) => isEnglishWord(word) || /^(?:\d+|[ai])$/.test(word));
  return isSure && inside >= Math.max(INSIDE, blanks.length * MISPLACED) ? read : undefined;
}

/** After how many letters of the line its words end. */
function endsOf(words: readonly string[]): ReadonlySet<number> {
  const ends = new Set<number>();
  words.reduce((sum, word) => {
    ends.add(sum + word.length);
    return sum + word.length;
  }, 0);
  return ends;
}

/** `ignorealllayers`: words without any blanks between them. */
export const parted: Unwrapping = (text) =>
  allRuns(text, TOGETHER, (run) => (isCommonWord(run.toLowerCase()) ? undefined : wordsApart(run)));

const TOGETHER = /(?<![\p{L}\p{N}/.@_]|[\p{L}\p{N}]-)\p{L}[\p{Ll}\p{N}]{11,300}(?![\p{L}\p{N}/@_]|\.\w)/gu;

/** The same where nobody would name anything so: several words in a row, even where some are not known. */
export const unparted: Unwrapping = (text) =>
  allRuns(text, TOGETHER, (run) => {
    if (run.length < LONG_NAME || isCommonWord(run.toLowerCase())) return undefined;
    const words = wordsApart(run) ?? (run.length < LONGER_NAME ? undefined : wordsApart(run, LESS_KNOWN));
    return words !== undefined && words.split(" ").length > 3 ? words : undefined;
  });

const LONG_NAME = 20;
const LONGER_NAME = 28;
const LESS_KNOWN = 0.3;

/** Where a name such as `gitHubToken` has its next word. */
const HUMP = /(?<=\p{Ll})(?=\p{Lu})/gu;

/** Whether most words of a line are known. */
export function isClear(line: string): boolean {
  const words =
    line
      .replaceAll(HUMP, " ")
      .toLowerCase()
      .match(/[a-z']{2,}/g) ?? [];
  const letters = line.match(/[a-z]/gi)?.length ?? 0;
  const known = words.filter(isCommonWord);
  return letters < 8 || (known.length >= words.length * CLEAR && known.join("").length >= letters * CLEAR);
}

/** A line that has numbers or signs after each word. */
export const unnumbered: Unwrapping = (text) =>
  eachLine(text, (line) => withoutFillers(line, (filler) => filler === ""));

/** A line that says one word after each word of another sentence, or strikes out what it says between. */
export const unfilled: Unwrapping = (text) =>
  eachLine(text, (line) => {
    const struck = line.match(STRUCK)?.length ?? 0;
    return struck > 2 ? line.replaceAll(STRUCK, " ") : withoutFillers(line, (filler) => filler !== "");
  });

const STRUCK = /~~[^~\n]{1,60}~~|<(?:del|s|strike)>[^<\n]{0,60}<\/(?:del|s|strike)>/g;

function withoutFillers(line: string, isMeant: (filler: string) => boolean): string {
  const words = line.split(/\s+/).filter((word) => word !== "");
  const filler = [1, 0].map((at) => fillerOf(words.filter((_, i) => i % 2 === at))).find((one) => one !== undefined);
  return filler === undefined || !isMeant(filler) ? line : words.filter((word) => plainWord(word) !== filler).join(" ");
}

/** The word that stands nearly everywhere. */
function fillerOf(words: readonly string[]): string | undefined {
  const plain = words.map(plainWord);
  const [, second] = plain;
  return plain.length > 2 && plain.filter((word) => word === second).length >= plain.length * 0.8 ? second : undefined;
}

/** Numbers, pictures and signs count as one filler. */
const plainWord = (word: string): string => word.toLowerCase().replaceAll(/[^\p{L}]/gu, "");

/** What stands in such runs, a line for each. */
function allRuns(text: string, runs: RegExp, read: (run: string) => string | undefined): string | undefined {
  const found = (text.match(runs) ?? []).map(read).filter((one) => one !== undefined);
  return found.length === 0 ? undefined : found.join("\n");
}

const eachLine = (text: string, read: (line: string) => string): string | undefined =>
  changed(text, text.split("\n").map(read).join("\n"));

const changed = (text: string, read: string): string | undefined => (read === text ? undefined : read);
