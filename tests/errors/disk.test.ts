import { readdirSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { type Around, project, strata } from "../cli/strata.ts";
import { type Disk, limitedFile, MAY_MOUNT, MAY_SEAL, sealed, smallDisk } from "./full-disk.ts";

const chat = ({ cwd, env }: Disk, input: string) => strata(["chat", "companion"], { cwd, env, input });

/** Every text of the only conversation, in order. */
async function told(around: Around): Promise<string> {
  const { out } = await strata(["thread", "list", "--json"], around);
  const [thread]: readonly { readonly id: string }[] = JSON.parse(out);
  return (await strata(["thread", "show", thread?.id ?? ""], around)).out;
}

async function fillsAndIsFreed(disk: Disk): Promise<void> {
  expect((await chat(disk, "Please remember that my cat is called Miso.\n")).code).toBe(0);
  disk.fill();
  const full = await chat(disk, `${"A long story. ".repeat(300)}\n`);
  expect(full.err).toMatch(/the disk that holds \S+strata\.db is full; nothing was written: free some space/);
  expect({ code: full.code, out: full.out }).toEqual({ code: 8, out: "" });

  disk.free();
  const again = await chat(disk, "What do you know about my cat?\n");
  expect(again.code).toBe(0);
  expect(again.out).toContain("Miso");
  expect((await strata(["verify"], disk)).out).toContain("The record is complete and unchanged.");
  const texts = await told(disk);
  expect(texts).toContain("my cat is called Miso");
  expect(texts).toContain("What do you know about my cat?");
}

describe("a full disk loses nothing, and all continues when there is room again", () => {
  it.skipIf(!MAY_MOUNT)(
    "on a real file system of four megabytes (needs Linux and root, as `sudo npm test` gives)",
    () => fillsAndIsFreed(smallDisk()),
  );

  it("in a file that may not grow, as SQLite tells of a full disk", () => fillsAndIsFreed(limitedFile()));
});

describe("a data folder that cannot be written", () => {
  /** What was said last is still in SQLite's log, for another program has the file open. */
  async function unwritable(): Promise<Around & { readonly data: string }> {
    const cwd = project();
    await strata(["chat", "companion"], { cwd, input: "Please remember that my cat is called Miso.\n" });
    const other = new BetterSqlite3(join(cwd, ".strata/strata.db"));
    other.prepare("select count(*) from event").get();
    await strata(["chat", "companion"], { cwd, input: "And the dog is called Rex.\n" });
    const data = sealed(join(cwd, ".strata"));
    other.close();
    return { cwd, data, env: { STRATA_DATA: data } };
  }

  it.skipIf(!MAY_SEAL)(
    "25.9 is read all the same, without a trace, and what is asked to write is refused (needs Linux, and a user who is not root or may mount)",
    async () => {
      const on = await unwritable();
      const before = readdirSync(on.data);
      expect(before).toContain("strata.db-wal");
      for (const [argv, shows] of [
        [["verify"], "The record is complete and unchanged."],
        [["thread", "list"], "chat"],
        [["memory", "list"], "Miso"],
        [["inbox", "list"], "Nothing waits"],
        [["explain"], "turn"],
        [["export"], "And the dog is called Rex."],
      ] as const) {
        const { code, out, err } = await strata(argv, on);
        expect({ argv, code, out, err }).toEqual({ argv, code: 0, out: expect.stringContaining(shows), err });
        expect(err).toContain("cannot be written by this user, so a copy of it is read");
      }
      const doctor = await strata(["doctor"], on);
      expect(doctor.out).toMatch(/ok {4}record +home has \d+ links/);
      expect(doctor.out).toMatch(/fail {2}data +\S+\s+cannot be written/);
      for (const argv of [
        ["memory", "save", "Something."],
        ["thread", "withdraw", JSON.parse((await strata(["thread", "list", "--json"], on)).out)[0].id],
      ]) {
        const refused = await strata(argv, on);
        expect({ argv, ...refused }).toMatchObject({ code: 8, out: "", err: expect.stringContaining("cannot be") });
      }
      expect(readdirSync(on.data)).toEqual(before);
    },
  );
});
