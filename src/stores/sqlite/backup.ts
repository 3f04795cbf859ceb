import { closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { StrataError } from "../../protocol/index.ts";
import type { BackupProgress } from "../store.ts";
import type { Connection } from "./connection.ts";

/**
 * A copy of all as it stands at one moment, while others write. It gets its name when it is whole: what was interrupted
 * is never taken for a backup.
 */
export async function backup(
  db: Connection,
  file: string,
  onProgress?: (progress: BackupProgress) => void,
): Promise<void> {
  if (existsSync(file)) {
    throw new StrataError("invalid_input", `${file} exists already; name a new file for the backup`, { file });
  }
  const unfinished = `${file}.${process.pid}.unfinished`;
  // What is in there is personal: it is the owner's from its first byte.
  claimed(unfinished, file);
  try {
    await db.copy(unfinished, onProgress ?? (() => {}));
    renameSync(unfinished, file);
  } catch (thrown) {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(unfinished + end, { force: true });
    throw thrown;
  }
}

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
