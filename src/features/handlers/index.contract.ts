import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../../protocol/index.ts";
import { bundle, cageMissing, type Level } from "../../sandbox/index.ts";
import type { Handler } from "./config.ts";

/** The handler of an agent whose module is this text, as `strata.yaml` would have it. @throws Error with the bundler's problems */
export function handlerOf(code: string, change: Partial<Handler> = {}): NonNullable<Agent["handler"]> {
  const folder = mkdtempSync(join(tmpdir(), "strata-handler-"));
  const file = join(folder, "handler.ts");
  writeFileSync(file, code);
  const made = bundle(file, folder);
  if ("problems" in made) throw new Error(made.problems.join("; "));
  const limits = { cpuMs: 100, memoryMb: 16, output: 64_000, calls: 16, logs: 50 };
  return { file: "./handler.ts", ...made, sha256: "0".repeat(64), level: "thread", limits, ...change };
}

/** Whether tests at this level are skipped here, and titles that say so, with the way to enable them. */
export function needs(level: Level): { readonly skip: boolean; readonly title: (text: string) => string } {
  const missing = cageMissing(level);
  return {
    skip: missing !== undefined,
    title: (text) => (missing === undefined ? text : `${text} (skipped: ${missing})`),
  };
}
