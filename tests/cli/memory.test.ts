import { describe, expect, it } from "vitest";
import { jsonLines, place, refuses, remembering, strata } from "./strata.ts";

interface Remembered {
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly trust: string;
}

const listed = async (cwd: string, ...more: readonly string[]) =>
  jsonLines<readonly Remembered[]>((await strata(["memory", "list", "--json", ...more], { cwd })).out)[0] ?? [];

describe("strata memory", () => {
  it.each([["--as", "ann"], ["--as", "Ann Lee's"], ["--agent-own"]])(
    "advises a command that takes back what was saved with %s %s",
    async (...whose) => {
      const cwd = place();
      const id = (await strata(["memory", "save", "The bicycle is green.", ...whose], { cwd })).out.slice(0, 30);
      const { out } = await strata(["memory", "save", "The car is red.", ...whose], { cwd });
      const [, shown = ""] = /`strata ([^`]+)`/.exec(out) ?? [];
      const words = [...shown.matchAll(/(?:'((?:[^']|'\\'')*)'|(\S+))/g)].map(([, a, b]) =>
        (a ?? b ?? "").replaceAll("'\\''", "'"),
      );
      expect((await strata(words, { cwd })).out).toContain("is forgotten");
      expect((await listed(cwd, ...whose)).map((one) => `${one.id}`)).toEqual([id]);
    },
  );

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
    const none = await strata(["memory", "list"], { cwd });
    expect(none.out).toBe("Nothing is remembered about me yet.\n");
    expect(none.err).toContain("Messages are listed separately, with `--kind message`.");
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

  it("the agent's own memories are for all its contacts: a search finds them, a contact's list has them not", async () => {
    const cwd = place();
    await strata(["memory", "save", "The shop closes at six.", "--agent-own", "--kind", "block"], { cwd });
    await strata(["memory", "save", "Ann closes her shop at five."], { cwd });
    const { out } = await strata(["memory", "search", "shop"], { cwd });
    expect(out).toMatch(/ · operator · block · for all contacts\n {2}The shop closes at six\.\n/);
    expect(out).toContain("2 memories");
    expect((await listed(cwd)).map(({ content }) => content)).toEqual(["Ann closes her shop at five."]);
    expect((await listed(cwd, "--agent-own")).map(({ content }) => content)).toEqual(["The shop closes at six."]);
    const own = await strata(["memory", "search", "shop", "--agent-own"], { cwd });
    expect(own.out).not.toContain("Ann");
  });

  it("a memory replaces another, which stays in the record", async () => {
    const cwd = place();
    await strata(["memory", "save", "Lives in Oslo.", "--tag", "home"], { cwd });
    const [old] = await listed(cwd);
    const id = old?.id ?? "";
    const saved = await strata(["memory", "save", "Lives in Rome.", "--supersedes", id, "--from", "2026-11-01"], {
      cwd,
    });
    expect(saved.out).toMatch(new RegExp(`is saved; .+\nIt replaces ${id}, which is no longer found\\.\n$`));
    expect((await listed(cwd)).map(({ content }) => content)).toEqual(["Lives in Rome."]);
    expect(await listed(cwd, "--superseded")).toHaveLength(2);
    const { out } = await strata(["memory", "show", id], { cwd });
    expect(out).toMatch(new RegExp(`^${id}\nkind +fact\ntrust +operator\nsaved by +local:operator\nat `));
    expect(out).toMatch(/\nsuperseded +by mem_\w{26}, \d{4}.+\n\n {2}Lives in Oslo\.\n$/);
    expect((await strata(["memory", "search", "Oslo"], { cwd })).out).toContain('matches "Oslo"');
  });

  it("says when the very same is saved again", async () => {
    const cwd = place();
    await strata(["memory", "save", "Likes tea."], { cwd });
    const again = await strata(["memory", "save", "likes  TEA"], { cwd });
    expect(again.out).toMatch(/^mem_\w{26} already says the same: it now counts as said 2 times\.\n$/);
    const told = await strata(["memory", "save", "Likes tea.", "--json"], { cwd });
    expect(jsonLines(told.out)).toMatchObject([{ content: "Likes tea.", support: 3, merged: true, evicted: [] }]);
    expect((await strata(["memory", "list"], { cwd })).out).toContain(" · operator · 3 times\n");
  });

  it("lists by kind, tag, time and trust, and counts by kind", async () => {
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "Remember that my cat is called Miso.\n" });
    await strata(["memory", "save", "The bicycle is green.", "--tag", "bicycle"], { cwd });
    const contents = async (...argv: readonly string[]) => (await listed(cwd, ...argv)).map(({ content }) => content);
    expect(await contents("--tag", "bicycle")).toEqual(["The bicycle is green."]);
    expect(await contents("--trust", "operator")).toEqual(["The bicycle is green."]);
    expect(await contents("--since", "2999-01-01")).toEqual([]);
    expect(await contents("--before", "2999-01-01T00:00:00Z")).toHaveLength(2);
    expect(await contents("--kind", "message")).toHaveLength(2);
    const { out } = await strata(["memory", "stats"], { cwd });
    expect(out).toMatch(/^kind +memories +characters +newest\nfact +2 +\d+ +2.+Z\nmessage +2 +\d+ +2.+Z\n$/);
    expect((await strata(["memory", "stats", "--as", "eve"], { cwd })).out).toBe(
      "Nothing is remembered about eve yet.\n",
    );
  });

  it("memory explain shows candidates with scores and features in 80 columns", async () => {
    const cwd = place();
    await strata(["chat", "companion"], {
      cwd,
      input: "Yesterday I saw Ida at the shop in Oslo.\nRemember that Ida likes 3 teas.\n",
    });
    const { out } = await strata(["memory", "explain", "When", "did", "I", "see Ida in Oslo?"], {
      cwd,
      columns: 80,
      env: { NO_COLOR: "1" },
    });
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^# +score +evidence +\w+/);
    expect(lines[1]).toMatch(/^1 +\d+\.\d\d +\d+\.\d\d/);
    expect(out).toContain("Yesterday I saw Ida at the shop in Oslo.");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    const [told] = jsonLines<{ readonly hits: readonly { readonly features: object }[] }>(
      (await strata(["memory", "explain", "Ida", "--json"], { cwd })).out,
    );
    expect(Object.keys(told?.hits[0]?.features ?? {}).length).toBeGreaterThan(0);
    expect((await strata(["memory", "explain", "zebra"], { cwd })).out).toBe(
      'Nothing about me shares a word with "zebra".\n',
    );
  });

  it.each([
    [["memory", "save", `The key is AKIA${"IOSFODNN7EXAMPLE"}`], 2, "an AWS access key, at character 12"],
    [["memory", "save", "x", "--supersedes", "mem_01jd8k3v5x9m2q7r4t6w8y0zab"], 3, "mem_01jd8k3v5x9m2q7r4t6w8y0zab"],
    [
      ["memory", "show", "mem_01jd8k3v5x9m2q7r4t6w8y0zab", "--agent-own"],
      3,
      "companion has no memory mem_01jd8k3v5x9m2q7r4t6w8y0zab of its own",
    ],
    [["memory", "list", "--agent-own", "--as", "ann"], 2, "cannot be used with"],
    [["memory", "list", "--kind", "facts"], 2, 'one of "message", "fact", "block", "summary"'],
    [["memory", "list", "--since", "yesterday"], 2, "a date such as 2026-11-21"],
    [["memory", "explain", " "], 2, "`<query>` must be a text that says something"],
    [["memory", "list", "--limit", "0"], 2, "from 1 to 1000"],
    [["memory", "list", "--agent", "nobody"], 3, 'no agent "nobody"'],
    [["memory", "list", "--as", " ann"], 2, '" ann" is not a contact'],
    [["memory", "forget", "42"], 2, '"42" is not a memory id'],
    [["memory", "save", "  "], 2, "`<content>` must be a text that says something"],
    [["memory", "save", "x", "--tag", "[x]"], 2, "`--tag` must be 1 to 40 letters"],
    [["memory", "save", "x", ...Array(9).fill(["--tag", "y"]).flat()], 2, "at most 8 values"],
    [["memory", "lst"], 2, "Did you mean list?"],
    [["memory"], 2, "strata memory"],
    [["memory", "list", "--data", "nowhere"], 3, "no data in"],
  ])("strata %j exits with %i and says why", async (argv, exit, message) => {
    await refuses(await remembering(), argv, { exit, message });
  });
});
