import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { StrataError } from "../../protocol/index.ts";
import type { Store } from "../store.ts";
import { storeOver } from "../store-over.ts";
import type { Database } from "../tx.ts";
import { failure } from "./failure.ts";

/**
 * Whether the file is there and this user cannot write to it. SQLite keeps its log beside it, also for those who only read, so the folder
 * counts, unless another program has made the log there.
 */
export function isUnwritable(file: string): boolean {
  if (!existsSync(file)) return false;
  const hasLog = mayWrite(`${file}-wal`) && mayWrite(`${file}-shm`);
  return !mayWrite(file) || !(hasLog || mayWrite(dirname(file)));
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A copy of a database file in a separate folder, which only this user can read. */
export interface Aside {
  readonly file: string;
  readonly remove: () => void;
}

/** Another program may be writing: changed files are copied again. */
const TRIES = 3;

/** Copies the file with the log that belongs to it. @throws StrataError `store_busy` if it keeps changing */
export function copyAside(file: string): Aside {
  sweep();
  const folder = mkdtempSync(join(tmpdir(), `${NAME}${process.pid}-`));
  const copy = { file: join(folder, basename(file)), remove: () => rmSync(folder, { recursive: true, force: true }) };
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const before = fileStamp(file);
      for (const end of ["", "-wal"]) copyEnd(file, copy.file, end);
      if (before === fileStamp(file)) return copy;
    }
    throw new StrataError(
      "store_busy",
      `${file} changed while it was copied to be read; wait until the program that writes it is done, then try again`,
      { file },
    );
  } catch (thrown) {
    copy.remove();
    throw failure(thrown, file);
  }
}

const NAME = "strata-read-";

/** Removes the copies of this user's programs that were killed. */
function sweep(): void {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(NAME))) {
    const left = join(tmpdir(), name);
    const isMine = statSync(left, { throwIfNoEntry: false })?.uid === process.getuid?.();
    if (isMine && isGone(Number.parseInt(name.slice(NAME.length), 10))) rmSync(left, { recursive: true, force: true });
  }
}

function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH";
  }
}

function copyEnd(from: string, to: string, end: string): void {
  rmSync(to + end, { force: true });
  if (!existsSync(from + end)) return;
  copyFileSync(from + end, to + end, constants.COPYFILE_FICLONE);
  chmodSync(to + end, 0o600);
}

/** What changes when anybody writes. */
const fileStamp = (file: string): string =>
  JSON.stringify(
    ["", "-wal"].map((end) => {
      const found = statSync(file + end, { throwIfNoEntry: false });
      return found && [found.size, found.mtimeMs, found.ino];
    }),
  );

/**
 * The store over such a copy. Writes are refused, because they would be lost with the copy; the access is not logged anywhere, because it
 * cannot be.
 */
export function readOnlyStore(database: Database, file: string, { remove }: Aside): Store {
  const message = `${file} cannot be written by this user, so a copy of it is read`;
  const store = storeOver({
    ...database,
    write: async () => {
      const next =
        "nothing was written: change the owner or the permissions of its folder, or copy the folder elsewhere";
      throw new StrataError("store_failed", `${message}; ${next}`, { file });
    },
    failure: (thrown) => failure(thrown, file),
    trouble: async () => `${message}, and this access is not recorded`,
    close: async () => {
      await database.close();
      remove();
    },
  });
  return { ...store, noteAct: async () => undefined };
}
