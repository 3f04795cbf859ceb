import { expect, it, onTestFinished, vi } from "vitest";
import { faultsOf, soak } from "../../checks/soak-run.ts";

// Once more where the machine held it up: what else runs beside it is not the server's doing.
it("25 a server under floods and a foreign lock answers /health, ends at SIGTERM, and leaves nothing running", {
  retry: 2,
  timeout: 60_000,
}, async () => {
  const seconds = 6;
  // What whoever runs the tests has set is not the server's: the rehearsal answers, and no provider is asked.
  vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const soaked = await soak({ seconds, seed: 1 });
  expect(soaked.sent).toBeGreaterThan(20);
  expect(soaked.statuses["200"]).toBeGreaterThan(0);
  expect(soaked.locks).toBeGreaterThan(0);
  expect(faultsOf(soaked, { seconds })).toEqual([]);
});
