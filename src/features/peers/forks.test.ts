import { describe, expect, it } from "vitest";
import { forkCanaries, forkCost } from "./forks.contract.ts";

/** `checks/forks.ts` runs it as often as you like. */
it("law 5, law 1: no fork is sent a word of another conversation or of the run that asks, and each begins with its caller's bytes", {
  timeout: 60_000,
}, async () => {
  const end = Date.now() + 4_000;
  let [seed, forks] = [Date.now() % 1_000_000, 0];
  while (Date.now() < end || forks === 0) forks += await forkCanaries(seed++, 12);
});

describe("eight forks over a caller of 100,000 tokens", () => {
  it("cost at most 0.3 of eight cold starts, by the simulator of the provider's cache", async () => {
    const { forks, tokens, ratio } = await forkCost({ forks: 8, tokens: 100_000 });
    expect(forks).toBe(8);
    expect(tokens).toBeGreaterThan(100_000);
    expect(ratio).toBeLessThan(0.3);
  });
});
