import { describe, expect, it } from "vitest";
import { databases, server, title } from "../../../tests/postgres.ts";
import { allParts } from "../../app/entry/features.ts";
import { type KillingStore, killingPostgres, killingSqlite, tablesOfToday } from "../../store/index.contract.ts";
import { OPERATOR } from "../../turn/index.contract.ts";
import { liveThrough, NO_LIVES } from "./lives.contract.ts";

async function live(killing: KillingStore, milliseconds: number): Promise<void> {
  const tally = { ...NO_LIVES };
  const end = Date.now() + milliseconds;
  for (let seed = Date.now() % 10_000; Date.now() < end || tally.warned === 0; seed++)
    await liveThrough(killing, seed, tally);
  for await (const found of killing.store.verify(OPERATOR.org)) expect(found.type).not.toBe("problem");
  expect(tally.steps).toBeGreaterThan(0);
  await killing.store.close();
}

/** `checks/lifecycle.ts` runs it as often as you like. */
const LIVES =
  "003.42 003.43 003.44 S1 S2 S3 law 7: conversations are opened, asked on, left alone, warned and closed as the reference says, wherever programs die";

it(LIVES, async () => live(await killingSqlite(await allParts()), 4_000), 60_000);

describe.skipIf(server === undefined)(title("in PostgreSQL"), () => {
  const { make, url } = databases();
  it(
    LIVES,
    async () =>
      live(await killingPostgres(url(await make(await tablesOfToday(await allParts()))), await allParts()), 2_500),
    60_000,
  );
});
