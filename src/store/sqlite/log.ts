import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import type { StrataError } from "../../protocol/index.ts";
import { type Checkpoints, checkpointsOf } from "./checkpoint.ts";
import type { Connection } from "./connection.ts";
import { isSyncFailure, unkept } from "./failure.ts";

/** Puts what was written to an open file on the disk, without holding up the program. */
export type Sync = (file: number) => Promise<void>;

/**
 * The write-ahead log of a file, and how far it is on the disk (decision 0071). A commit is written without waiting; one `fdatasync` then
 * serves all who wait. It covers what other programs have written, too: it is the same file.
 */
export interface Log {
  /** Called inside a transaction that writes: whether it goes on from something that may not be on the disk yet. */
  readonly begin: () => void;
  /** Called after its commit. */
  readonly committed: () => void;
  /** A place in the log, behind all that a transaction that begins now can see. */
  readonly place: () => number;
  /** Resolves once the log is on the disk up to a place. @throws StrataError `store_failed`, from the first failure on for ever */
  readonly onDisk: (place: number) => Promise<void>;
  /** Moves a long log into the file. Called while nothing writes here; readers are not held up. */
  readonly shorten: () => Promise<void>;
  /** Notes a failure of the disk that SQLite met, and gives back what is thrown. */
  readonly noted: (thrown: unknown) => unknown;
  /** Why nothing can be written any more, if so. */
  readonly failed: () => StrataError | undefined;
  /** True where the connections may be closed, which moves the log into the file. */
  readonly close: () => Promise<boolean>;
}

/** Pages from which on a log is moved into the file. */
const LONG = 1_000;

/** A database in memory is on no disk; without such a log SQLite itself waits for the disk. */
const NO_LOG: Log = {
  begin: () => undefined,
  committed: () => undefined,
  place: () => 0,
  onDisk: async () => undefined,
  shorten: async () => undefined,
  noted: (thrown) => thrown,
  failed: () => undefined,
  close: async () => true,
};

/** Connections that are never closed, because closing would copy a log that is not on the disk into the file. */
const leftOpen: Connection[] = [];

/** The functions that a log is given: to put it on the disk, and to move it into its file. */
interface LogOptions {
  readonly sync?: Sync | undefined;
  readonly checkpoints?: Checkpoints | undefined;
}

/** From now on the connection's commits do not wait for the disk: whoever answers for them waits here. */
export function openLog(writer: Connection, options: LogOptions = {}): Log {
  if (!writer.commitsWithoutWaiting()) return NO_LOG;
  const { sync = promisify(fdatasync), checkpoints = checkpointsOf(writer.file, writer.checkpoint) } = options;
  let [written, kept] = [0, 0];
  let seen = writer.version();
  let running: Promise<void> | undefined;
  let failed: StrataError | undefined;
  let file: number | undefined;

  const fail = (thrown: unknown): StrataError => {
    if (failed === undefined) leftOpen.push(writer);
    failed ??= unkept(writer.file, thrown);
    return failed;
  };

  const run = async (): Promise<void> => {
    const upto = written;
    try {
      file ??= openSync(`${writer.file}-wal`, "r+");
      await sync(file);
      kept = upto;
    } catch (thrown) {
      fail(thrown);
    } finally {
      running = undefined;
    }
  };

  const onDisk: Log["onDisk"] = async (place) => {
    // One that runs already may have begun before that place was written.
    while (kept < place && failed === undefined) {
      running ??= run();
      await running;
    }
    if (kept < place && failed !== undefined) throw failed;
  };

  const note = (): void => {
    const now = writer.version();
    if (now !== seen) written++;
    seen = now;
  };

  return {
    begin: () => {
      if (failed !== undefined) throw failed;
      note();
    },
    committed: note,
    place: () => written,
    onDisk,
    shorten: async () => {
      if (failed !== undefined || writer.logPages() < LONG) return;
      await onDisk(written);
      try {
        await checkpoints.move();
      } catch (thrown) {
        throw fail(thrown);
      }
    },
    noted: (thrown) => (isSyncFailure(thrown) ? fail(thrown) : thrown),
    failed: () => failed,
    close: async () => {
      await onDisk(written).catch(() => undefined);
      if (file !== undefined) closeSync(file);
      file = undefined;
      await checkpoints.end();
      return failed === undefined;
    },
  };
}
