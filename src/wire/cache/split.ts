import type { Bill, Multipliers } from "./seen.ts";

/** A bill in the making: what is neither read nor written is input. */
export type Parts = Pick<Bill, "read" | "write5m" | "write1h" | "problems">;

export const UNTOUCHED: Parts = { read: 0, write5m: 0, write1h: 0, problems: [] };

/** The bill of a request of so many tokens. */
export function billOf(total: number, { read, write5m, write1h, problems }: Parts, multipliers: Multipliers): Bill {
  const input = total - read - write5m - write1h;
  const cost = input + read * multipliers.read + write5m * multipliers.write5m + write1h * multipliers.write1h;
  return { input, read, write5m, write1h, cost, problems };
}
