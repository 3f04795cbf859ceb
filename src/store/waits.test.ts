import { describe, it } from "vitest";
import { databases, server, title } from "../../tests/postgres.ts";
import { type KillingStore, killingPostgres, killingSqlite } from "./contract/killing.contract.ts";
import { checkRecord, life } from "./contract/waits.contract.ts";

/** As many random lives as four seconds hold, until some call was answered at least; `checks/waits.ts` runs them by the thousand. */
async function lives(killing: KillingStore): Promise<void> {
  const tally = { operations: 0, kills: 0, waits: 0, resumed: 0, late: 0, overdue: 0, cancelled: 0, forks: 0 };
  const seeds = { next: Date.now() % 1_000_000, end: Date.now() + 4_000 };
  while (Date.now() < seeds.end || tally.resumed === 0) {
    const seed = seeds.next++;
    await life({ killing, seed, tally }).catch((cause: unknown) => {
      throw new Error(`life ${seed} differs: checks/waits.ts --seed ${seed} --runs 1`, { cause });
    });
  }
  await checkRecord(killing.store);
  await killing.store.close();
}

const WHATEVER =
  "law 7 whatever happens to threads that wait, no event is lost or handled twice, and each call has one result";

it(`${WHATEVER}, in SQLite`, { timeout: 60_000 }, async () => lives(await killingSqlite()));

describe.skipIf(server === undefined)(title("in PostgreSQL"), () => {
  const { make, url } = databases();
  it(WHATEVER, { timeout: 60_000 }, async () => lives(await killingPostgres(url(await make()))));
});
