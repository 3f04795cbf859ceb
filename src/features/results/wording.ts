/** What models read of results that were too long to be shown whole. `tests/house/golden/wording.txt` lists it all. */

export const WORDING = {
  description:
    "Reads what is not shown of a long result: where its middle is left out, a note says its number and how many lines it has.",
  result: "The number of the result.",
  from: "Read from this line on. Default: 1.",
  to: "Read up to this line. Default: as many as fit.",
  find: "Instead of reading on: lists the lines with this word or phrase.",
  either: "Give either `find`, or `from` and `to`.",
  none: "There is no such result: none is kept in the part of the conversation that is shown. Call its tool again if you still need it.",
} as const;

export const noSuchResult = (n: number, kept: readonly number[]): string =>
  `There is no result ${n}. Kept are: ${kept.join(", ")}.`;

export const noSuchLine = (from: number, lines: number): string => `There is no line ${from}: the result has ${lines}.`;

/** Above the lines that were asked for. */
export const linesShown = (from: number, to: number, lines: number): string => `Lines ${from} to ${to} of ${lines}:`;

/** Above the lines in which a text was found, each with its number. */
export const linesFound = (shown: number, found: number): string =>
  shown === found
    ? `Found in ${found === 1 ? "1 line" : `${found} lines`}:`
    : `Found in ${found} lines; the first ${shown}:`;

export const notFound = (lines: number): string => `Not found in its ${lines} lines.`;
