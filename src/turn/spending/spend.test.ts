import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { scripted } from "../../models/index.ts";
import { type SpendPeriod, type TurnEvent, turnId } from "../../protocol/index.ts";
import { cardOf } from "../../wire/index.ts";
import { collect, endOf, message, OPERATOR, testRuntime } from "../index.contract.ts";

const DAY = 86_400_000;
/** What each reply costs: a cent and a half, which is nearly the most that a call can cost. */
const DEAR = { usage: { input: 100, output: 1_000 } };

const spending = (per: SpendPeriod, replies: Parameters<typeof testRuntime>[0], dollars = 0.04) =>
  testRuntime(replies, {
    budgets: { reply: 1_000, spend: { dollars, per } },
    parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") },
  });

describe("an agent that may spend so much", () => {
  it.each<[SpendPeriod, number, string]>([
    ["day", DAY, "it answers again from 2026-11-22T00:00:00Z on"],
    ["month", 10 * DAY, "it answers again from 2026-12-01T00:00:00Z on"],
  ])("a %s calls no model past it, and goes on with what waits in the next", async (per, after, sentence) => {
    const paid = { parts: [{ text: "Well." }], ...DEAR };
    const { open, say, time, sent } = await spending(per, [paid, paid, "Later."]);
    const thread = await open();
    expect(endOf(await say(thread, "one")).type).toBe("done");
    // All contacts of the agent spend the same money.
    expect(endOf(await say(await open("bob"), "two")).type).toBe("done");
    const refused = endOf(await say(thread, "three"));
    expect(refused).toMatchObject({
      type: "failed",
      error: { code: "spend_limit", message: expect.stringContaining(sentence) },
    });
    expect(sent).toHaveLength(2);
    time.at += after;
    expect(endOf(await say(thread, "four"))).toMatchObject({ type: "done", text: "Later." });
    expect(JSON.stringify(sent[2]?.messages.at(-1))).toMatch(/three.*four/);
  });

  it("ever, does not call it again", async () => {
    const { open, say, time } = await spending("ever", [{ parts: [{ text: "Well." }], ...DEAR }, "Never."], 0.02);
    const thread = await open();
    await say(thread, "one");
    time.at += 1_000 * DAY;
    const refused = endOf(await say(thread, "two"));
    expect(refused).toMatchObject({ type: "failed", error: { code: "spend_limit" } });
    expect(refused.type === "failed" && refused.error.message).toContain(
      "helper has spent $0.0153 of the $0.02 it may",
    );
  });

  it("stops in the middle of a turn when it is spent: the calls get their answer, and no further request is sent", async () => {
    const call = { call: "look", input: { at: "the sea" } };
    const { open, say, sent } = await spending("day", [{ parts: [call], ...DEAR }, "Never."], 0.02);
    expect(endOf(await say(await open(), "look"))).toMatchObject({ type: "done", because: "maxCost" });
    expect(sent).toHaveLength(1);
  });

  it("calls its model for one contact after the other where all at once could pass it", async () => {
    const paid = { parts: [{ text: "Well." }], ...DEAR };
    const { open, say, sent, store, agent } = await spending("day", Array(5).fill(paid), 0.04);
    const threads = await Promise.all(["a", "b", "c", "d", "e"].map((contact) => open(contact)));
    const ends = (await Promise.all(threads.map((thread) => say(thread, "Hi")))).map(endOf);
    expect(ends.filter(({ type }) => type === "done")).toHaveLength(2);
    const failed = ends.flatMap((end) => (end.type === "failed" ? [end.error.code] : []));
    expect(failed).toEqual(["spend_limit", "spend_limit", "spend_limit"]);
    expect(sent).toHaveLength(2);
    expect(await store.spent(agent.org, agent.name, 0)).toBeCloseTo(0.0306);
  });

  it("counts at once what a turn that still runs has spent", async () => {
    const call = { parts: [{ call: "look", input: { at: "the sea" } }], ...DEAR };
    const { open, say, runtime, time } = await spending("day", [call, { parts: [{ text: "Well." }] }], 0.02);
    const [ann, bob] = [await open("ann"), await open("bob")];
    await runtime.post(OPERATOR, ann, [message("Hi", time.at)]);
    const turn = runtime.run(OPERATOR, ann);
    for (let step = await turn.next(); !step.done && step.value.type !== "tool-start"; ) step = await turn.next();
    const refused = endOf(await say(bob, "Hi"));
    expect(refused).toMatchObject({ type: "failed", error: { code: "spend_limit" } });
    expect(refused.type === "failed" && refused.error.message).toContain("has spent $0.0153");
    expect(endOf(await collect(turn))).toMatchObject({ type: "done", because: "maxCost" });
  });

  it("is stopped in the middle of a turn by what another program spends meanwhile", async () => {
    const call = { parts: [{ call: "look", input: { at: "the sea" } }] };
    const one = await spending("day", [{ ...call, ...DEAR }, "Never."], 0.033);
    const other = await testRuntime([{ parts: [{ text: "Well." }], ...DEAR }], {
      agent: one.agent,
      store: one.store,
      parts: { cardOf: one.parts.cardOf, holder: "other", random: (length) => randomBytes(length) },
    });
    const thread = await one.open();
    await one.runtime.post(OPERATOR, thread, [message("Hi", one.time.at)]);
    const events: TurnEvent[] = [];
    for await (const event of one.runtime.run(OPERATOR, thread)) {
      events.push(event);
      if (event.type === "compiled") await other.say(await other.open("bob"), "Hi");
    }
    expect(endOf(events)).toMatchObject({ type: "done", because: "maxCost" });
    expect(one.sent).toHaveLength(1);
  });

  it("is never passed by two programs together, and all of it can be spent", async () => {
    const paid = { parts: [{ text: "Well." }], ...DEAR };
    const one = await spending("ever", Array(9).fill(paid), 0.1);
    const other = await testRuntime(Array(9).fill(paid), {
      agent: one.agent,
      store: one.store,
      parts: { cardOf: one.parts.cardOf, holder: "other", random: (length) => randomBytes(length) },
    });
    const say = async (on: typeof one, contact: string) => endOf(await on.say(await on.open(contact), "Hi"));
    const ends = await Promise.all(Array.from({ length: 12 }, (_, i) => say(i % 2 ? one : other, `contact-${i}`)));
    // Six replies cost 9.2 cents; the most that a seventh could cost is not left.
    expect(ends.filter(({ type }) => type === "done")).toHaveLength(6);
    expect(await one.store.spent(one.agent.org, one.agent.name, 0)).toBeCloseTo(6 * 0.0153);
  });

  it("says that the limit is too low for even one call", async () => {
    const { open, say, sent } = await spending("day", ["Never."], 0.01);
    const refused = endOf(await say(await open(), "Hi"));
    expect(refused.type === "failed" && refused.error.message).toMatch(
      /the next call of its model can cost \$0\.0\d+; raise budgets\.spend\.dollars, or lower budgets\.reply$/,
    );
    expect(sent).toHaveLength(0);
  });

  it("is answered by no other model whose price is not known", async () => {
    const card = cardOf("anthropic:claude-sonnet-4-5");
    const { open, say, runtime, agent } = await testRuntime(["Well."], {
      budgets: { spend: { dollars: 1, per: "day" } },
      parts: { cardOf: (model) => ({ ...card, priced: model !== "some:model" }) },
    });
    const thread = await open();
    const [start] = await say(thread, "Hi");
    const { model } = scripted(["Never."]);
    const turn = start?.type === "turn-start" ? start.turn : turnId("");
    const again = collect(runtime.regenerate(OPERATOR, turn, { model: { ...model, ref: "some:model" } }));
    await expect(again).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/price of some:model is not known/),
    });
    const everyone = { org: agent.org, agent: agent.name, contact: null };
    expect(await runtime.threads(OPERATOR, everyone, 9)).toHaveLength(1);
  });
});

