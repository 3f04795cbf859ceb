import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { living } from "./living.ts";
import { jsonLines, place, strata } from "./strata.ts";

/** A folder with two agents that live by themselves, the automaton first; each has something in the record. */
async function two() {
  const cwd = await living();
  const other = `  gardener:
    description: It waters.
    history: log
    soul: wise-gardener
    skills: [{ name: pruning, text: Cut in March. }]
    life: { credits: { low: 5, critical: 1 } }
    layers:
      - { id: duty, rank: 3, text: You water the garden. }
      - { id: soul, rank: 12, source: soul, after: duty }
      - { id: plan, rank: 6, mutability: versioned, text: Water at dawn. }
      - { id: skills, rank: 11, source: skills }
`;
  appendFileSync(join(cwd, "strata.yaml"), other);
  await strata(["lock"], { cwd });
  const run = async (line: string, input?: string) =>
    strata(line.split(" "), { cwd, ...(input !== undefined && { input }) });
  for (const agent of ["automaton", "gardener"]) {
    await run(`credits add 20 ${agent} --note for-${agent}`);
    await run(`chat ${agent} --as of-${agent}`, "Water.\n");
  }
  return run;
}

/** What each command says of the gardener, and of nobody else. */
const COMMANDS: readonly (readonly [string, string])[] = [
  ["credits show", "gardener has $20.0000"],
  ["credits add 1", "gardener has $21.0000 now."],
  ["credits list", "for-gardener"],
  ["life show", "gardener is sleeping"],
  ["life tick", "You started this turn yourself"],
  ["layer list", "You water the garden.".length.toString()],
  ["layer show duty", "You water the garden."],
  ["layer history 6", "It is as it was declared"],
  ["layer edit 6 --text Dusk.", "`strata layer rollback plan --agent gardener`"],
  ["layer diff 6 0 0", "the same"],
  ["layer proposals", "No proposal waits."],
  ["soul show", "wise-gardener (as declared)"],
  ["soul set old-gardener", "`strata layer rollback soul --agent gardener`"],
  ["skill list", "pruning"],
  ["skill show pruning", "Cut in March."],
  ["skill disable pruning", "pruning is disabled"],
  ["inbox list", "Nothing waits for gardener."],
  ["inbox run", "Nothing waits for gardener."],
  ["outbox list", "to of-gardener"],
  ["log list", "of-gardener"],
  ["log show of-gardener", "gardener with of-gardener"],
  ["agent acts", "read log"],
  ["agent attention", "gardener reports of its own turn"],
  ["agent show", "gardener, version"],
  ["thread list --as of-gardener", "gardener"],
  ["usage", "gardener  "],
  ["approval list", "No call waits."],
  ["memory save Roses. --agent-own", "--agent gardener --agent-own` undoes this."],
  ["memory list --agent-own", "Roses."],
  ["memory stats --agent-own", "fact"],
  ["memory export --agent-own", "Roses."],
  ["memory embed", "gardener has no embedder"],
  ["memory search Roses. --agent-own --agent", "Roses."],
  ["memory explain Roses. --agent-own --agent", "Roses."],
  ["contact erase of-gardener --yes", "whom gardener knew"],
  ["inbox post Hello.", "waits for gardener"],
];

describe("a command about one agent", () => {
  it("takes the agent's name behind its other arguments as well as by --agent, or both where they say the same", async () => {
    const run = await two();
    for (const [line, sentence] of COMMANDS) {
      const { code, out, err } = await run(`${line} gardener`);
      expect({ line, code, err, out }).toMatchObject({ code: 0, out: expect.stringContaining(sentence) });
    }
  });

  it("takes one name and not two", async () => {
    const run = await two();
    for (const line of [
      "credits show",
      "layer proposals",
      "inbox run",
      "outbox list",
      "memory list",
      "usage",
      "thread list",
    ]) {
      const twice = await run(`${line} automaton --agent gardener`);
      expect(twice, line).toMatchObject({ code: 2, out: "" });
      expect(twice.err).toContain('two agents were named: "automaton" and --agent "gardener"');
      for (const fine of [`${line} gardener --agent gardener`, `${line} --agent gardener`, line])
        expect((await run(fine)).code, fine).toBe(0);
      expect(await run(`${line} gardner`)).toMatchObject({
        code: 3,
        err: expect.stringContaining("the declared ones are: automaton, gardener"),
      });
    }
  });

  it("names it of a memory or a file of memories, too", async () => {
    const run = await two();
    const [saved] = jsonLines<{ readonly id: string }>((await run("memory save Roses. gardener --json")).out);
    const { id = "" } = saved ?? {};
    expect((await run(`memory show ${id} gardener`)).out).toContain("Roses.");
    expect(await run(`memory show ${id}`)).toMatchObject({
      code: 3,
      err: expect.stringContaining("automaton has no memory"),
    });
    expect((await run(`memory forget ${id} gardener`)).out).toBe(`${id} is forgotten.\n`);
    const file = `${place()}/garden.md`;
    writeFileSync(file, "- Roses want sun.\n");
    expect((await run(`memory import ${file} gardener`)).out).toContain("1 memory about me is saved");
    expect((await run("memory list gardener")).out).toContain("Roses want sun.");
    expect((await run("memory consolidate gardener")).err).toContain("gardener is answered by rehearsal");
    expect((await run("memory list automaton")).out).toContain("Nothing is remembered");
  });

  it("is the first one where none is named, and prints JSON for programs", async () => {
    const run = await two();
    expect((await run("life show")).out).toContain("automaton is sleeping");
    const [credits] = jsonLines<object>((await run("credits show gardener --json")).out);
    expect(credits).toMatchObject({ credits: { toppedUp: 20 }, tier: "Normal" });
    const [error] = jsonLines<object>((await run("credits show a --agent b --json")).err);
    expect(error).toMatchObject({ error: { code: "invalid_input", details: { agents: ["a", "b"] } } });
  });
});
