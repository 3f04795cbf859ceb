import { setTimeout as pause } from "node:timers/promises";
import { StrataError } from "../protocol/index.ts";
import type { CopyProgress, CopySide, NewCopy } from "./copy.ts";
import { type Moved, moved, UNNOTICED, unmark } from "./moved.ts";
import { whereOf } from "./postgres/address.ts";
import { addressName } from "./postgres/failure.ts";
import type { PostgresOptions, ServerFacts } from "./postgres/open.ts";
import { openSqlite, type SqliteOptions } from "./sqlite/open.ts";
import type { Store } from "./store.ts";
import type { StorePart } from "./tx.ts";

/** Whether an address is that of a PostgreSQL server; all others are SQLite files. */
const isPostgres = (address: string): boolean => /^postgres(?:ql)?:/.test(address);

/**
 * Opens the store at an address: a file, or a PostgreSQL database, whose driver is loaded only then.
 * @throws StrataError `store_busy`, `store_newer`, `store_failed`; `config_invalid` for an invalid address
 */
export async function openStore(address: string, options: SqliteOptions & PostgresOptions = {}): Promise<Store> {
  if (!isPostgres(address)) return openSqlite(address, options);
  const { openPostgres } = await import("./postgres/open.ts");
  return openPostgres(address, options);
}

/** The displayed form of an address: never its password. */
export const storeName = (address: string): string => (isPostgres(address) ? addressName(whereOf(address)) : address);

/** Facts about the server at an address; undefined for a file. @throws StrataError as `openStore` */
export async function serverFacts(address: string): Promise<ServerFacts | undefined> {
  if (!isPostgres(address)) return undefined;
  const { postgresFacts } = await import("./postgres/open.ts");
  return postgresFacts(address);
}

/** How a store is copied. */
interface CopyOptions extends NewCopy {
  /** What features store in both. */
  readonly parts?: readonly StorePart[];
}

/**
 * Copies a whole store into an empty one, from either database to either. If it was interrupted, the same call continues.
 * @throws StrataError `file_not_found`, `invalid_input`, `store_moved`, and whatever opening throws
 */
export async function copyStores(
  from: string,
  to: string,
  { parts = [], ...copy }: CopyOptions,
): Promise<CopyProgress> {
  if (from === to) throw new StrataError("invalid_input", `a store is not copied onto itself: name another target`);
  const { copyStore } = await import("./copy.ts");
  const sides: CopySide[] = [];
  try {
    for (const address of [from, to]) sides.push(await sideOf(address, parts));
    const [source, target] = sides;
    if (source === undefined || target === undefined) return { done: 0, total: 0 };
    // Opening it refreshes an older index; a source that an earlier attempt marked has one of today.
    if ((await source.read(moved)) === undefined) await (await openStore(from, { parts })).close();
    return await copyStore(source, target, { ...copy, noticed: () => pause(UNNOTICED + 500) });
  } finally {
    for (const side of sides) await side.close();
  }
}

/**
 * Removes the mark from a store that was copied elsewhere, so that it opens again. Returns the mark, or undefined if there was none.
 * @throws StrataError as `openStore`
 */
export async function resumeStore(address: string, parts: readonly StorePart[] = []): Promise<Moved | undefined> {
  const side = await sideOf(address, parts);
  try {
    return await side.write(unmark);
  } finally {
    await side.close();
  }
}

async function sideOf(address: string, parts: readonly StorePart[]): Promise<CopySide> {
  if (isPostgres(address)) return (await import("./postgres/copy-side.ts")).postgresSide(address, parts);
  return (await import("./sqlite/copy-side.ts")).sqliteSide(address, parts);
}
