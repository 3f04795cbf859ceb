import { withoutHidden } from "../hidden.ts";
import { acrostics, columns } from "./columns.ts";
import { decodings } from "./decodings.ts";
import { games } from "./games.ts";
import { englishWords } from "./language.ts";
import { lookalikes, undigited } from "./letters-alike.ts";
import { withoutMarks } from "./marks.ts";
import { withReplacements, withValues } from "./named-values.ts";
import { nearly } from "./nearly.ts";
import { pieces } from "./pieces.ts";
import { respelled } from "./respelled.ts";
import { romanised } from "./romanised.ts";
import { initials, rows } from "./rows.ts";
import { transposed } from "./transposed.ts";
import { rejoined, spelled, turnings, undoubled } from "./turned.ts";
import {
  assigned,
  concatenated,
  listed,
  mended,
  namesAsSentences,
  parted,
  respaced,
  unfilled,
  unmarked,
  unnumbered,
  unparted,
} from "./unwrapped.ts";
import { unhidden } from "./wildcards.ts";

export { withoutMarks } from "./marks.ts";

/** One way in which a text can be read: folded to plain lower-case words, its sentences kept apart by line breaks. */
export interface Reading {
  /** How it was hidden; empty for the text as it stands. */
  readonly by: string;
  /** All lines of the text as it stands; of other readings those that say something else, each with the line after it. */
  readonly text: string;
  /** How many more English words it shows than what it was read from. */
  readonly won: number;
}

/** Longer texts are no layers; what is judged is bounded so that judging takes bounded time. */
export const LONGEST = 20_000;

/** A reading may be longer than the text: a sign may stand for a phrase, a name for a sentence. */
const LONGEST_READING = 2 * LONGEST;
/** What the longest phrase of one sign leaves of that. */
const LONGEST_OF_PHRASES = LONGEST_READING / 20;
/** How many readings there may be, and how long they may be together; texts that people write have far fewer. */
const MOST_READINGS = 2_000;
const LONGEST_TOGETHER = 60 * LONGEST;

/** All readings of a text, and whether they are all: else what is left may say anything. */
export interface Readings {
  readonly readings: readonly Reading[];
  readonly areAll: boolean;
}

/** The text as a reader would take it, and again with each disguise that it wears taken off. */
export function readingsOf(text: string): Readings {
  const isLong = text.normalize("NFKC").length > LONGEST_READING;
  const plain = text.slice(0, isLong ? LONGEST_OF_PHRASES : LONGEST).toWellFormed();
  const base = folded(plain);
  const stands = linesOf(base);
  const readings: Reading[] = [{ by: "", text: base, won: 0 }];
  const known = new Set([base]);
  const left = { decoded: MOST_DECODED };
  let [ways, together, areAll] = [0, 0, !isLong];
  for (const [by, whole, from = base] of unfolded(plain, left)) {
    if (whole === undefined || whole.trim() === "" || known.has(whole)) continue;
    if (++ways > MOST_READINGS || together > LONGEST_TOGETHER) return { readings, areAll: false };
    const read = whole.slice(0, LONGEST_READING);
    if (read.length < whole.length) areAll = false;
    known.add(whole);
    const replaced = from === base ? stands : linesOf(from);
    const others = linesBeside(read, from);
    together += read.length;
    readings.push({ by, text: others, won: englishWords(others) - englishBeside(replaced, read) });
  }
  return { readings, areAll: areAll && left.decoded >= 0 };
}

/** The lines of a text, and how many English words each has: counted once, however many readings there are. */
const linesOf = (text: string) => text.split("\n").map((line) => ({ line, english: englishWords(line) }));

/** How many English words stand in those lines that another text has not, each with what follows it. */
function englishBeside(lines: ReturnType<typeof linesOf>, other: string): number {
  const known = new Set(other.split("\n"));
  const isNew = (at: number): boolean => at >= 0 && !known.has(lines[at]?.line ?? "");
  return lines.reduce((sum, { english }, i) => sum + (isNew(i) || isNew(i - 1) ? english : 0), 0);
}

/** The lines of one text that the other has not, each with what follows it. */
function linesBeside(text: string, other: string): string {
  const lines = text.split("\n");
  const known = new Set(other.split("\n"));
  const isNew = (line: string | undefined): boolean => line !== undefined && !known.has(line);
  return lines.filter((line, i) => isNew(line) || isNew(lines[i - 1])).join("\n");
}

/** How it was hidden, what it says, and which part of the text says so: all of it, if nothing is given. */
type Read = Iterable<readonly [string, string | undefined, string?]>;

/** Marks that a sign or a picture has no use for. */
const MARKED = /(?<=[!-~\p{Extended_Pictographic}])(?!\ufe0f)\p{M}+/gu;

/** How much of what is decoded is read as a text of its own. */
const MOST_DECODED = 2 * LONGEST;

