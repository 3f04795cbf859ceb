import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { SlowestFirst } from "./slowest-first.ts";

/** What Node has compiled for the programs that tests start: each start of one takes half as long. Programs keep theirs there, too. */
const COMPILED = join(tmpdir(), "node-compile-cache");

export default defineConfig({
  root: join(import.meta.dirname, ".."),
  // What a module of a user imports: in a program a hook of Node's gives it.
  resolve: { alias: { strata: join(import.meta.dirname, "../src/index.ts") } },
  test: {
    include: ["src/**/*.test.ts", "tests/**/*.test.ts", "examples/**/*.test.ts"],
    globalSetup: "checks/scratch.ts",
    setupFiles: "checks/properties.ts",
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What is waited for comes at once on a quiet machine, and on a busy one it comes.
    expect: { poll: { timeout: 20_000 } },
    // One more than there are cores: for a third of the time a test waits for PostgreSQL, for a program that it started, or for a timer.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowestFirst },
    // The files of a worker share its modules, which takes a fifth off the run: parts are passed in, and what a test puts in place of a global goes with it.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // No key of the machine that runs the tests may reach a test: a suite that passes offline must pass everywhere.
    env: { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "", NO_COLOR: "1", NODE_COMPILE_CACHE: COMPILED },
  },
});
