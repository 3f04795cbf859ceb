/** What models read of results that were too long to be shown whole. `tests/house/golden/wording.txt` lists it all. */

export const WORDING = {
  description: "Reads what is not shown of a long result. The note in its middle gives its number.",
  from: "The first line to read. Default: 1.",
  to: "The last one. Default: as many as fit.",
  find: "Instead: list the lines with this word or phrase.",
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
