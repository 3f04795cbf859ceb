import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./files.ts";

const LIFELINE = pathToFileURL(join(ROOT, "bootstrap/lifeline.mjs")).href;

/** Colours are for eyes: a log that a program reads gets none. */
export const HAS_EYES = process.stdout.isTTY === true;

/** Starts a program of an installed package, given as its path in `node_modules`. It ends when we are killed. */
export function startProgram(path: string, args: readonly string[], output: "pipe" | "inherit"): ChildProcess {
  return spawn(process.execPath, ["--import", LIFELINE, join(ROOT, "node_modules", path), ...args], {
    cwd: ROOT,
    env: { ...process.env, STRATA_PARENT: String(process.pid), ...(HAS_EYES ? {} : { NO_COLOR: "1" }) },
    stdio: ["ignore", output, output],
  });
}