describe("usage that cannot be", () => {
  it("is kept as reported, billed by the estimate and marked, and does not close an agent's account", async () => {
    const absurd = { parts: [{ text: "Hello." }], usage: { input: 1_000_000_000, output: 5 } };
    const said = { parts: [{ text: "Bye." }], usage: { input: 500, output: 1_000_000_000 } };
    const observed: number[] = [];
    const { say, open, runtime } = await testRuntime([absurd, said, "Still here."], {
      budgets: { spend: { dollars: 1, per: "ever" } },
      parts: {
        cardOf: () => cardOf("anthropic:claude-sonnet-4-5"),
        observe: (_wire, _request, reported) => void observed.push(reported),
      },
    });
    const thread = await open();
    for (const text of ["Hi", "And?"]) expect(endOf(await say(thread, text)).type).toBe("done");
    const [first, second] = await runtime.turns(OPERATOR, thread.id);
    const reply = first?.requests[0]?.reply;
    expect(reply?.usage.input).toBe(1_000_000_000);
    expect(reply?.estimated?.input).toBeGreaterThan(600);
    expect(second?.requests[0]?.reply).toMatchObject({
      usage: { output: 1_000_000_000 },
      estimated: { input: expect.any(Number) },
    });
    expect(first?.totals?.dollars).toBeLessThan(0.01);
    expect(first?.totals?.usage.input).toBeLessThan(10_000);
    expect((await runtime.usage(OPERATOR, thread.scope)).input).toBeLessThan(10_000);
    expect(observed).toEqual([]);
    expect(endOf(await say(thread, "Still there?"))).toMatchObject({ type: "done", text: "Still here." });
  });

  it("is none that a provider may well report: far more than was counted, or the sum of rounds of its own", async () => {
    const overCounted = { parts: [{ text: "Hello." }], usage: { input: 60_000, output: 30_000 } };
    const ownRounds = { parts: [{ text: "Bye." }], usage: { input: 1_900_000, cacheRead: 1_700_000, output: 100_000 } };
    const { say, open, runtime } = await testRuntime([overCounted, ownRounds], {
      parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") },
    });
    const thread = await open();
    for (const text of ["Hi", "And?"]) await say(thread, text);
    for (const { requests } of await runtime.turns(OPERATOR, thread.id))
      expect(requests[0]?.reply).not.toHaveProperty("estimated");
    expect((await runtime.usage(OPERATOR, thread.scope)).input).toBe(1_960_000);
  });
});

