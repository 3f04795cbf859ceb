import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, project, strata } from "./strata.ts";

/** The companion has talked, remembers something, has a file, and is called `assistant` in strata.yaml since. */
async function renamed() {
  const cwd = project();
  const run = (line: string, input?: string) => strata(line.split(" "), { cwd, ...(input !== undefined && { input }) });
  await run("chat companion", "My name is Ann and I like jasmine tea.\n");
  await run("memory save Ann's_bicycle_is_green.");
  const file = join(cwd, "strata.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^ {2}companion:/m, "  assistant:"));
  expect((await run("lock")).out).toContain("assistant");
  return { run, cwd };
}

describe("25.15 strata agent rename", () => {
  it("gives the new name what the old one had, after which conversations go on and nothing is left behind", async () => {
    const { run } = await renamed();
    expect((await run("doctor")).out).toContain("strata agent rename companion assistant");
    const done = await run("agent rename companion");
    expect(done).toMatchObject({ code: 0, out: "All that was kept of companion is now kept of assistant.\n" });
    expect((await run("memory search bicycle")).out).toContain("green");
    const threads = async (): Promise<unknown> => jsonLines((await run("thread list --json")).out)[0];
    expect(await threads()).toMatchObject([{ scope: { agent: "assistant" }, turns: 1 }]);
    const chat = await run("chat assistant", "What do I like?\n");
    expect(chat).toMatchObject({ code: 0 });
    expect(await threads()).toMatchObject([{ scope: { agent: "assistant" }, turns: 2 }]);
    expect((await run("verify")).code).toBe(0);
    expect((await run("doctor")).out).not.toContain("no longer declared");
    expect((await run("agent rename companion")).err).toContain("nothing is kept of an agent companion");
  });

  it("does nothing while the old name is declared, and refuses a new one with a record of its own", async () => {
    const { run, cwd } = await renamed();
    await run("chat assistant", "Hello.\n");
    const taken = await run("agent rename companion");
    expect(taken).toMatchObject({ code: 2, err: expect.stringContaining("assistant has a record of its own") });
    const file = join(cwd, "strata.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^ {2}assistant:/m, "  companion:"));
    await run("lock");
    const declared = await run("agent rename companion");
    expect(declared).toMatchObject({ code: 2, err: expect.stringContaining("companion is still declared") });
    expect((await run("verify")).code).toBe(0);
  });
});
