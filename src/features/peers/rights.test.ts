import { expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { onEachDatabase } from "../../store/index.contract.ts";
import { keepRights, NO_RIGHTS } from "./rights.contract.ts";

onEachDatabase("a chain", await allParts(), (open) => {
  it("law 6, 003.21 003.24: of a random graph does nothing that its agents, its edges, its caller or who began it may not", {
    timeout: 120_000,
  }, async () => {
    const store = await open();
    const tally = { ...NO_RIGHTS };
    const end = Date.now() + 3_000;
    for (let seed = Date.now() % 100_000; Date.now() < end || tally.graphs < 20; seed++)
      await keepRights(store, seed, tally);
    // It tried: without what is allowed, nothing could go too far.
    expect(Math.min(tally.ran, tally.threads, tally.edits, tally.dollars)).toBeGreaterThan(0);
    await store.close();
  });
});
