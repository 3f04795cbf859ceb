import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: join(import.meta.dirname, ".."),
  // What a module of a user imports: in a program a hook of Node's gives it.
  resolve: { alias: { strata: join(import.meta.dirname, "../src/index.ts") } },
  test: {
    include: ["src/**/*.test.ts", "tests/**/*.test.ts", "examples/**/*.test.ts"],
    testTimeout: 30_000,
    // Two at a time: the machines that run this have two cores, and more would only make slow tests look hung.
    maxWorkers: 2,
    // No key of the machine that runs the tests may reach a test: a suite that passes offline must pass everywhere.
    env: { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "", NO_COLOR: "1" },
  },
});
