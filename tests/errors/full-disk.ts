import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, cpSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { onTestFinished, vi } from "vitest";
import { project } from "../cli/strata.ts";

/** A place with a companion whose data folder can run out of room. */
export interface Disk {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Takes all room that is left. */
  readonly fill: () => void;
  /** Gives it back. */
  readonly free: () => void;
}

/** Whether this machine lets us mount a file system: Linux does for root. */
export const MAY_MOUNT: boolean = mounts();

function mounts(): boolean {
  const folder = project();
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", folder]).status !== 0) return false;
  return spawnSync("umount", [folder]).status === 0;
}

/** A real file system of four megabytes, and a file that takes what is left of it. */
export function smallDisk(): Disk {
  const cwd = project();
  const disk = join(cwd, "disk");
  mkdirSync(disk);
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]);
  onTestFinished(() => void spawnSync("umount", [disk]));
  const ballast = join(disk, "ballast");
  return {
    cwd,
    env: { STRATA_DATA: join(disk, "data") },
    fill: () => writeUntilFull(ballast),
    free: () => rmSync(ballast),
  };
}

/** Whether a folder can be made that nobody here may write: for root only a file system is one. */
export const MAY_SEAL: boolean = MAY_MOUNT || process.getuid?.() !== 0;

/** Puts a data folder, as a program that still runs has left it, where nothing can be written; gives the place. */
export function sealed(data: string): string {
  const { disk, seal } = MAY_MOUNT ? readOnlyMount() : readOnlyFolder();
  const place = join(disk, "data");
  // Whoever copies a folder by hand may leave out what SQLite makes anew.
  cpSync(data, place, { recursive: true, filter: (path) => !path.endsWith("-shm") });
  seal(place);
  return place;
}

interface Sealing {
  readonly disk: string;
  readonly seal: (folder: string) => void;
}

function readOnlyMount(): Sealing {
  const disk = join(smallDisk().cwd, "disk");
  return { disk, seal: () => void spawnSync("mount", ["-o", "remount,ro", disk]) };
}

function readOnlyFolder(): Sealing {
  const disk = project();
  const seal = (folder: string): void => {
    const files = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isFile());
    for (const { name } of files) chmodSync(join(folder, name), 0o400);
    chmodSync(folder, 0o500);
    onTestFinished(() => chmodSync(folder, 0o700));
  };
  return { disk, seal };
}

function writeUntilFull(file: string): void {
  const descriptor = openSync(file, "w");
  const page = Buffer.alloc(4_096);
  try {
    for (;;) writeSync(descriptor, page);
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ENOSPC")) throw thrown;
  } finally {
    closeSync(descriptor);
  }
}

/** Where nothing can be mounted: SQLite itself says that the disk is full as soon as its file would have to grow. */
export function limitedFile(): Disk {
  const cwd = project();
  const { pragma } = BetterSqlite3.prototype;
  let isFull = false;
  const limited = vi.spyOn(BetterSqlite3.prototype, "pragma").mockImplementation(function (
    this: BetterSqlite3.Database,
    ...given: Parameters<typeof pragma>
  ) {
    const answer: unknown = pragma.apply(this, given);
    // SQLite takes no number below the pages there are: none may follow.
    if (isFull) pragma.call(this, "max_page_count = 1");
    return answer;
  });
  onTestFinished(() => limited.mockRestore());
  return {
    cwd,
    env: {},
    fill: () => {
      isFull = true;
    },
    free: () => {
      isFull = false;
    },
  };
}
