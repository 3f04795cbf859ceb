/** A row of CACHING §3.6: cost as a multiple of the plan's, at 50 and 200 turns (reads at 0.1), and at 200 turns with reads at 0.05. */
export interface Row {
  readonly what: string;
  readonly at50: number;
  readonly at200: number;
  /** Left out if it was not measured. */
  readonly at200cheap?: number;
}

/** The rows of CACHING §3.6 that a rule names. Mistakes that a Strata agent cannot make have no rule, and no row here. */
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
  readonly message: string;
}

/** Reads as cheap as this or cheaper take the column that was measured at 0.05 (CACHING §3.6). */
const CHEAP = 0.05;

/**
 * The measured multiplier of a row at this many turns (CACHING §3.6): between 50 and 200 turns on the line between the two measurements,
 * outside them the nearer one. With reads at 0.05 or below, it is the one measured for that price, at 200 turns.
 */
export function measured(name: RowName, turns: number, { read }: Pick<Rates, "read">): Cost {
  const row: Row = MEASURED[name];
  if (read <= CHEAP && row.at200cheap !== undefined) {
    const message = `${row.what}: ${row.at200cheap} at 200 turns with reads at 0.05`;
    return { times: row.at200cheap, basis: "measured", message };
  }
  const share = Math.min(Math.max((turns - 50) / 150, 0), 1);
  const outside =
    turns < 50 ? "; shorter threads were not measured" : turns > 200 ? "; longer ones were not measured" : "";
  const message = `${row.what}: ${row.at50} at 50 turns, ${row.at200} at 200, with reads at 0.1${outside}`;
  return { times: twoDigits(row.at50 + share * (row.at200 - row.at50)), basis: "measured", message };
}

/** Two digits after the point: the tables have no more. */
export const twoDigits = (value: number): number => Math.round(value * 100) / 100;

/** A thread's tokens besides its prefix: a turn's events, what a turn adds for the next, and what is never kept. */
export interface Growth {
  readonly events: number;
  readonly grows: number;
  readonly tail: number;
}

/** How many requests a thread must have for filling up its prefix to pay, and how many it may have at most. */
export interface PaddingPays {
  readonly from: number;
  readonly to: number;
}

/**
 * In threads of which length a prefix of `tokens`, padded with useful examples up to the minimum, is cheaper than one that is kept
 * only once the conversation has grown past it (CACHING §3.5). From then on both are kept, and each request reads the padding too:
 * the lead melts. Undefined: never. What threads share is not counted.
 */
export function paddingPays(tokens: number, growth: Growth, rates: Rates): PaddingPays | undefined {
  const { read, minimum } = rates;
  const [short, padded] = [threadBill(tokens, growth, rates), threadBill(minimum, growth, rates)];
  let [requests, lead] = [0, 0];
  let from: number | undefined;
  let isKept = false;
  while (!isKept) {
    requests++;
    const bill = short();
    lead += bill.cost - padded().cost;
    isKept = bill.isKept;
    if (lead > 0) from ??= requests;
  }
  if (from === undefined) return undefined;
  return { from, to: requests + Math.ceil(lead / (read * (minimum - tokens))) - 1 };
}

/** What `turns` requests with the short prefix cost, against the padded one. */
export function withoutPadding(
  tokens: number,
  { turns, ...growth }: Growth & { readonly turns: number },
  rates: Rates,
): Cost {
  const { read, write, minimum } = rates;
  const sum = (prefix: number): number => {
    const next = threadBill(prefix, growth, rates);
    return Array.from({ length: turns }, next).reduce((total, { cost }) => total + cost, 0);
  };
  const [short, padded] = [sum(tokens), sum(minimum)];
  const values = `n = ${turns}, P = ${tokens}, M = ${minimum}, s = ${growth.grows}, D = ${growth.tail}, w = ${write}, r = ${read}`;
  const message = `${Math.round(short)} tokens of plain input as it is against ${Math.round(padded)} filled up, ${values}`;
  return { times: twoDigits(short / padded), basis: "computed", message };
}

/** Bills a thread's requests one after the other, without long pauses: nothing is kept of one that is shorter than the minimum. */
function threadBill(prefix: number, { events, grows, tail }: Growth, { read, write, minimum }: Rates) {
  let [size, kept] = [prefix + events, 0];
  return (): { readonly cost: number; readonly isKept: boolean } => {
    const isKept = size >= minimum;
    const cost = tail + (isKept ? read * kept + write * (size - kept) : size);
    if (isKept) kept = size;
    size += Math.max(grows, 1);
    return { cost, isKept };
  };
}
