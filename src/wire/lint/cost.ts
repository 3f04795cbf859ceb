/** A row of CACHING §3.6: cost as a multiple of the plan's, at 50 and 200 turns (reads at 0.1), and at 200 turns with reads at 0.05. */
export interface Row {
  readonly what: string;
  readonly at50: number;
  readonly at200: number;
  /** Left out where it was not measured. */
  readonly at200cheap?: number;
}

/** The rows of CACHING §3.6 that a rule names. What an agent of Strata cannot do has no rule, and its row is not here. */
export const MEASURED = {
  tools: { what: "tools shuffled every turn", at50: 8.06, at200: 9.82, at200cheap: 15.9 },
  seconds: { what: "status line with seconds at the front", at50: 4.59, at200: 6.94, at200cheap: 11.1 },
  minutes: { what: "clock to the minute in system", at50: 3.72, at200: 5.44, at200cheap: 8.52 },
  relative: { what: "relative times in history", at50: 2.45, at200: 5.8, at200cheap: 9.07 },
  id: { what: "request id in the first user message", at50: 2.21, at200: 4.98, at200cheap: 7.73 },
  snapshot: { what: "memory snapshot in system, every 5 turns", at50: 1.71, at200: 2.21, at200cheap: 3.03 },
  model: { what: "model switched every 10 turns", at50: 1.58, at200: 1.84, at200cheap: 2.43 },
  day: { what: "clock to the date only", at50: 1, at200: 1.04 },
} as const satisfies Readonly<Record<string, Row>>;

export type RowName = keyof typeof MEASURED;

/** What reading and writing cost at a model, as shares of a plain input token, and below how many tokens nothing is kept. */
export interface Rates {
  readonly read: number;
  readonly write: number;
  readonly minimum: number;
}

/** How often more the input costs, and from which figures that follows. `computed`: by a formula, not out of a measurement. */
export interface Cost {
  readonly times: number;
  readonly basis: "measured" | "computed";
  readonly says: string;
}

/** Reads as cheap as this or cheaper take the column that was measured at 0.05 (CACHING §3.6). */
const CHEAP = 0.05;

/**
 * The measured multiplier of a row at so many turns (CACHING §3.6): between 50 and 200 turns on the line between the two
 * measurements, outside them the nearer one. With reads at 0.05 or below it is the one that was measured then, at 200 turns.
 */
export function measured(name: RowName, turns: number, { read }: Pick<Rates, "read">): Cost {
  const row: Row = MEASURED[name];
  if (read <= CHEAP && row.at200cheap !== undefined) {
    const says = `${row.what}: ${row.at200cheap} at 200 turns with reads at 0.05`;
    return { times: row.at200cheap, basis: "measured", says };
  }
  const share = Math.min(Math.max((turns - 50) / 150, 0), 1);
  const outside =
    turns < 50 ? "; shorter threads were not measured" : turns > 200 ? "; longer ones were not measured" : "";
  const says = `${row.what}: ${row.at50} at 50 turns, ${row.at200} at 200, with reads at 0.1${outside}`;
  return { times: rounded(row.at50 + share * (row.at200 - row.at50)), basis: "measured", says };
}

/** Two digits after the point: the tables have no more. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;

/**
 * From which request of a stretch without long pauses on a prefix of `tokens`, padded with useful examples up to the minimum,
 * is cheaper than one that is not kept: the first n with n P > w M + r M (n - 1) (CACHING §3.5). Undefined: never, for reading
 * the padded one costs as much as sending the short one.
 */
export function paddingPaysFrom(tokens: number, { read, write, minimum }: Rates): number | undefined {
  const perRequest = tokens - read * minimum;
  if (perRequest <= 0) return undefined;
  return Math.floor((minimum * (write - read)) / perRequest + 1e-9) + 1;
}

/** What `turns` requests with the short prefix cost, against the padded one (both sides of the formula of CACHING §3.5). */
export function withoutPadding(tokens: number, turns: number, { read, write, minimum }: Rates): Cost {
  const padded = write * minimum + read * minimum * (turns - 1);
  const says = `n P against w M + r M (n - 1), n = ${turns}, P = ${tokens}, M = ${minimum}, w = ${write}, r = ${read}`;
  return { times: rounded((turns * tokens) / padded), basis: "computed", says };
}
