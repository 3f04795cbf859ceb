#!/usr/bin/env node
/**
 * The `strata` program: wires the process to `run` and leaves with its exit code. It acts when it is loaded, so that the
 * bootstrap can import it instead of starting another process.
 */

// Providers' packages read the environment while they are loaded, and refuse an empty address. Here, as everywhere in Strata, an empty
// variable counts as not set.
for (const name of ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"]) if (process.env[name] === "") delete process.env[name];

// All else is imported behind this: an old Node cannot even link it.
await import("../../app/entry/node-version.ts").catch((tooOld: unknown) => {
  process.stderr.write(`strata: ${tooOld instanceof Error ? tooOld.message : tooOld}\n`);
  process.exit(1);
});
const { enableCompileCache } = await import("node:module");

// Compiled once and kept in the system's temporary folder: the next start takes about half as long. Earlier imports are compiled each time.
enableCompileCache();
const { StrataError } = await import("../../protocol/index.ts");
const { run } = await import("./run.ts");

const ending = new AbortController();

const abortWork = (): void =>
  ending.abort(new StrataError("turn_cancelled", "stopped; unfinished work continues with the next run"));

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  // The first is heard by the command, which ends in order; the second ends at once.
  process.on(signal, () => (ending.signal.aborted ? process.exit(130) : abortWork()));
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // The reader has seen enough: `strata explain | head` is not a failure. A terminal that is gone gets no message.
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
}

const { stdin, stdout, stderr, env } = process;
const terminal = { stdin, stdout, stderr, env, cwd: process.cwd(), signal: ending.signal };
const code = await run(process.argv.slice(2), terminal, (hear) => {
  // One tool that leaves an error behind must not end the conversations of all others.
  process.on("uncaughtException", hear);
  process.on("unhandledRejection", hear);
});

// Only once everything is written; and then even if a pipe without a reader or writer is still open.
await Promise.all([stdout, stderr].map((stream) => new Promise((done) => stream.write("", done))));
process.exit(code);
