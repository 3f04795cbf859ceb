import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { number } from "../../../print/index.ts";
import type { CoreErrorCode } from "../../../protocol/index.ts";

/** The result of one check. `code` is the kind of failure. */
export interface Check {
  readonly what: string;
  readonly state: "ok" | "warn" | "fail";
  readonly message: string;
  readonly code?: CoreErrorCode;
}

export type Outcome = Omit<Check, "what">;
export const ok = (message: string): Outcome => ({ state: "ok", message });
export const warn = (message: string): Outcome => ({ state: "warn", message });

/** The oldest Node that runs Strata; the same as in package.json. */
export const OLDEST_NODE = [22, 18] as const;

export function node(): Outcome {
  const { version, platform, arch } = process;
  const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
  const here = `Node ${version.slice(1)} on ${platform} ${arch}`;
  const [needed, least] = OLDEST_NODE;
  if (major < needed || (major === needed && minor < least)) {
    return { state: "fail", message: `${here}; Strata needs ${needed}.${least} or newer: install it from nodejs.org` };
  }
  return platform === "win32" ? warn(`${here}; on Windows, Strata is tested only with WSL: run it there`) : ok(here);
}

export function timeZones(): Outcome {
  const noon = new Date("2026-01-01T12:00:00Z");
  const there = new Intl.DateTimeFormat("en", { timeZone: "Asia/Tokyo", hour: "numeric", hourCycle: "h23" }).format(
    noon,
  );
  if (there === "21") return ok(`time zone data ${process.versions["tz"] ?? "of the system"}`);
  return warn("this Node does not know time zones, so clock layers show UTC; install a Node with full ICU");
}

/** Under this much room a write may soon fail. */
const LITTLE = 200_000_000;

export function dataFolder(data: string): Outcome {
  const exists = existsSync(data);
  if (exists && !statSync(data).isDirectory()) {
    return { state: "fail", message: `${data} is not a folder; name another with --data`, code: "file_not_found" };
  }
  let there = data;
  while (!existsSync(there)) there = dirname(there);
  try {
    accessSync(there, constants.W_OK);
  } catch {
    const message = `${there} cannot be written by this user; change its owner or permissions, or name another with --data`;
    return { state: "fail", message, code: "store_failed" };
  }
  const { bavail, bsize } = statfsSync(there);
  const free = `${bytes(bavail * bsize)} free`;
  const message = exists
    ? `${data} holds ${bytes(folderSize(data))}, ${free}`
    : `${data} will be created at the first use, ${free}`;
  return bavail * bsize < LITTLE ? warn(`${message}; free some space before the disk is full`) : ok(message);
}

function folderSize(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => {
    // A file may be gone since it was listed: the database's side files come and go.
    return sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0);
  }, 0);
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

function bytes(size: number): string {
  const step = size < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(size) / 3));
  return `${number(size / 1_000 ** step)} ${UNITS[step]}`;
}
