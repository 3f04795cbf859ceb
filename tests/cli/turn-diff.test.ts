import { describe, expect, it } from "vitest";
import { jsonLines, place, project, refuses, remembering, strata } from "./strata.ts";

interface Diff {
  readonly before: { readonly tokens: number };
  readonly after: { readonly tokens: number };
  readonly sections: readonly {
    readonly section: string;
    readonly change: string;
    readonly before?: number;
    readonly after?: number;
  }[];
  readonly texts: readonly { readonly part: string }[];
}

/** The ids of the turns of ann's newest thread. */
async function turnsOf(cwd: string, ...more: readonly string[]): Promise<readonly string[]> {
  const listed = await strata(["thread", "list", "--json", ...more], { cwd });
  const [threads] = jsonLines<readonly { id: string }[]>(listed.out);
  const explained = await strata(["explain", threads?.[0]?.id ?? "", "--json", ...more], { cwd });
  return jsonLines<{ turns: readonly { id: string }[] }>(explained.out)[0]?.turns.map(({ id }) => id) ?? [];
}

describe("strata turn diff", () => {
  it("shows which sections differ, in tokens and line by line", async () => {
    const cwd = place();
    await strata(["chat", "companion"], {
      cwd,
      input: "Remember that my cat is called Miso.\nWhat is my cat called?\n",
    });
    const [first = "", second = ""] = await turnsOf(cwd);
    const { out } = await strata(["turn", "diff", first, second], { cwd });
    expect(out).toMatch(/^[\d,]+ → [\d,]+ tokens \(\+\d+\), \d+ of 12 sections the same$/m);
    expect(out).toMatch(/^transcript +transcript +0 +\d+ +\+\d+ +changed$/m);
    expect(out).toMatch(/^- \| Remember that my cat is called Miso\.\n(.*\n)*\+ \| What is my cat called\?$/m);
    expect(out).not.toMatch(/^system +safety/m);

    const [diff] = jsonLines<Diff>((await strata(["turn", "diff", first, second, "--json"], { cwd })).out);
    const sums = (diff?.sections ?? []).reduce((sum, { before = 0, after = 0 }) => sum + after - before, 0);
    expect(sums).toBe((diff?.after.tokens ?? 0) - (diff?.before.tokens ?? 0));
    expect((await strata(["turn", "diff", first, first], { cwd })).out).toContain("The two requests are the same.");
  });

  it("shows layers that were added, removed and rewritten", async () => {
    const cwd = place();
    const data = ["--data", `${cwd}/.strata`];
    await strata(["chat", "companion", ...data], { cwd, input: "hi\n" });
    const [first = ""] = await turnsOf(cwd, ...data);
    const changed = project((yaml) =>
      yaml
        .replace(
          "- id: workspace\n        rank: 40\n        file: layers/workspace.md",
          "- id: office\n        rank: 40\n        text: The office is closed.",
        )
        .replace("file: layers/conduct.md", "text: Be brief."),
    );
    await strata(["lock"], { cwd: changed });
    await strata(["chat", "companion", "--new", ...data], { cwd: changed, input: "hi\n" });
    const [second = ""] = await turnsOf(changed, ...data);
    const { out } = await strata(["turn", "diff", first, second, ...data], { cwd: changed });
    expect(out).toMatch(/^system +workspace +\d+ +– +-\d+ +removed$/m);
    expect(out).toMatch(/^system +office +– +\d+ +\+\d+ +added$/m);
    expect(out).toMatch(/^system +conduct +\d+ +\d+ +-\d+ +changed$/m);
    expect(out).toContain("+ The office is closed.");
  });

  it.each([
    [["turn", "diff", "trn_01jd8k3v5x9m2q7r4t6w8y0zab"], 2, "missing required argument 'after'"],
    [["turn", "diff", "one", "two"], 2, '"one" is not a turn id'],
    [["turn", "show", "trn_01jd8k3v5x9m2q7r4t6w8y0zab"], 3, "no turn trn_01jd8k3v5x9m2q7r4t6w8y0zab"],
  ])("strata %j exits with %i and says why", async (argv, exit, message) => {
    await refuses(await remembering(), argv, { exit, message });
  });
});
