import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app.ts";
import { SELF } from "../../src/protocol/index.ts";
import { child, jsonLines, place, provider, serving, strata, until } from "./strata.ts";

/** What a provider of these tests wants. */
const KEY = { TEST_KEY: "not-a-real-key" };

/** A folder with one agent that has a turn of its own each hour. */
async function automaton(life: string, model = "\nmodel: rehearsal\n"): Promise<string> {
  const cwd = place();
  const yaml = `organization: home
${model}
agents:
  automaton:
    description: It lives by itself.
    history: log
    life: ${life}
    layers:
      - {id: rules, rank: 1, text: Be kind.}
`;
  writeFileSync(join(cwd, "strata.yaml"), yaml);
  expect(await strata(["lock"], { cwd, env: KEY })).toMatchObject({ code: 0 });
  return cwd;
}

interface Life {
  readonly vitals: { readonly state: string; readonly turn: number };
  readonly because?: string;
  readonly nextTick?: number;
}

async function lifeIn(cwd: string): Promise<Life> {
  const { out, err } = await strata(["life", "show", "--json"], { cwd, env: KEY });
  if (out === "") throw new Error(err);
  return JSON.parse(out);
}

/** Looks until the agent is so. */
async function lives(cwd: string, isSo: (life: Life) => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    if (isSo(await lifeIn(cwd))) return;
    // The servers of the test are in this process, and want to answer.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(JSON.stringify(await lifeIn(cwd)));
}

describe("strata start", () => {
  it("runs the own turns of agents that are due, and after a restart none before its time", async () => {
    const cwd = await automaton("{tick: 60}");
    const first = serving(["start", "--port", "0"], { cwd });
    // Both are in this process, where a second opening of a new database would wait for the first without letting it end.
    await first.message("listens on");
    await lives(cwd, ({ vitals }) => vitals.turn === 1 && vitals.state === "sleeping");
    expect(await first.stop()).toMatchObject({ code: 0 });

    const { nextTick = 0 } = await lifeIn(cwd);
    expect(nextTick).toBeGreaterThan(Date.now() + 50 * 60_000);
    const second = serving(["start", "--port", "0"], { cwd });
    await second.message("listens on");
    expect((await strata(["life", "tick"], { cwd })).code).toBe(0);
    expect(await second.stop()).toMatchObject({ code: 0 });
    expect((await lifeIn(cwd)).vitals.turn).toBe(2);
  }, 60_000);

  it("killed in the middle of a turn leaves a fault that says so, and the turn it left is taken up, not doubled", async () => {
    const asked = Promise.withResolvers<void>();
    let refuses = false;
    const model = await provider((_, response) => {
      asked.resolve();
      if (refuses) response.writeHead(400).end();
    });
    const cwd = await automaton("{tick: 0.1}", model.edit(""));
    const first = child(["start", "--port", "0"], { cwd, env: KEY });
    await asked.promise;
    await lives(cwd, ({ vitals }) => vitals.state === "in a turn");
    first.process.kill("SIGKILL");
    await first.ended;
    const because = "its program ended in the middle of a turn";
    expect(await lifeIn(cwd)).toMatchObject({ vitals: { state: "faulted", turn: 0 }, because });

    refuses = true;
    const second = serving(["start", "--port", "0"], { cwd, env: KEY });
    await lives(cwd, ({ vitals }) => vitals.turn > 0 && vitals.state === "faulted");
    await second.stop();
    const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env: KEY, recordOnly: true });
    const { runtime, operator } = app;
    const [thread] = await runtime.newestThreads(operator, { contact: SELF, limit: 9 });
    const turns = thread === undefined ? [] : await runtime.turns(operator, thread.id);
    expect(turns[0]).toMatchObject({ status: "failed", end: { code: "model_refused" }, attempt: 2 });
    // Nothing was posted a second time.
    const waiting = thread === undefined ? [] : await runtime.pending(operator, thread);
    expect(waiting).toHaveLength(1);
    await app.close();
  }, 60_000);

  it("says aloud that an agent has no credits left, and continues with its turns when they are topped up", async () => {
    const cwd = await automaton("{tick: 60, credits: {}}");
    const started = serving(["start", "--port", "0"], { cwd });
    const hears = (what: string) =>
      until(
        () => started.sofar().err.includes(what),
        () => JSON.stringify(started.sofar()),
      );
    await hears("automaton sleeps, because it has no credits yet: ");
    await lives(cwd, ({ vitals }) => vitals.turn === 0 && vitals.state === "sleeping");
    expect((await strata(["credits", "add", "10"], { cwd })).code).toBe(0);
    await lives(cwd, ({ vitals }) => vitals.turn === 1 && vitals.state === "sleeping");
    await hears("automaton has credits again.");
    expect(await started.stop()).toMatchObject({ code: 0 });
    expect(started.sofar().err.match(/no credits/g)).toHaveLength(1);
  }, 60_000);
});

describe("strata schedule", () => {
  it("001.22 pauses and resumes a schedule, shows it, and keeps its runs out of the list of threads", async () => {
    const cwd = place();
    const yaml = `organization: home
model: rehearsal
agents:
  clerk:
    description: It writes.
    schedules: [{ name: digest, cron: "0 9 * * *", timezone: UTC, text: Sum up the day. }]
    layers:
      - { id: core, rank: 0, text: You sum up. }
`;
    writeFileSync(join(cwd, "strata.yaml"), yaml);
    const run = (line: string) => strata(line.split(" "), { cwd });
    await run("lock");
    expect((await run("schedule pause digest")).out).toBe(
      "digest is paused; `strata schedule resume digest` lets it go on.\n",
    );
    expect((await run("schedule pause digest")).out).toContain("digest is paused already; ");
    expect((await run("schedule list")).out).toMatch(/^digest +paused +0 9/m);
    expect(jsonLines((await run("schedule list --json")).out)).toMatchObject([[{ paused: { by: "operator" } }]]);
    expect(await run("schedule run digest --mode full")).toMatchObject({ code: 0 });
    expect((await run("schedule resume digest")).out).toContain("digest goes on");
    expect((await run("schedule resume digest")).out).toContain("digest is not paused; ");
    expect((await run("schedule list")).out).toMatch(/^digest +\d{4}-\d\d-\d\d \d\d:\d\d/m);
    expect(await run("schedule pause nightly")).toMatchObject({ code: 2, err: expect.stringContaining("no schedule") });
    await strata(["chat"], { cwd, input: "Hello.\n" });
    expect(jsonLines((await run("thread list --json")).out)).toMatchObject([[{ channel: "chat" }]]);
    expect(jsonLines((await run("thread list --channel schedule --json")).out)).toMatchObject([
      [{ channel: "schedule" }],
    ]);
    expect((await run("verify")).out).toContain("The record is complete and unchanged.");
  });
});
