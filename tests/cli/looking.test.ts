import { describe, expect, it } from "vitest";
import { speaking } from "./speech.ts";
import { jsonLines, place, project, provider, refuses, strata } from "./strata.ts";

interface Listed {
  readonly id: string;
}

/** A folder in which ann has said two things and bob one. */
async function stage() {
  const cwd = place();
  await strata(["chat", "companion", "--as", "bob"], { cwd, input: "hi\n" });
  await strata(["chat", "companion", "--as", "ann"], { cwd, input: "hi\nRemember that my cat is called Miso.\n" });
  const [threads] = jsonLines<readonly Listed[]>((await strata(["thread", "list", "--json"], { cwd })).out);
  return { cwd, threads: threads ?? [] };
}

describe("strata thread", () => {
  it("lists the threads of all contacts or of one, as wide as a small terminal", async () => {
    const { cwd, threads } = await stage();
    expect(threads).toHaveLength(2);
    const { out } = await strata(["thread", "list", "--as", "bob", "--agent", "companion"], { cwd });
    expect(out).toMatch(
      /^thread +agent +contact +channel +turns +active\nthr_\w+ +companion +bob +chat +1 +just now\n$/,
    );
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect((await strata(["thread", "list", "--limit", "1", "--json"], { cwd })).out).toContain('"contact":"ann"');
  });

  it("shows what was said, and by whom", async () => {
    const { cwd, threads } = await stage();
    const { out } = await strata(["thread", "show", threads[0]?.id ?? ""], { cwd });
    expect(out).toMatch(
      /ann\n {2}Remember that my cat is called Miso\.\n\n\d{4}-\d\d-\d\d \d\d:\d\d {2}companion\n {2}I saved/,
    );
    expect(out).toContain("4 messages, times in UTC");
    const [shown] = jsonLines<{ slots: readonly { from: string; text: string }[]; waiting: number }>(
      (await strata(["thread", "show", threads[0]?.id ?? "", "--json"], { cwd })).out,
    );
    expect(shown?.slots.map(({ from }) => from)).toEqual(["ann", "companion", "ann", "companion"]);
    expect(shown?.waiting).toBe(0);
  });

  it.each([
    [["thread", "show", "ann"], 2, '"ann" is not a thread id'],
    [["thread", "show", "thr_01jd8k3v5x9m2q7r4t6w8y0zab"], 3, "no thread thr_01jd8k3v5x9m2q7r4t6w8y0zab"],
    [["thread", "list", "--agent", "nobody"], 3, 'no agent "nobody"'],
    [["thread", "shwo"], 2, "Did you mean show?"],
    [["usage", "--agent", "nobody"], 3, 'no agent "nobody"'],
    [["agent", "show", "nobody"], 3, 'no agent "nobody"'],
  ])("strata %j exits with %i and says why", async (argv, exit, message) => {
    const { cwd } = await stage();
    await refuses(cwd, argv, { exit, message });
  });
});

describe("strata usage", () => {
  it("summarizes what was used, by agent, with all contacts or one", async () => {
    const { cwd } = await stage();
    const { out } = await strata(["usage"], { cwd });
    expect(out).toMatch(/^companion +3 +4 +[\d,]+ +0 +0 +\d+ +\$0\.0000$/m);
    const [used] = jsonLines<{ total: { turns: number; input: number } }>(
      (await strata(["usage", "--as", "bob", "--json"], { cwd })).out,
    );
    expect(used?.total.turns).toBe(1);
    expect(used?.total.input).toBeGreaterThan(1_000);
  });

  it("tells a very small sum as such, and never as nothing", async () => {
    const { edit, env } = await provider(speaking({ text: "Hello." }));
    const price = 'models: {"anthropic:claude-sonnet-4-5": {price: {input: 0.1, output: 0.1}}}';
    const cwd = project((yaml) => `${edit(yaml)}\n${price}\n`);
    expect((await strata(["chat", "companion"], { cwd, env, input: "hi\n" })).err).toMatch(/, <\$0\.0001$/m);
    expect((await strata(["usage"], { cwd, env })).out).toMatch(/^companion +1 +1 +10 .* <\$0\.0001$/m);
  });

  it("says where a price is not known, instead of a sum of nothing", async () => {
    const { edit, env } = await provider(speaking({ text: "Hello." }));
    const cwd = project((yaml) => edit(yaml).replaceAll("claude-sonnet-4-5", "claude-unheard-of"));
    await strata(["chat", "companion"], { cwd, env, input: "hi\n" });
    expect((await strata(["usage"], { cwd, env })).out).toMatch(/^companion +1 +1 +10 .* price unknown$/m);
    const { out } = await strata(["usage", "--json"], { cwd, env });
    expect(jsonLines<object>(out)[0]).toMatchObject({ agents: [{ agent: "companion", priced: false }] });
  });
});

describe("strata agent", () => {
  it("lists the declared agents and what answers for them", async () => {
    const { out } = await strata(["agent", "list"], { cwd: place() });
    expect(out).toMatch(
      /^companion, version \w{12}, answered by rehearsal, 9 layers, 6 tools\n {2}A personal companion/,
    );
  });

  it("shows what an agent may spend, what its tools may do and what form its replies have", async () => {
    const rules = "tools: [read, {name: write, approval: true, calls: 2, seconds: 5}]";
    const more =
      "budgets: {spend: {dollars: 5, per: day}}\n    output: {type: object, properties: {kind: {type: string}}}";
    const cwd = project((yaml) =>
      yaml.replace(/tools: \[.*\]/, rules).replace("  companion:\n", `  companion:\n    ${more}\n`),
    );
    const { out } = await strata(["agent", "show", "companion"], { cwd });
    expect(out).toContain("\nspend    at most $5 in each UTC day, all turns together\n");
    expect(out).toContain("write (waits for a person; at most 2 calls a turn; at most 5 seconds a call)\n");
    expect(out).toMatch(/\noutput {3}one JSON value that matches \{"type":"object",.*"kind"/);
  });

  it("shows each layer of an agent, what it costs and where it comes from", async () => {
    const { out } = await strata(["agent", "show", "companion"], { cwd: project() });
    expect(out).toMatch(/^precedence +0 +all +immutable +platform +\d+ +layers\/precedence\.md$/m);
    expect(out).toMatch(/^recall +60 +turn +live +operator +600 +recall, 5 memories$/m);
    expect(out).toMatch(/^lock +7 immutable layers, unchanged since the lock$/m);
    expect(out).toMatch(/^model +rehearsal$/m);
    expect(out).toContain("memory_save, memory_search");
  });

  it("says why the model cannot answer yet", async () => {
    const cwd = project((yaml) => `${yaml}\nmodel: anthropic:claude-sonnet-4-5\n`);
    const { out } = await strata(["agent", "show", "companion"], { cwd });
    expect(out).toMatch(/^model +anthropic:claude-sonnet-4-5 \(cannot answer yet: .*key/m);
  });
});
