import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { jailMissing, openJail } from "./jail.ts";
import { Pool, type PoolOptions } from "./pool.ts";
import { openThread } from "./thread.ts";

/** How strong the cage is: a VM in a thread of this program, or the same VM in a process that sees nothing of the machine. */
export const LEVELS = ["thread", "process"] as const;
export type Level = (typeof LEVELS)[number];

/** The missing requirement of this level, as a sentence with the next step; undefined if it can run. */
export function cageMissing(level: Level): string | undefined {
  // The newest of what the cage measures with.
  if (!Reflect.has(Worker.prototype, "cpuUsage"))
    return `handlers need Node 24.6 or newer, which measures the CPU time of a thread; this is ${process.version}`;
  try {
    createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm");
  } catch {
    return "handlers run in quickjs-wasi, which is not installed: run `npm install quickjs-wasi`";
  }
  const missing = level === "process" ? jailMissing() : undefined;
  return missing && `the cage's level \`process\` cannot run here: ${missing}; or set the level to \`thread\``;
}

/** A pool of this level. Nothing starts before the first slice. */
export function openCage(level: Level, options: PoolOptions): Pool {
  return new Pool(level === "process" ? openJail : openThread, options);
}
