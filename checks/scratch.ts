import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A disk in memory: tests open and commit by the thousand, and each time wait for a real one. */
const MEMORY = "/dev/shm";

/** So much room must be there, in bytes; a whole run writes less than half of it. */
const ROOM = 4 * 1024 ** 3;

/** One folder for all that tests write while they run, gone when they are through. */
export function setup(): () => void {
  const folder = mkdtempSync(join(isRoomy() ? MEMORY : tmpdir(), "strata-tests-"));
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
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
