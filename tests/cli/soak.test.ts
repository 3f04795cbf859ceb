import { expect, it } from "vitest";
import { faultsOf, soak } from "../../checks/soak-run.ts";

// Once more where the machine held it up: what else runs beside it is not the server's doing.
it("25 a server under floods and a foreign lock answers /health, ends at SIGTERM, and leaves nothing running", {
  retry: 2,
  timeout: 60_000,
}, async () => {
  const seconds = 6;
  const soaked = await soak({ seconds, seed: 1 });
  expect(soaked.sent).toBeGreaterThan(20);
  expect(soaked.locks).toBeGreaterThan(0);
  expect(faultsOf(soaked, { seconds })).toEqual([]);
});
