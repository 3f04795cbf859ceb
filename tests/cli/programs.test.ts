import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, place, ROOT, recording, strata } from "./strata.ts";

interface Told {
  readonly error: { readonly code: string; readonly message: string };
}

/** The one error that a program is told. */
async function errorOf(argv: readonly string[], cwd = place()) {
  const { code, out, err } = await strata([...argv, "--json"], { cwd });
  const [told, ...more] = jsonLines<Told>(err);
  expect({ out, more }).toEqual({ out: "", more: [] });
  return { exit: code, code: told?.error.code, message: told?.error.message };
}

describe("a program that asks for JSON", () => {
  it.each([
    [["chat", "companion", "--nwe"], "unknown option '--nwe' (Did you mean --new?); --help tells more"],
    [["chta"], "unknown command 'chta' (Did you mean chat?); --help tells more"],
    [["compose"], "missing required argument 'agent'; --help tells more"],
    [["start", "--port", "99999"], expect.stringContaining("from 0 to 65535")],
    [["thread"], "no command was named; --help tells more"],
  ])("is told in JSON that strata %j is misuse", async (argv, message) => {
    expect(await errorOf(argv)).toEqual({ exit: 2, code: "invalid_input", message });
  });

  it("is told that a memory is not there by the error of its own", async () => {
    const cwd = place();
    await strata(["memory", "save", "Something."], { cwd });
    const told = await errorOf(["memory", "forget", "mem_01jd8k3v5x9m2q7r4t6w8y0zab"], cwd);
    expect(told).toMatchObject({ exit: 3, code: "memory_not_found" });
  });
});

describe("what would be misunderstood is refused", () => {
  it("--request without --wire", async () => {
    const { exit, message } = await errorOf(["turn", "trn_01jd8k3v5x9m2q7r4t6w8y0zab", "--request", "2"]);
    expect(exit).toBe(2);
    expect(message).toContain("--wire");
  });

  it("--data that names a file, by commands that write and by those that look", async () => {
    const cwd = place();
    writeFileSync(join(cwd, "data"), "mine");
    for (const argv of [["chat", "companion"], ["verify"]]) {
      const told = await errorOf([...argv, "--data", "data"], cwd);
      expect(told).toMatchObject({ exit: 3, code: "file_not_found" });
      expect(told.message).toContain("data is a file, not a folder");
    }
  });

  it("an export over a file that exists, without --force", async () => {
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    writeFileSync(join(cwd, "talks.jsonl"), "mine");
    const refused = await errorOf(["export", "--out", "talks.jsonl"], cwd);
    expect(refused).toMatchObject({ exit: 2, message: expect.stringContaining("--force") });
    expect(readFileSync(join(cwd, "talks.jsonl"), "utf8")).toBe("mine");
    expect((await strata(["export", "--out", "talks.jsonl", "--force"], { cwd })).code).toBe(0);
    expect(jsonLines(readFileSync(join(cwd, "talks.jsonl"), "utf8"))).toHaveLength(2);
  });
});

describe("README.md", () => {
  const text = readFileSync(join(ROOT, "README.md"), "utf8");

  it("shows lines that replay takes", async () => {
    const cwd = place();
    const lines = text.split("\n").filter((line) => line.startsWith('{"thread"'));
    expect(lines).toHaveLength(4);
    recording(cwd, lines, "talk.jsonl");
    const replayed = await strata(["replay", "talk.jsonl", "--agent", "companion", "--replies", "recorded"], { cwd });
    expect(replayed).toMatchObject({ code: 0 });
    expect((await strata(["export"], { cwd })).out).toContain("It is 20 minutes late.");
  });

  it("tells how a backup is taken back, and so it is", async () => {
    for (const name of ["strata.db-wal", "strata.db-shm", "as `strata.db`", "`verify`"]) expect(text).toContain(name);
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    await strata(["backup", "monday.db"], { cwd });
    await strata(["chat", "companion"], { cwd, input: "and again\n" });
    writeFileSync(join(cwd, ".strata/strata.db"), readFileSync(join(cwd, "monday.db")));
    for (const side of ["wal", "shm"]) expect(existsSync(join(cwd, `.strata/strata.db-${side}`))).toBe(false);
    expect((await strata(["verify"], { cwd })).out).toContain("The record is complete and unchanged.");
    expect((await strata(["export"], { cwd })).out).not.toContain("and again");
  });
});
