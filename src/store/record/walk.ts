import { StrataError } from "../../protocol/index.ts";
import type { Finding } from "../records.ts";

/** What is counted while the record is checked. */
export type Counted = Extract<Finding, { type: "checked" }>["what"];

/** One step of a check: some rows, read in one snapshot. `next` says where to continue; without it, this was the end. */
export interface Step<Cursor> {
  readonly problems: readonly Finding[];
  readonly checked: Partial<Record<Counted, number>>;
  readonly next?: Cursor;
}

/** How many rows are read at once, so that checking a record of any size needs the same memory. */
export const BATCH = 100;

/** A finding about something that does not match. */
export function problem(where: string, says: string): Finding {
  return { type: "problem", where, says };
}

/** Where the next step begins, if this one was full. */
export function page<Cursor>(last: Cursor | undefined, rows: number): { readonly next?: Cursor } {
  return last !== undefined && rows === BATCH ? { next: last } : {};
}

/** The message of whatever a check threw. */
export function sentence(thrown: unknown): string {
  if (thrown instanceof StrataError && thrown.code !== "record_broken") throw thrown;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
