import { describe, expect, it } from "vitest";
import { type Around, strata } from "../cli/strata.ts";
import { type Disk, limitedFile, MAY_MOUNT, smallDisk } from "./full-disk.ts";

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
