import { expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { onEachDatabase } from "../../store/index.contract.ts";
import { keepRights, NO_RIGHTS } from "./rights.contract.ts";

/** The minimum number of graphs: rights are decided above the store, so PostgreSQL, where each takes three times as long, has fewer. */
const LEAST = { sqlite: 20, postgres: 4 };

onEachDatabase("a chain", await allParts(), (open, database) => {
  it("law 6, 003.21 003.24: of a random graph does nothing that its agents, its edges, its caller or who began it may not", {
    timeout: 120_000,
  }, async () => {
    const store = await open();
    const tally = { ...NO_RIGHTS };
    const end = Date.now() + 3_000;
    // Without permitted calls, nothing could exceed its rights.
    const tried = (): boolean => Math.min(tally.ran, tally.threads, tally.edits, tally.dollars) > 0;
    const isEnough = (): boolean =>
      Date.now() >= end && tally.graphs >= LEAST[database] && (tried() || tally.graphs > 40);
    for (let seed = Date.now() % 100_000; !isEnough(); seed++) await keepRights(store, seed, tally);
    expect(tried()).toBe(true);
    await store.close();
  });
});
