import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPrograms, stopServer, WITHOUT_POSTGRES } from "./postgres.ts";
import { bringPostgres } from "./postgres-package.ts";

/** A disk in memory: tests open and commit by the thousand, and each time wait for a real one. */
const MEMORY = "/dev/shm";

/** So much room must be there, in bytes; a whole run writes less than half of it. */
const ROOM = 4 * 1024 ** 3;

const NAME = "strata-scratch-";

/** One folder for all that tests write while they run, gone when they are through; and the end of the PostgreSQL that they may have started. */
export async function setup(): Promise<() => Promise<void>> {
  const base = isRoomy() ? MEMORY : tmpdir();
  sweep(base);
  const folder = mkdtempSync(join(base, `${NAME}${process.pid}-`));
  process.env["TMPDIR"] = folder;
  if (!process.env["DATABASE_URL"] && findPrograms() === undefined)
    await bringPostgres().catch((thrown) =>
      console.warn(`\nTests on PostgreSQL are skipped: ${WITHOUT_POSTGRES} (${thrown.message})\n`),
    );
  return async () => {
    await stopServer();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Whether there is a disk in memory with room, from which programs may be started, too. */
function isRoomy(): boolean {
  if (!existsSync(MEMORY) || !existsSync("/proc/mounts")) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  const mount = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .find((line) => line.split(" ")[1] === MEMORY);
  return bavail * bsize > ROOM && mount !== undefined && !/\bnoexec\b/.test(mount);
}

/** Takes away what runs of this user have left that were killed. */
function sweep(base: string): void {
  for (const name of readdirSync(base).filter((one) => one.startsWith(NAME))) {
    const left = join(base, name);
    const mine = statSync(left, { throwIfNoEntry: false })?.uid === process.getuid?.();
    if (mine && !isAlive(Number.parseInt(name.slice(NAME.length), 10))) rmSync(left, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, and somebody else's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
