import { describe, expect, it } from "vitest";
import { jsonLines, place, strata } from "./strata.ts";

interface Remembered {
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly trust: string;
}

const listed = async (cwd: string, ...more: readonly string[]) =>
  jsonLines<readonly Remembered[]>((await strata(["memory", "list", "--json", ...more], { cwd })).out)[0] ?? [];

describe("strata memory", () => {
  it("saves, lists, finds and forgets a memory of one contact", async () => {
    const cwd = place();
    const saved = await strata(["memory", "save", "The bicycle is green.", "--tag", "bicycle", "--tag", "colour"], {
      cwd,
    });
    expect(saved.out).toMatch(/^mem_\w{26} is saved; `strata memory forget mem_/);
    const [memory] = await listed(cwd);
    expect(memory).toMatchObject({ content: "The bicycle is green.", tags: ["bicycle", "colour"], trust: "operator" });
    expect(await listed(cwd, "--as", "bob")).toEqual([]);

    const { out } = await strata(["memory", "search", "green", "bicycle"], { cwd });
    expect(out).toMatch(
      /^mem_\w{26} · \d{4}-.+Z · operator · bicycle, colour\n {2}The bicycle is green\.\n1 memory\n$/,
    );
    expect((await strata(["memory", "search", "aeroplane"], { cwd })).out).toContain('matches "aeroplane"');

    const id = memory?.id ?? "";
    const other = await strata(["memory", "forget", id, "--as", "bob"], { cwd });
    expect(other).toMatchObject({ code: 3, out: "" });
    expect(other.err).toContain(`companion has no memory ${id} about bob: \`strata memory list\``);
    expect((await strata(["memory", "forget", id], { cwd })).out).toBe(`${id} is forgotten.\n`);
    expect((await strata(["memory", "list"], { cwd })).out).toBe("Nothing is remembered about me yet.\n");
  });

  it("shows what the agent itself saved, and at most as many as wanted", async () => {
    const cwd = place();
    const input = "Remember that my cat is called Miso.\nRemember that my dog is called Rex.\n";
    await strata(["chat", "companion", "--as", "ann"], { cwd, input });
    expect((await listed(cwd, "--as", "ann")).map(({ content }) => content)).toEqual([
      "my dog is called Rex",
      "my cat is called Miso",
    ]);
    expect(await listed(cwd, "--as", "ann", "--agent", "companion", "--limit", "1")).toHaveLength(1);
  });

  it.each([
    [["memory", "list", "--limit", "0"], 2, "from 1 to 1000"],
    [["memory", "list", "--agent", "nobody"], 3, 'no agent "nobody"'],
    [["memory", "list", "--as", " ann"], 2, '" ann" is not a contact'],
    [["memory", "forget", "42"], 2, '"42" is not a memory id'],
    [["memory", "save", "  "], 2, "1 to 4000 characters; this one has 0"],
    [["memory", "save", "x", "--tag", "[x]"], 2, "A tag is 1 to 40 letters"],
    [["memory", "save", "x", ...Array(9).fill(["--tag", "y"]).flat()], 2, "at most 8 tags"],
    [["memory", "lst"], 2, "Did you mean list?"],
    [["memory"], 2, "strata memory"],
    [["memory", "list", "--data", "nowhere"], 3, "no data in"],
  ])("strata %j exits with %i and says why", async (argv, exit, says) => {
    const cwd = place();
    await strata(["memory", "save", "Something."], { cwd });
    const { code, out, err } = await strata(argv, { cwd });
    expect(err).toContain(says);
    expect({ code, out }).toEqual({ code: exit, out: "" });
  });
});
