import { wordsApart } from "./words-apart.ts";

type Read = Iterable<readonly [string, string]>;

/** Fewer lines are no column. */
const FEWEST = 3;
/** Longer ones are sentences of their own. */
const MOST = 80;
/** A line of a sentence that runs down the lines says no more words than this. */
const SHORT = 3;

/** Sentences that run down the lines of a list or a table, a few words in each, also where its numbers put it in another order. */
export function* columns(text: string): Read {
  const lines = text.split("\n").filter((line) => /[\p{L}\p{N}]/u.test(line));
  for (const run of runsOf(lines, (line) => wordsOf(line).length <= SHORT && !line.trimEnd().endsWith(":"))) {
    const said = run.map(withoutLabel);
    yield ["line breaks", said.join(" ")];
    const numbers = run.map((line) => Number(/^\W*(\d+)/.exec(line)?.[1]));
    if (numbers.some((number, i) => number < (numbers[i - 1] ?? 0)))
      yield ["the order of lines", sortedBy(numbers, said).join(" ")];
  }
}

/** What the first letters and the first words of lines say. */
export function* acrostics(text: string): Read {
  for (const block of text.split(/\n\s*\n/)) {
    const lines = block
      .split("\n")
      .map(wordsOf)
      .filter((words) => words.length > 0);
    if (lines.length < FEWEST || lines.length > MOST) continue;
    const first = lines.map((words) => words[0] ?? "");
    if (isSaid(first)) yield ["the first words of lines", first.join(" ")];
    yield* spelledBy(
      "the first letters of lines",
      first.map((word) => word.slice(0, 1)),
    );
  }
}

/** First words that join others: a list of orders has none. */
const isSaid = (words: readonly string[]): boolean =>
  words.length <= SAID && words.some((word, i) => i > 0 && JOINING.has(word.toLowerCase()));
const SAID = 16;
const JOINING: ReadonlySet<string> = new Set(
  "and or the a an to of all any every this that these over for from by with my your".split(" "),
);

/** Letters by chance make few words: ten lines at least. */
const FEWEST_LETTERS = 10;
/** Letters in a word, one with another. */
const FEWEST_EACH = 3.5;

function* spelledBy(by: string, letters: readonly string[]): Read {
  const read = letters.length < FEWEST_LETTERS ? undefined : wordsApart(letters.join(""));
  if (read !== undefined && letters.length >= read.split(" ").length * FEWEST_EACH) yield [by, read];
}

/** Lines in a row of which all are so. */
function runsOf(lines: readonly string[], isSo: (line: string) => boolean): readonly (readonly string[])[] {
  const runs: string[][] = [[]];
  for (const line of lines) {
    if (isSo(line)) runs.at(-1)?.push(line);
    else runs.push([]);
  }
  return runs.filter((run) => run.length >= FEWEST);
}

const LABEL =
  /^(?:[^\p{L}\p{N}]*(?:(?:step|word|line|part|item|no)\W{0,2})?\d{1,3}[^\p{L}\p{N}]+|[^\p{L}\p{N}]*[\p{L}\p{N}_]{1,4}\s?[:=]\s?|[^\p{L}\p{N}]+)/iu;

/** Without what marks or numbers a line, and without what closes it. */
const withoutLabel = (line: string): string =>
  line.replace(LABEL, "").replace(/(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/u, "");

const wordsOf = (line: string): readonly string[] => withoutLabel(line).match(/[\p{L}\p{N}'’]+/gu) ?? [];

const sortedBy = (numbers: readonly number[], lines: readonly string[]): readonly string[] =>
  lines
    .map((line, i) => [numbers[i] ?? 0, line] as const)
    .sort(([a], [b]) => a - b)
    .map(([, line]) => line);
