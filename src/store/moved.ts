import { StrataError } from "../protocol/index.ts";
import { plain } from "./statement.ts";
import type { Tx } from "./tx.ts";

/**
 * The table of the copies that a store took part in: at most one row `to` another store, which marks it as moved, and a row `from` another
 * store for each copy that led to this one. Both ends of a copy share its id, so that the way back is known.
 */
export const MOVES = "store_move";

type MoveTx = Pick<Tx, "column" | "run" | "all">;

/** Where a store was copied to. */
export interface Moved {
  readonly id: string;
  /** The name of the other store, without a password. */
  readonly other: string;
  /** When the copy began, in milliseconds since 1970. */
  readonly at: number;
}

/** The mark of a store that was copied; undefined if none is there. */
export const moved = async (tx: MoveTx): Promise<Moved | undefined> => (await moves(tx, "to"))[0];

/** The copies that led to a store. */
export const cameFrom = (tx: MoveTx): Promise<readonly Moved[]> => moves(tx, "from");

const moves = (tx: MoveTx, way: "to" | "from"): Promise<readonly Moved[]> =>
  tx.all(plain<Moved>(`select id, other, at from ${MOVES} where way = ? order by at`, way));

/** Marks one end of a copy. */
export const noteMove = (tx: MoveTx, way: "to" | "from", { id, other, at }: Moved): Promise<void> =>
  tx.run(plain(`insert into ${MOVES} (id, way, other, at) values (?, ?, ?, ?)`, id, way, other, at));

/** Removes the mark from a store. Returns the mark, or undefined if there was none. */
export async function unmark(tx: MoveTx): Promise<Moved | undefined> {
  const found = await moved(tx);
  await tx.run(plain(`delete from ${MOVES} where way = 'to'`));
  return found;
}

/** Milliseconds for which a program takes a store for unmoved before it looks again. A copy waits longer before it reads. */
export const UNNOTICED = 2_000;

/** @throws StrataError `store_moved` if the store was copied to another one and not taken up again */
export async function refuseMoved(tx: MoveTx, name: string): Promise<void> {
  const found = await moved(tx);
  if (found !== undefined) throw storeMoved(name, found);
}

/** What to do with a store that was copied elsewhere. */
export function storeMoved(name: string, { other, at }: Moved): StrataError {
  const day = new Date(at).toISOString().slice(0, 10);
  const message = `${name} was copied to ${other} on ${day}, where the record goes on: use that one, or come back with \`strata store copy\` in the other direction. \`strata store resume\` takes this one up as it stood then, apart from the other`;
  return new StrataError("store_moved", message, { store: name, other, at });
}
