import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { place, strata } from "./strata.ts";

interface Compared {
  readonly rows: readonly {
    readonly keep: number | null;
    readonly requests: number;
    readonly cuts: number;
    readonly weighted: number;
    readonly dollars: number;
  }[];
}

/** A folder with a companion, and a conversation that is long enough to be cut. */
async function talked(): Promise<{ readonly cwd: string; readonly thread: string }> {
  const cwd = place();
  await strata(["init", "companion"], { cwd });
  const file = join(cwd, "strata.yaml");
  const model = "    model: anthropic:claude-sonnet-4-5\n    budgets: {keep: 1000}\n";
  writeFileSync(file, readFileSync(file, "utf8").replace(/^ {4}layers:/m, `${model}    layers:`));
  const lines = Array.from({ length: 40 }, (_, n) => ({
    thread: "talk",
    contact: "ann",
    from: n % 2 === 0 ? "contact" : "agent",
    text: n % 2 === 0 ? `What comes after ${n}?` : `After ${n} comes a long list. ${`Item ${n} of it. `.repeat(180)}`,
  }));
  writeFileSync(join(cwd, "talk.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const env = { ANTHROPIC_API_KEY: "none" };
  await strata(["replay", "talk.jsonl", "--agent", "companion", "--replies", "recorded"], { cwd, env });
  const listed = await strata(["thread", "list", "--json"], { cwd, env });
  return { cwd, thread: /thr_\w+/.exec(listed.out)?.[0] ?? "" };
}

it("29.1 strata cache compare says what a thread would have cost with another `keep`, and changes nothing", async () => {
  const { cwd, thread } = await talked();
  const env = { ANTHROPIC_API_KEY: "none" };
  const before = await strata(["verify", "--json"], { cwd, env });
  const { out, code } = await strata(["cache", "compare", thread, "--keep", "1000", "30000", "--json"], { cwd, env });
  expect(code).toBe(0);
  const [declared, same, more] = (JSON.parse(out) as Compared).rows;
  expect(declared).toMatchObject({ keep: null, requests: 20 });
  expect(declared?.cuts).toBeGreaterThan(0);
  expect(same).toEqual({ ...declared, keep: 1000 });
  expect(more).toMatchObject({ keep: 30_000, requests: 20, cuts: 0 });
  expect(more?.weighted).toBeGreaterThan(declared?.weighted ?? Number.POSITIVE_INFINITY);
  expect(more?.dollars).toBeCloseTo(((more?.weighted ?? 0) * 3) / 1_000_000, 5);
  expect((await strata(["verify", "--json"], { cwd, env })).out).toBe(before.out);

  const shown = await strata(["cache", "compare", thread, "--keep", "30000"], { cwd, env });
  expect(shown.out).toMatch(/^as declared +20 /m);
  expect(shown.out).toMatch(/^30,000 +20 +0 /m);
  const wrong = await strata(["cache", "compare", thread, "--keep", "much"], { cwd, env });
  expect(wrong).toMatchObject({ code: 2, out: "" });
  // What strata.yaml would refuse is refused at the option, and without one there is nothing to compare with.
  for (const keep of ["0", "10000001"])
    expect((await strata(["cache", "compare", thread, "--keep", keep], { cwd, env })).err).toContain(
      `option '--keep <tokens...>' argument '${keep}' is invalid. It must be a whole number, from 1 to 10000000.`,
    );
  expect((await strata(["cache", "compare", thread], { cwd, env })).err).toContain("required option '--keep");
  const nowhere = await strata(["cache", "compare", "thr_01jd8k3v5x9m2q7r4t6w8y0zab", "--keep", "1"], { cwd, env });
  expect(nowhere.err).toContain("there is no thread");
});
