import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "./program.ts";

export interface Totals {
  readonly passed: boolean;
  readonly passedTests: number;
  readonly failedTests: number;
  readonly skippedTests: number;
}

/** Runs the tests, all or those whose path holds one of `paths`, and shows them as they run. */
export async function runTests(paths: readonly string[]): Promise<Totals> {
  const folder = mkdtempSync(join(tmpdir(), "strata-tests-"));
  try {
    const file = join(folder, "result.json");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const code = await vitest(["run", "--config=checks/vitest.config.ts", ...reporters, ...paths]);
    return totalsOf(readResult(file), code === 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function vitest(args: readonly string[]): Promise<number> {
  const child = startProgram("vitest/vitest.mjs", args, "inherit");
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => done(code ?? 1));
  });
}

function readResult(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** A file that could not be loaded has no tests to count; it counts as one that failed, as does a run that ended badly without saying where. */
export function totalsOf(result: unknown, passed: boolean): Totals {
  const files = list(field(result, "testResults"));
  const unloaded = files.filter(
    (file) => field(file, "status") === "failed" && list(field(file, "assertionResults")).length === 0,
  );
  const failedTests = count(result, "numFailedTests") + unloaded.length;
  return {
    passed,
    passedTests: count(result, "numPassedTests"),
    failedTests: passed ? failedTests : Math.max(failedTests, 1),
    skippedTests: count(result, "numPendingTests") + count(result, "numTodoTests"),
  };
}

function field(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function count(result: unknown, name: string): number {
  const value = field(result, name);
  return typeof value === "number" ? value : 0;
}
