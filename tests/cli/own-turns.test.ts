import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { child, place, strata, until } from "./strata.ts";

/** A folder with one agent that has a turn of its own each hour. */
async function automaton(life: string): Promise<string> {
  const cwd = place();
  const yaml = `organization: home
model: rehearsal
agents:
  automaton:
    description: It lives by itself.
    history: log
    life: ${life}
    layers:
      - {id: rules, rank: 1, text: Be kind.}
`;
  writeFileSync(join(cwd, "strata.yaml"), yaml);
  expect(await strata(["lock"], { cwd })).toMatchObject({ code: 0 });
  return cwd;
}

async function lifeIn(cwd: string): Promise<{ vitals: { state: string; turn: number }; nextTick?: number }> {
  const { out, err } = await strata(["life", "show", "--json"], { cwd });
  if (out === "") throw new Error(err);
  return JSON.parse(out);
}

/** Looks until the agent is so. */
async function lives(cwd: string, isSo: (life: Awaited<ReturnType<typeof lifeIn>>) => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) if (isSo(await lifeIn(cwd))) return;
  throw new Error(JSON.stringify(await lifeIn(cwd)));
}

describe("strata start", () => {
  it("runs the own turns of agents that are due, and after a restart none before its time", async () => {
    const cwd = await automaton("{tick: 60}");
    const first = child(["start", "--port", "0"], { cwd });
    await lives(cwd, ({ vitals }) => vitals.turn === 1 && vitals.state === "sleeping");
    first.process.kill("SIGTERM");
    expect(await first.ended).toMatchObject({ code: 0 });

    const { nextTick = 0 } = await lifeIn(cwd);
    expect(nextTick).toBeGreaterThan(Date.now() + 50 * 60_000);
    const second = child(["start", "--port", "0"], { cwd });
    await second.says("serves on");
    expect((await strata(["life", "tick"], { cwd })).code).toBe(0);
    second.process.kill("SIGTERM");
    expect(await second.ended).toMatchObject({ code: 0 });
    expect((await lifeIn(cwd)).vitals.turn).toBe(2);
  }, 60_000);

  it("says aloud that an agent has no credits left, and goes on with its turns when they are topped up", async () => {
    const cwd = await automaton("{tick: 60, credits: {}}");
    const started = child(["start", "--port", "0"], { cwd });
    const hears = (what: string) =>
      until(
        () => started.sofar().err.includes(what),
        () => JSON.stringify(started.sofar()),
      );
    await hears("automaton has no credits left and sleeps; what waits for it keeps waiting.");
    await lives(cwd, ({ vitals }) => vitals.turn === 0 && vitals.state === "sleeping");
    expect((await strata(["credits", "add", "10"], { cwd })).code).toBe(0);
    await lives(cwd, ({ vitals }) => vitals.turn === 1 && vitals.state === "sleeping");
    await hears("automaton has credits again.");
    started.process.kill("SIGTERM");
    expect(await started.ended).toMatchObject({ code: 0 });
    expect(started.sofar().err.match(/no credits left/g)).toHaveLength(1);
  }, 60_000);
});
