import { StrataError } from "../../protocol/index.ts";

/** PostgreSQL's texts have no zero sign: this sign, which no text has, and a digit stand for it, and for the sign itself. */
const STAND_IN = "\ufffe";

/** A value as PostgreSQL takes it. */
export const storable = (value: unknown): unknown =>
  typeof value === "string" && /[\0\ufffe]/.test(value)
    ? value.replaceAll(STAND_IN, `${STAND_IN}1`).replaceAll("\0", `${STAND_IN}0`)
    : value;

const asWritten = (text: string): string =>
  text.includes(STAND_IN) ? text.replaceAll(`${STAND_IN}0`, "\0").replaceAll(`${STAND_IN}1`, STAND_IN) : text;

/** What the types of PostgreSQL are in rows: the same as SQLite gives. */
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

/** Reads what the server writes, by the number of its type. */
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
