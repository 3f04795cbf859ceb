// Behind `npm test`: every check, in one order, here and in CI. `npm test -- src/guard` narrows the tests, not the other checks.
import { checkDocs } from "./docs.ts";
import { checkProjectLimits } from "./limits.ts";
import { HAS_EYES, startProgram } from "./program.ts";
import { checkProjectRooms } from "./rooms.ts";
import { runTests, type Totals } from "./tests.ts";

interface Outcome {
  readonly passed: boolean;
  readonly output: string;
}

interface Check {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

/** What the last run found out about types: only what has changed since is looked at again. */
const KNOWN_TYPES = ["--incremental", "--tsBuildInfoFile", "node_modules/.cache/types.json"];

const CHECKS: readonly Check[] = [
  {
    name: "format and lint",
    run: () =>
      program("@biomejs/biome/bin/biome", ["ci", "--error-on-warnings", `--colors=${HAS_EYES ? "force" : "off"}`]),
  },
  { name: "types", run: () => program("typescript/bin/tsc", ["--project", "tsconfig.json", ...KNOWN_TYPES]) },
  { name: "rooms", run: () => problems(checkProjectRooms) },
  { name: "limits", run: () => problems(checkProjectLimits) },
  { name: "docs", run: () => problems(checkDocs) },
];

async function main(paths: readonly string[]): Promise<void> {
  const failed: string[] = [];
  // Side by side, programs of their own first: each of them leaves a core idle for half of its time.
  const running = CHECKS.map(({ name, run }) => ({ name, outcome: timed(run) }));
  for (const { name, outcome } of running) {
    const { passed, output, seconds } = await outcome;
    report(name, passed, seconds);
    if (!passed) failed.push(name);
    if (!passed) process.stdout.write(`${output.trimEnd()}\n\n`);
  }
  const tests = await timed(() => runTests(paths));
  report("tests", tests.passed, tests.seconds);
  if (!tests.passed) failed.push("tests");
  summarise(failed, tests);
}

function report(name: string, passed: boolean, seconds: string): void {
  console.log(`${passed ? "ok    " : "FAILED"}  ${name.padEnd(16)} ${seconds.padStart(6)} s`);
}

/** The last line stands alone and in one plain form, so that a program can read it. */
function summarise(failed: readonly string[], { passedTests, failedTests, skippedTests }: Totals): void {
  if (failed.length > 0) console.log(`\nThese checks failed: ${failed.join(", ")}.`);
  const skipped = skippedTests > 0 ? `, ${skippedTests} skipped` : "";
  console.log(`\n${passedTests} passed, ${failedTests} failed${skipped}`);
  if (failed.length > 0) process.exitCode = 1;
}

async function timed<T>(run: () => Promise<T>): Promise<T & { readonly seconds: string }> {
  const start = performance.now();
  const result = await run();
  return { ...result, seconds: ((performance.now() - start) / 1000).toFixed(1) };
}

/** Its output is kept for the case that it fails. */
function program(path: string, args: readonly string[]): Promise<Outcome> {
  const child = startProgram(path, args, "pipe");
  const output: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => output.push(chunk));
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", (code) => done({ passed: code === 0, output: Buffer.concat(output).toString("utf8") }));
  });
}

async function problems(check: () => readonly string[] | Promise<readonly string[]>): Promise<Outcome> {
  try {
    const found = await check();
    return { passed: found.length === 0, output: found.join("\n") };
  } catch (error) {
    return { passed: false, output: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

await main(process.argv.slice(2));
