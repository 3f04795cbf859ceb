import { describe, expect, it } from "vitest";
import type { SpendPeriod } from "../protocol/index.ts";
import { cardOf } from "../wire/index.ts";
import { endOf, stage } from "./stage.contract.ts";

const DAY = 86_400_000;
/** What each reply costs: a cent and a half. */
const DEAR = { usage: { input: 5_000 } };

const spending = (per: SpendPeriod, replies: Parameters<typeof stage>[0], dollars = 0.02) =>
  stage(replies, {
    budgets: { spend: { dollars, per } },
    parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") },
  });

describe("an agent that may spend so much", () => {
  it.each<[SpendPeriod, number, string]>([
    ["day", DAY, "it answers again from 2026-11-22T00:00:00Z on"],
    ["month", 10 * DAY, "it answers again from 2026-12-01T00:00:00Z on"],
  ])("a %s calls no model past it, and goes on with what waits in the next", async (per, after, says) => {
    const paid = { parts: [{ text: "Well." }], ...DEAR };
    const { open, say, time, sent } = await spending(per, [paid, paid, "Later."]);
    const thread = await open();
    expect(endOf(await say(thread, "one")).type).toBe("done");
    // All contacts of the agent spend the same money.
    expect(endOf(await say(await open("bob"), "two")).type).toBe("done");
    const refused = endOf(await say(thread, "three"));
    expect(refused).toMatchObject({
      type: "failed",
      error: { code: "spend_limit", message: expect.stringContaining(says) },
    });
    expect(sent).toHaveLength(2);
    time.at += after;
    expect(endOf(await say(thread, "four"))).toMatchObject({ type: "done", text: "Later." });
    expect(JSON.stringify(sent[2]?.messages.at(-1))).toMatch(/three.*four/);
  });

  it("ever, does not call it again", async () => {
    const { open, say, time } = await spending("ever", [{ parts: [{ text: "Well." }], ...DEAR }, "Never."], 0.01);
    const thread = await open();
    await say(thread, "one");
    time.at += 1_000 * DAY;
    const refused = endOf(await say(thread, "two"));
    expect(refused).toMatchObject({ type: "failed", error: { code: "spend_limit" } });
    expect(refused.type === "failed" && refused.error.message).toContain(
      "helper has spent $0.0150 of the $0.01 it may",
    );
  });

  it("stops in the middle of a turn when it is spent: the calls get their answer, and no further request is sent", async () => {
    const call = { call: "look", input: { at: "the sea" } };
    const { open, say, sent } = await spending("day", [{ parts: [call], ...DEAR }, "Never."], 0.01);
    expect(endOf(await say(await open(), "look"))).toMatchObject({ type: "done", because: "dollars" });
    expect(sent).toHaveLength(1);
  });
});
