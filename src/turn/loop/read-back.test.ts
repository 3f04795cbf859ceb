import { expect, it, vi } from "vitest";
import { sampleAgent, testRuntime } from "../index.contract.ts";

it("29.4 a turn reads back no more of what this program wrote after 200 messages than after 20, also of a thread that it holds as it was", async () => {
  const agent = sampleAgent({ tools: [], recall: "none", budgets: { ...sampleAgent().budgets, keep: 100_000 } });
  const { store, open, say, time } = await testRuntime(
    Array.from({ length: 110 }, () => "Aye."),
    { agent },
  );
  const thread = await open();
  const parsed = vi.spyOn(JSON, "parse");
  const counts: number[] = [];
  for (let n = 1; n <= 100; n++) {
    time.at += 60_000;
    parsed.mockClear();
    await say(thread, `Number ${n}`);
    counts.push(parsed.mock.calls.length);
  }
  parsed.mockRestore();
  expect(counts[99]).toBeLessThanOrEqual((counts[9] ?? 0) + 2);
  expect(counts[9]).toBeGreaterThan(0);
  await store.close();
});
