import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { databases, server, title } from "../../../tests/postgres.ts";
import { firstRuns } from "../../../tests/spread.ts";
import { allParts } from "../../app/entry/features.ts";
import {
  type KillingStore,
  killingPostgres,
  killingSqlite,
  NOW,
  newFolder,
  scopeOf,
  tablesOfToday,
} from "../../store/index.contract.ts";
import { openStore } from "../../store/index.ts";
import { ofOrganization, ofSpend, surviveLimitKills } from "./kills.contract.ts";
import { LIMITS_STORE } from "./store.ts";

const PROGRAM = fileURLToPath(new URL("race.contract.ts", import.meta.url));
const made = databases();

interface Racer {
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;
  readonly ended: Promise<unknown>;
  /** One of its calls is settled. */
  readonly paid: Promise<unknown>;
  /** The sum of its settled calls, and how many were refused. */
  readonly sums: { settled: number; refused: number };
}

function racer(address: string, count: number, limit: string): Racer {
  const child = spawn(process.execPath, [PROGRAM, address, String(count), limit], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [ready, paid] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
  const ended = once(child, "exit");
  const sums = { settled: 0, refused: 0 };
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "ready") ready.resolve(undefined);
      else if (line === "refused") sums.refused++;
      else {
        sums.settled += Number(line);
        paid.resolve(undefined);
      }
    }
  });
  return { child, ready: Promise.race([ready.promise, ended]), paid: Promise.race([paid.promise, ended]), ended, sums };
}

/** Two programs make this many calls each, and one of them is killed in the middle of them. */
const CALLS = firstRuns(500, 200).numRuns;

async function race(address: string, limit = "race"): Promise<void> {
  const store = await openStore(address, { parts: await allParts() });
  const [one, other] = [racer(address, CALLS, limit), racer(address, CALLS, limit)];
  await Promise.all([one.ready, other.ready]);
  await one.paid;
  one.child.kill("SIGKILL");
  await Promise.all([one.ended, other.ended]);
  const limits = store.part(LIMITS_STORE);
  const { org } = scopeOf();
  const dead = `program ${one.child.pid}`;
  await limits.release(org, { real: NOW, alive: (holder) => holder !== dead });
  const [used] = await limits.used(org, [limit === "spend" ? ofSpend() : ofOrganization(limit)], NOW);
  expect(used?.held).toBe(0);
  expect(used?.spent).toBeLessThanOrEqual(1 + 1e-6);
  // A bill kept just before the kill may not have been reported.
  expect(used?.spent).toBeGreaterThanOrEqual(one.sums.settled + other.sums.settled - 1e-6);
  expect(other.sums.refused).toBeGreaterThan(0);
  await store.close();
}

/** Lives of programs that are killed between two statements, from a seed on. */
async function lives(killing: KillingStore, count: number): Promise<number> {
  let deaths = 0;
  for (let seed = 1; seed <= count; seed++) {
    const survived = surviveLimitKills(killing, seed).catch((cause: unknown) => {
      throw new Error(`life ${seed} differs: \`checks/spending.ts --seed ${seed} --runs 1\``, { cause });
    });
    deaths += await survived;
  }
  await killing.store.close();
  return deaths;
}

describe("26.3 what is reserved, spent and free again", () => {
  it("is right whenever a program is killed, in SQLite", async () => {
    expect(await lives(await killingSqlite(await allParts()), 60)).toBeGreaterThan(20);
  });

  it.skipIf(server === undefined)(title("is right whenever a program is killed, in PostgreSQL"), async () => {
    const url = made.url(await made.make(await tablesOfToday(await allParts())));
    expect(await lives(await killingPostgres(url, await allParts()), 10)).toBeGreaterThan(2);
  });

  it(`is right with ${2 * CALLS} calls at once in two programs, one of which is killed, in SQLite`, async () => {
    const folder = newFolder();
    await race(join(folder, "record.sqlite"));
    rmSync(folder, { recursive: true, force: true });
  });

  it("is right for `budgets.spend` of an agent as well, in SQLite", async () => {
    const folder = newFolder();
    await race(join(folder, "record.sqlite"), "spend");
    rmSync(folder, { recursive: true, force: true });
  });

  it.skipIf(server === undefined)(title("is right for `budgets.spend` of an agent as well, in PostgreSQL"), async () =>
    race(made.url(await made.make()), "spend"),
  );

  it.skipIf(server === undefined)(
    title(`is right with ${2 * CALLS} calls at once in two programs, one of which is killed, in PostgreSQL`),
    async () => race(made.url(await made.make(await tablesOfToday(await allParts())))),
  );
});