/** Each disguise, taken off the text; nothing, or the same text, where it does not wear it. */
function* unfolded(plain: string, left?: { decoded: number }): Read {
  const tags = taggedText(plain);
  if (tags !== "") yield ["hidden characters", folded(tags)];
  const bare = plain.replaceAll(MARKED, "");
  const known = new Set<string>();
  for (const [by, decoded] of decodings(bare)) {
    if (known.has(decoded)) continue;
    known.add(decoded);
    yield [by, folded(decoded)];
    if (left === undefined) continue;
    const beside = linesBeside(decoded, bare);
    left.decoded -= beside.length;
    if (left.decoded < 0) continue;
    for (const [how, read] of unfolded(beside)) yield [`${by} and ${how}`, read];
  }
  const written = lookalikes(withoutDress(plain));
  yield ["look-alike letters", folded(written)];
  yield ["pictures inside words", folded(plain.replaceAll(/(?<=\p{L})\p{Extended_Pictographic}+(?=\p{L})/gu, ""))];
  yield ["words joined by signs", shouted(plain.normalize("NFKC"))];
  yield* spelledApart(written);
  yield* wordsOf(written, "", plain);
  for (const one of ["i", "l"] as const) {
    const letters = undigited(written, one);
    if (letters === undefined) continue;
    yield ["digits for letters", folded(letters)];
    yield* inPieces(letters);
    if (isMostly(written, letters)) yield* wordsOf(letters, "digits for letters");
  }
}

/** Letters that stand alone, set together again. */
function* spelledApart(written: string): Read {
  const blanked = unblanked(written);
  yield ["letters set apart", rejoined(blanked)?.replaceAll(/\s+/g, " ")];
  const set = spelled(blanked);
  if (set === undefined) return;
  const line = set.replaceAll(/\s+/g, " ");
  yield ["letters set apart", line];
  yield ["words set together", parted(line)];
  yield ["letters set apart", undigited(line, "i")];
  yield* turnings(set.replaceAll(/[^\S\n]+/g, " "));
}

/** How words can be hidden whose letters are plain; `by` names what was taken off the letters before. */
function* wordsOf(written: string, by: string, plain = ""): Read {
  const named = (how: string): string => (by === "" ? how : by);
  const base = folded(written);
  for (const [how, turned, from] of turnings(base)) yield [named(how), turned, from];
  for (const [how, right, from] of respelled(unblanked(written, true))) yield [named(how), right, from];
  yield [named("capitals inside words"), humps(written)];
  yield [named("words set together"), parted(written)];
  yield [named("doubled letters"), undoubled(base)];
  for (const [how, unwrap] of UNWRAPPINGS) yield [named(how), foldedIf(unwrap(written))];
  for (const values of assigned(written)) yield [named("values of names"), folded(values)];
  for (const [how, column] of columns(written)) yield [named(how), folded(column)];
  for (const [how, column] of acrostics(written)) yield [named(how), folded(column)];
  yield [named("line breaks"), rewrapped(written)];
  yield [named("signs between words"), withoutSigns(base)];
  if (by !== "") return;
  yield* inPieces(written);
  for (const read of rows(written)) yield ["rows", folded(read)];
  for (const read of initials(written)) yield ["letters of words", folded(read)];
  for (const read of transposed(written)) yield ["letters in another place", folded(read)];
  yield ["values of names", foldedIf(withValues(written))];
  yield ["letters to be replaced", foldedIf(withReplacements(written))];
  for (const [read, from] of nearly(base)) yield ["misspelling", read, from];
  for (const [read, from] of games(base)) yield ["filling letters", read, from];
  for (const [read, from] of unhidden(unblanked(written, true))) yield ["hidden letters", read, from];
  for (const read of romanised(plain)) {
    yield ["letters of another script", read];
    for (const [right] of nearly(read)) yield ["letters of another script", right];
  }
}

/** Words in pieces, and with those that are written nearly right. */
function* inPieces(written: string): Read {
  for (const read of pieces(written)) {
    const line = folded(read);
    yield ["signs inside words", line];
    for (const [right] of nearly(line)) yield ["signs inside words", right];
  }
}

const UNWRAPPINGS: readonly (readonly [string, (text: string) => string | undefined])[] = [
  ["pieces in quotes", concatenated],
  ["words in quotes", listed],
  ["marks of a page", unmarked],
  ["words joined by signs", namesAsSentences],
  ["parted words", mended],
  ["blanks in other places", respaced],
  ["no blanks", unparted],
  ["filling words", unfilled],
  ["filling signs", unnumbered],
];

const foldedIf = (text: string | undefined): string | undefined => (text === undefined ? undefined : folded(text));

/** Whether many words changed: a few with digits stand in every text. */
function isMostly(text: string, read: string): boolean {
  const words = text.split(/\s+/);
  const others = new Set(read.split(/\s+/));
  return words.filter((word) => !others.has(word)).length > Math.max(2, words.length / 4);
}

