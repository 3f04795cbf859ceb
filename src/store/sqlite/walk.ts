import { setImmediate } from "node:timers/promises";
import { StrataError } from "../../protocol/index.ts";
import type { Finding } from "../store.ts";

/** What is counted while the record is checked. */
export type Counted = Extract<Finding, { type: "checked" }>["what"];
const KINDS: readonly Counted[] = ["piece", "epoch", "turn", "link"];

/** One step of a check: some rows, read in one snapshot. `next` says where to go on; left out, this was the end. */
export interface Step<Cursor> {
  readonly problems: readonly Finding[];
  readonly checked: Partial<Record<Counted, number>>;
  readonly next?: Cursor;
}

/** As many rows are read at once: a record of any size is checked in the same memory. */
export const BATCH = 100;

/** Something that does not match. */
export function problem(where: string, says: string): Finding {
  return { type: "problem", where, says };
}

/** How much was checked so far, of each kind. */
export type Totals = Map<Counted, number>;

/** Walks a check from its start to its end. Between two steps others get their turn: a check may run beside live work. */
export async function* walk<Cursor>(
  totals: Totals,
  start: Cursor,
  step: (cursor: Cursor) => Step<Cursor>,
): AsyncGenerator<Finding> {
  for (let cursor: Cursor | undefined = start; cursor !== undefined; ) {
    const done: Step<Cursor> = step(cursor);
    yield* done.problems;
    for (const what of KINDS) {
      const count = (totals.get(what) ?? 0) + (done.checked[what] ?? 0);
      totals.set(what, count);
      if (done.checked[what] !== undefined) yield { type: "checked", what, count };
    }
    cursor = done.next;
    await setImmediate();
  }
}

/** Where the next step begins, if this one was full. */
export function page<Cursor>(last: Cursor | undefined, rows: number): { readonly next?: Cursor } {
  return last !== undefined && rows === BATCH ? { next: last } : {};
}

/** What a check threw, as what it found. */
export function sentence(thrown: unknown): string {
  if (thrown instanceof StrataError && thrown.code !== "record_broken") throw thrown;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
