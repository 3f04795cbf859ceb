import BetterSqlite3 from "better-sqlite3";
import { asStrataError, StrataError } from "../../protocol/index.ts";

/**
 * Whatever the driver or the disk threw, as a sentence with the file and the next step; the cause is kept. Anything else is a bug and stays
 * `unexpected`. Only this file reads SQLite's codes.
 */
export function failure(thrown: unknown, file: string): StrataError {
  if (thrown instanceof StrataError) return thrown;
  const code = thrown instanceof BetterSqlite3.SqliteError ? thrown.code : "";
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  if (code === "" && !isDisk(thrown) && !DRIVER.test(said)) return asStrataError(thrown);
  const details = { file, code };
  if (isLocked(thrown)) return new StrataError("store_busy", busy(file), details, thrown);
  return new StrataError("store_failed", describeFailure(code, said, file), details, thrown);
}

/** Whether another program's lock was in the way. */
export function isLocked(thrown: unknown): boolean {
  if (thrown instanceof StrataError) return thrown.code === "store_busy";
  return thrown instanceof BetterSqlite3.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(thrown.code);
}

/** Whether the disk failed to take a write: from then on, it is unknown what of it is there. */
export function isSyncFailure(thrown: unknown): boolean {
  return thrown instanceof BetterSqlite3.SqliteError && /^SQLITE_IOERR_(DIR_)?FSYNC$/.test(thrown.code);
}

/** After a disk failure, its next success says nothing about the earlier writes: only rereading the file does. */
export function unkept(file: string, thrown: unknown): StrataError {
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const message = `the disk that holds ${file} failed to keep what was written (${said}); what was not answered yet may be lost, and nothing more is written`;
  return new StrataError(
    "store_failed",
    `${message}: check the disk, stop every Strata that uses this file, start it again and run \`strata verify\``,
    { file, code: "SQLITE_IOERR_FSYNC" },
    thrown,
  );
}

const isDisk = (thrown: unknown): boolean => thrown instanceof Error && "syscall" in thrown;

/** The driver's own message, in a bare TypeError. */
const DRIVER = /database connection is not open|directory does not exist/;

function busy(file: string): string {
  return `${file} stayed locked by another program; nothing was written: close that program or wait until it is done, then try again`;
}

function describeFailure(code: string, said: string, file: string): string {
  // The second code: the shared file that readers use could not grow.
  if (code.startsWith("SQLITE_FULL") || code === "SQLITE_IOERR_SHMSIZE")
    return `the disk that holds ${file} is full; nothing was written: free some space, then try again`;
  if (code.startsWith("SQLITE_NOTADB"))
    return `${file} is not a Strata database: name another file, or move this one away`;
  if (code.startsWith("SQLITE_CORRUPT"))
    return `${file} is damaged (${said}): restore it from a backup; 'sqlite3 FILE .recover' may save what can be read`;
  if (code.startsWith("SQLITE_CANTOPEN") || code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_PERM"))
    return `${file} cannot be opened for writing (${said}): check that the path exists and that this user may write there`;
  if (code.startsWith("SQLITE_IOERR"))
    return `the disk that holds ${file} failed (${said}); nothing was written: check the disk, then try again`;
  if (code.startsWith("SQLITE_CONSTRAINT"))
    return `${file} refused the change (${said}); nothing was written: an id is already in use or refers to something that does not exist, so read again and use new ids`;
  if (said.includes("connection is not open")) return `${file} is closed: open the store again`;
  return `the database ${file} failed (${said}); nothing was written: try again, and report it if this happens again`;
}
