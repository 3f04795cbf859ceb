import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { StrataError } from "../../protocol/index.ts";
import type { BackupProgress } from "../records.ts";
import type { Connection } from "./connection.ts";

/**
 * Copies everything as it stands at one moment, while others write. The copy gets its name once it is complete, so an interrupted one is
 * never taken for a backup.
 */
export async function backup(
  db: Connection,
  file: string,
  onProgress?: (progress: BackupProgress) => void,
): Promise<void> {
  if (existsSync(file)) throw taken(file);
  const unfinished = `${file}.${process.pid}.unfinished`;
  // The contents are personal, so only the owner can read the file from its first byte on.
  claimed(unfinished, file);
  try {
    await db.copy(unfinished, onProgress ?? (() => {}));
    named(unfinished, file);
  } catch (thrown) {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(unfinished + end, { force: true });
    throw thrown;
  }
}

const taken = (file: string, cause?: unknown): StrataError =>
  new StrataError("invalid_input", `${file} exists already; name a new file for the backup`, { file }, cause);

/** Gives the copy its name, if no file has it by now. A rename would replace a file that somebody created meanwhile. */
function named(unfinished: string, file: string): void {
  try {
    linkSync(unfinished, file);
    rmSync(unfinished);
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === "EEXIST") throw taken(file, thrown);
    if (!LINKLESS.has(code)) throw thrown;
    renamed(unfinished, file);
  }
}

/** The codes of file systems without hard links. */
const LINKLESS: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Without hard links, the name is taken first; the rename then replaces our own file. */
function renamed(unfinished: string, file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (thrown) {
    throw codeOf(thrown) === "EEXIST" ? taken(file, thrown) : thrown;
  }
  renameSync(unfinished, file);
}

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && "code" in thrown ? thrown.code : undefined);

function claimed(unfinished: string, file: string): void {
  try {
    closeSync(openSync(unfinished, "wx", 0o600));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StrataError(
      "file_not_found",
      `${file} cannot be written (${why}); name a file in a folder that exists`,
      { file },
      cause,
    );
  }
}
