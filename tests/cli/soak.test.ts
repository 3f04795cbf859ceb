import { expect, it } from "vitest";
import { faultsOf, soak } from "../../checks/soak-run.ts";

it("25 a server under floods and a foreign lock answers /health, ends at SIGTERM, and leaves nothing running", async () => {
  const seconds = 6;
  const soaked = await soak({ seconds, seed: 1 });
  expect(soaked.sent).toBeGreaterThan(20);
  expect(soaked.locks).toBeGreaterThan(0);
  expect(faultsOf(soaked, { seconds })).toEqual([]);
}, 60_000);