describe("the money of one turn", () => {
  const CALLING = { parts: [{ call: "look", input: { at: "it" } }] };

  it("stops when the money of a turn is spent", async () => {
    const dear = { ...CALLING, usage: { input: 20_000 } };
    const { say, open, parts } = await testRuntime([dear], {
      budgets: { reply: 1_000, turn: { modelCalls: 8, toolCalls: 32, seconds: 120, maxCost: 0.05 } },
    });
    const agent = await parts.modelOf((await testRuntime([])).agent);
    const model = { ...agent, ref: "anthropic:claude-sonnet-4-5" };
    const end = endOf(await say(await open(), "Go", { model }));
    expect(end).toMatchObject({ because: "maxCost", totals: { dollars: 0.06 } });
  });

  it("makes no call that could cost more than is left of `maxCost`, however much that is", async () => {
    const over: number[] = [];
    const ends = new Set<string>();
    for (let cents = 0.5; cents <= 9; cents += 0.5) {
      const dear = { ...CALLING, usage: { input: 10, output: 1_000 } };
      const { say, open, sent } = await testRuntime([dear, dear, dear, "Done."], {
        budgets: { reply: 1_000, turn: { modelCalls: 8, toolCalls: 32, seconds: 120, maxCost: cents / 100 } },
        parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") },
      });
      const end = endOf(await say(await open(), "Go"));
      if ((end.totals?.dollars ?? 0) > cents / 100) over.push(cents);
      ends.add(end.type === "failed" ? end.error.code : String("because" in end && end.because));
      if (end.type !== "failed") continue;
      expect(sent).toHaveLength(0);
      expect(end.error.message).toMatch(/can cost \$0\.0\d+.*raise budgets\.turn\.maxCost/);
    }
    expect(over).toEqual([]);
    expect([...ends]).toEqual(["budget_too_small", "maxCost", "answered"]);
  });
});