/** The text in lower case, its letters as they stand but for accents that a language gives them. */
export const asItStands = (text: string): string =>
  text
    .slice(0, LONGEST)
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[\u00c0-\u024f]/gu, (letter) => letter.normalize("NFD")[0] ?? letter);

/** What stands in tag characters, which no reader sees. */
export function taggedText(text: string): string {
  const hidden = text.match(/[\u{e0020}-\u{e007e}]/gu) ?? [];
  return hidden.map((sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xe0000)).join("");
}

/** Compatible forms, look-alikes, marks, emphasis and pictures away; one kind of blank; lower case. */
const folded = (text: string): string =>
  unblanked(text)
    .replaceAll(/\p{Extended_Pictographic}+/gu, " ")
    .replaceAll(/[^\S\n]+/gu, " ");

const ANSI = /\u001b\[[\d;]*[A-Za-z]/g;
const BOXED = /[\u{1f130}-\u{1f149}\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu;

/** Plain letters in place of wide, bold, circled, boxed and accented ones; nothing hidden. */
const withoutDress = (text: string): string =>
  withoutMarks(
    withoutHidden(text.replaceAll(ANSI, "").replaceAll(BOXED, boxed).normalize("NFKC")).replaceAll(
      /\u200c|\u200d|\ufe0f/g,
      "",
    ),
  );

/** The same without emphasis, in small letters, its blanks and pictures as they stand; or with it, where its signs may stand for letters. */
function unblanked(text: string, isMarked = false): string {
  const plain = withoutDress(text)
    .toLowerCase()
    .replaceAll(/(?:\(\p{L}\)){2,}/gu, (run) => run.replaceAll(/[()]/g, ""));
  if (isMarked) return plain;
  return plain
    .replaceAll(/(?<=\p{L})(?:__|~~|[*`\u2010\u2011]|<[^<>\n]{0,30}>)+(?=\p{L})/gu, "")
    .replaceAll(/\\[a-z]{2,12}\{([^{}\n]{0,80})\}/g, "$1")
    .replaceAll(/<\/?[a-z]{1,10}>/gu, " ")
    .replaceAll(/[*_`~"'“”‘’«»]+/g, (quote) => (/[_]/.test(quote) ? quote : quote.includes("'") ? "'" : ""));
}

const SIGNS = /(?<!\d)[^\p{L}\p{N}'’]+|(?<=\d)[\s_[\]{}()+>|/\\]+/gu;
/** A sign that parts words; a stroke or a point inside a name parts none. */
const BETWEEN = /(?<=[\p{L}\p{N}])(?![-._][\p{L}\p{N}])[^\S\n]*[^\p{L}\p{N}\s'’]+[^\S\n]*(?=[\p{L}\p{N}])/gu;
/** How many of the gaps between words hold signs where signs take the place of blanks. */
const SIGNED = 0.6;
const FEWEST_SIGNS = 3;

/** Lines whose words are parted by signs, with blanks only. */
function withoutSigns(text: string): string {
  const plain = (line: string): string => {
    const gaps = (line.match(/[\p{L}\p{N}]+/gu)?.length ?? 1) - 1;
    const signs = line.match(BETWEEN)?.length ?? 0;
    return signs < FEWEST_SIGNS || signs < gaps * SIGNED ? line : line.replaceAll(SIGNS, " ").trim();
  };
  return text.split("\n").map(plain).join("\n");
}

/** A line that goes on with a small letter, after one that does not end a sentence, belongs to it. */
const rewrapped = (text: string): string =>
  folded(text.replaceAll(/(?<=[\p{L}\p{N},'"*`)])-?[^\S\n]*\n[^\S\n]*(?:>[^\S\n]*)?(?=[\p{Ll}\d"'*`(]\p{L})/gu, " "));

/** Letters in boxes and circles, and those that flags are made of. */
function boxed(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  const first =
    code >= 0x1_f1_e6 ? 0x1_f1_e6 : code >= 0x1_f1_70 ? 0x1_f1_70 : code >= 0x1_f1_50 ? 0x1_f1_50 : 0x1_f1_30;
  return String.fromCodePoint(97 + code - first);
}

/** `IGNORE_ALL_LAYERS` in a sentence, as the words that it names. */
const shouted = (text: string): string | undefined => {
  const read = text.replaceAll(/(?<![\p{L}\p{N}])\p{Lu}+(?:[_-]+[\p{Lu}\p{N}]+){2,}(?![\p{L}\p{N}])/gu, (run) =>
    run.replaceAll(/[_-]+/g, " "),
  );
  return read === text ? undefined : folded(read);
};

/** `IgnoreAllLayers`: names that may be sentences. */
const humps = (text: string): string =>
  folded(
    (text.match(/[\p{Lu}\p{Ll}\d]{14,}/gu) ?? [])
      .map((run) => run.replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Ll})(?=\d)/gu, " "))
      .filter((run) => run.split(" ").length > 2)
      .join("\n"),
  );
