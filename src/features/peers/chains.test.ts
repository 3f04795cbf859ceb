import { describe, expect, it } from "vitest";
import { databases, server, title } from "../../../tests/postgres.ts";
import { allParts } from "../../app/entry/features.ts";
import { type KillingStore, killingPostgres, killingSqlite, tablesOfToday } from "../../store/index.contract.ts";
import { OPERATOR } from "../../turn/index.contract.ts";
import { surviveChains } from "./chains.contract.ts";

async function survive(killing: KillingStore, milliseconds: number): Promise<void> {
  const end = Date.now() + milliseconds;
  let [seed, kills] = [Date.now() % 1_000_000, 0];
  while (Date.now() < end || kills === 0) kills += await surviveChains(killing, seed++);
  for await (const found of killing.store.verify(OPERATOR.org)) expect(found.type).not.toBe("problem");
  await killing.store.close();
}

/** `checks/waits.ts --peers` runs it as often as you like. */
const ONCE = "law 7, S1, S3: each answer arrives once and on its own chain, wherever the program dies";

it(ONCE, { timeout: 60_000 }, async () => survive(await killingSqlite(await allParts()), 4_000));

describe.skipIf(server === undefined)(title("in PostgreSQL"), () => {
  const { make, url } = databases();
  it(ONCE, { timeout: 60_000 }, async () =>
    survive(await killingPostgres(url(await make(await tablesOfToday(await allParts()))), await allParts()), 500),
  );
});
