import { isEnglishWord } from "./language.ts";
import { wordsApart } from "./words-apart.ts";

/** Sentences that are laid out so that they run down or across: rows of one pattern, cells of a table, letters of a grid, numbered words. */

const FEWEST = 3;
const MOST = 80;
/** Words in a row, beside what all rows share. */
const SHORT = 3;

/** What such layouts in a text say. */
export function* rows(text: string): Iterable<string> {
  for (const block of text.split(/\n\s*\n/)) {
    const lines = block.split("\n").filter((line) => /[\p{L}\p{N}]/u.test(line));
    if (lines.length < FEWEST || lines.length > MOST) continue;
    for (const some of [lines, lines.slice(1), lines.slice(2)]) yield* alike(some);
    yield* cells(lines);
    yield* grid(lines);
  }
  for (const line of text.split("\n")) {
    const row = line.split("|");
    if (row.length > 2 && row.every((cell) => (cell.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) <= SHORT))
      yield row.join(" ");
    yield* numbered(line);
  }
}

/** What is left of rows without what they share at both ends, whatever their numbers. */
function* alike(lines: readonly string[]): Iterable<string> {
  if (lines.length < FEWEST) return;
  const masks = lines.map((line) => line.trim().replaceAll(/\d+/g, "0"));
  const [first = ""] = masks;
  let start = 0;
  while (start < first.length && masks.every((mask) => mask[start] === first[start])) start += 1;
  while (start > 0 && /[\p{L}'’]/u.test(first[start - 1] ?? "")) start -= 1;
  const rests = masks.map((mask) => mask.slice(start));
  const [rest = ""] = rests;
  let end = 0;
  while (end < rest.length && rests.every((one) => one.at(-1 - end) === rest.at(-1 - end))) end += 1;
  while (end > 0 && /[\p{L}'’]/u.test(rest[rest.length - end] ?? "")) end -= 1;
  const said = rests.map((one) => one.slice(0, one.length - end).trim());
  if (start + end > 1 && isSentence(said)) yield said.join(" ");
}

/** One word in each, or a few where some begin as no item of a list does. */
const isSentence = (said: readonly string[]): boolean => {
  const most = Math.max(...said.map((one) => one.split(/\s+/).length));
  return most < 2 || (most <= SHORT && said.some((one, i) => i > 0 && GOING_ON.test(one)));
};

const GOING_ON =
  /^(?:and|or|the|a|an|to|of|all|any|every|this|that|these|over|for|from|by|with|my|your|is|are|in|no|not|as|at|be)\b/;

const MOST_COLUMNS = 24;

/** Each column of a table. */
function* cells(lines: readonly string[]): Iterable<string> {
  const table = lines.filter((line) => line.includes("|")).map((line) => line.split("|").map((cell) => cell.trim()));
  if (table.length < FEWEST) return;
  for (let at = 0; at < Math.min(MOST_COLUMNS, table[0]?.length ?? 0); at++) {
    const column = table.map((row) => row[at] ?? "").filter((cell) => /[\p{L}\p{N}]/u.test(cell));
    for (const said of [column, column.slice(1)]) if (said.length >= FEWEST && isSentence(said)) yield said.join(" ");
  }
}

/** Letters that stand alone, read down. */
function* grid(lines: readonly string[]): Iterable<string> {
  const pieces = lines.flatMap((line) => line.match(/[\p{L}\p{N}]+/gu) ?? []);
  if (pieces.filter((piece) => piece.length === 1).length < pieces.length * LONE) return;
  const width = Math.min(MOST, Math.max(...lines.map((line) => line.length)));
  const down = Array.from({ length: width }, (_, at) =>
    lines
      .map((line) => line[at] ?? " ")
      .join("")
      .replaceAll(/[^\p{L}\p{N}]/gu, ""),
  );
  yield down.filter((word) => word !== "").join(" ");
  const letters = wordsApart(down.join(""));
  if (letters !== undefined) yield letters;
  const across = wordsApart(lines.join("").replaceAll(/[^\p{L}\p{N}]/gu, ""));
  if (across !== undefined) yield across;
}

const LONE = 0.8;

const LONGEST_NUMBERED = 40;
const NUMBERED = /^\W*(\d{1,2})\W+([\p{L}'’]+|\d)\W*$|^\W*([\p{L}'’]+)\W*(\d{1,2})\W*$/u;

/** `layer(3) the(2) ignore(1)`, in the order of its numbers. */
function* numbered(line: string): Iterable<string> {
  const words =
    line.replaceAll(/(?<=\d\W?) (?=[\p{L}])/gu, "").length === line.length
      ? line.split(/\s+/)
      : line
          .replaceAll(/(\d{1,2}\W{0,2}) (?=\p{L})/gu, line.search(/\d/) < line.search(/\p{L}/u) ? "$1" : "$1 ")
          .split(/\s+/);
  const found = words
    .map((word) => (word.length > LONGEST_NUMBERED ? null : NUMBERED.exec(word)))
    .filter((one) => one !== null);
  if (found.length < FEWEST || found.length < words.length * 0.7) return;
  const said = found.map(([, before, word, other, after]) => [Number(before ?? after), word ?? other ?? ""] as const);
  yield said.map(([, word]) => word).join(" ");
  yield [...said]
    .sort(([a], [b]) => a - b)
    .map(([, word]) => word)
    .join(" ");
}

const FEWEST_LETTERS = 12;
const MOST_LETTERS = 120;
/** Letters in a word, one with another. */
const EACH = 3.6;

/** What the first or last letters of words, items and sentences spell, and letters that are set off. */
export function* initials(text: string): Iterable<string> {
  const units = [...text.split("\n"), text.replaceAll("\n", " ")];
  for (const unit of new Set(units)) {
    if (unit.length > 4000) continue;
    const words = unit.match(/\p{L}[\p{L}'’-]*/gu) ?? [];
    const sentences = unit.split(/(?<=[.!?;:])\s+/);
    const items = unit.split(/[,;|/]\s*/);
    yield* spelt(words.map(first));
    yield* spelt(sentences.map(first));
    yield* spelt(items.map(first));
    yield* spelt(sentences.map(last));
    yield* spelt(
      [...unit.matchAll(/(?:\*\*|__|\[|\(|<b>|\*|_)(\p{L})(?:\*\*|__|\]|\)|<\/b>|\*|_)/gu)].map(
        ([, letter = ""]) => letter,
      ),
    );
    yield* spelt([...unit.matchAll(/(?<=\p{Ll})\p{Lu}/gu)].map(([letter]) => letter));
  }
  yield* spelt(text.split("\n").map(last));
}

const first = (unit: string): string => /\p{L}/u.exec(unit)?.[0] ?? "";
const last = (unit: string): string => /\p{L}(?=\P{L}*$)/u.exec(unit)?.[0] ?? "";

function* spelt(letters: readonly string[]): Iterable<string> {
  if (letters.length < FEWEST_LETTERS || letters.length > MOST_LETTERS) return;
  const read = wordsApart(letters.join(""));
  if (read === undefined) return;
  const words = read.split(" ");
  if (letters.length >= words.length * EACH && words.some((word) => word.length > 4 && isEnglishWord(word))) yield read;
}
