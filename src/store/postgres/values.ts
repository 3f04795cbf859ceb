import { StrataError } from "../../protocol/index.ts";

/**
 * PostgreSQL's texts cannot contain the character zero. This character, which no text contains, followed by a digit replaces it, and
 * itself.
 */
const STAND_IN = "\ufffe";

/** A value that PostgreSQL accepts. */
export const storable = (value: unknown): unknown =>
  typeof value === "string" && /[\0\ufffe]/.test(value)
    ? value.replaceAll(STAND_IN, `${STAND_IN}1`).replaceAll("\0", `${STAND_IN}0`)
    : value;

const asWritten = (text: string): string =>
  text.includes(STAND_IN) ? text.replaceAll(`${STAND_IN}0`, "\0").replaceAll(`${STAND_IN}1`, STAND_IN) : text;

/** The values of PostgreSQL's types in rows: the same as SQLite returns. */
const PARSERS = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === "t" ? 1 : 0)],
  [17, (text) => Uint8Array.from(Buffer.from(text.slice(2), "hex"))],
  [20, wholeNumber],
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
  [1700, Number],
]);

/** Parses what the server sends, by the number of its type. */
export function parserOf(type: number): (text: string) => unknown {
  return PARSERS.get(type) ?? asWritten;
}

/** @throws StrataError `store_failed` for a number that is not exact in JavaScript */
function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new StrataError(
    "store_failed",
    `the number ${text} in the database is larger than any that Strata writes: it was changed by another program`,
  );
}
