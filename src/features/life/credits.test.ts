import { describe, expect, it } from "vitest";
import { scripted } from "../../models/index.ts";
import { type SurvivalTier, turnId, untrusted } from "../../protocol/index.ts";
import { collect, endOf, message, OPERATOR } from "../../turn/index.contract.ts";
import { cardOf } from "../../wire/index.ts";
import { AGENT_API } from "../agents/index.ts";
import { LIFE_API } from "./api.ts";
import { COST, DEAR, HOUR, livingAgent, livingRuntime, MINUTE } from "./index.contract.ts";
import { LIFE_STORE } from "./store.ts";

const CREDITS = { low: 5, critical: 1, modelCalls: 2 };
const PAID = { parts: [{ text: "Well." }], ...DEAR };
const LOOK = { parts: [{ call: "look", input: { at: "the sea" } }] };

describe("an agent that lives on credits", () => {
  it.each<[number, SurvivalTier]>([
    [5.000_001, "Normal"],
    [5, "LowCycles"],
    [1.000_001, "LowCycles"],
    [1, "Critical"],
    [0.01, "Critical"],
    [-1, "Critical"],
  ])("000.12 with %d dollars is %s", async (dollars, tier) => {
    const { pay, life } = await livingRuntime([], { credits: CREDITS });
    await pay(Math.abs(dollars));
    // Only what was paid can be taken back.
    if (dollars < 0) await pay(2 * dollars);
    expect((await life()).vitals).toMatchObject({ balance: dollars, tier });
  });

  it("000.20 tells its balance, how many hours it lasts at the rate of the last day, its turns and the time", async () => {
    const on = await livingRuntime([PAID, PAID, PAID], { credits: CREDITS });
    await on.pay(10);
    expect((await on.life()).vitals.runway).toBeUndefined();
    on.time.at += 30 * MINUTE;
    await on.say(await on.open("ann"), "Hi");
    // Spending in the first half hour is counted as if it took an hour.
    expect((await on.life()).vitals.runway).toBeCloseTo((10 - COST) / COST);
    on.time.at += 3.5 * HOUR;
    await on.say(await on.open("bob"), "Hi");
    const { vitals, credits } = await on.life();
    expect(vitals).toMatchObject({ turn: 2, at: on.time.at, state: "sleeping" });
    expect(vitals.balance).toBeCloseTo(10 - 2 * COST);
    expect(vitals.runway).toBeCloseTo((10 - 2 * COST) / ((2 * COST) / 4));
    expect(credits).toMatchObject({ toppedUp: 10, lastDay: { hours: 4 } });
    on.time.at += 30 * HOUR;
    expect((await on.life()).vitals.runway).toBeUndefined();
  });

  it("begins no turn without any: it says so before the start and sleeps, what was said waits, and a payment wakes it", async () => {
    const on = await livingRuntime(["Well."], { credits: CREDITS });
    const thread = await on.open();
    // If nothing waits, there is nothing to refuse.
    expect(await collect(on.runtime.run(OPERATOR, thread))).toEqual([]);
    await expect(on.say(thread, "Hi")).rejects.toMatchObject({
      code: "out_of_credits",
      message: expect.stringMatching(/helper has no credits yet .*\$0\.0000.* sleeps.*strata credits add/),
    });
    expect(on.sent).toHaveLength(0);
    expect(await on.runtime.pending(OPERATOR, thread)).toHaveLength(1);
    expect(await on.life()).toMatchObject({
      vitals: { state: "sleeping", tier: "Critical", balance: 0 },
      because: "it has no credits yet",
      asleep: "it has no credits yet",
    });

    await on.pay(2);
    expect(await on.life()).toMatchObject({ vitals: { state: "idle" } });
    expect(await on.life()).not.toHaveProperty("asleep");
    expect(endOf(await collect(on.runtime.run(OPERATOR, thread)))).toMatchObject({ type: "done", text: "Well." });
    expect(on.sent).toHaveLength(1);
  });

  it("falls asleep where a turn spent the last and had said nothing: it fails, is billed, and its message waits for a payment", async () => {
    const on = await livingRuntime([{ ...LOOK, ...DEAR }, "It is calm."], { credits: CREDITS });
    await on.pay(0.01);
    const thread = await on.open();
    const end = endOf(await on.say(thread, "Look."));
    expect(end).toMatchObject({ type: "failed", error: { code: "out_of_credits" }, totals: { modelCalls: 1 } });
    expect(await on.life()).toMatchObject({
      vitals: { state: "sleeping", balance: expect.closeTo(0.01 - COST) },
      because: "it has no credits left",
    });
    expect(await on.runtime.pending(OPERATOR, thread)).toHaveLength(1);
    await expect(collect(on.runtime.run(OPERATOR, thread))).rejects.toMatchObject({ code: "out_of_credits" });

    await on.pay(5);
    const text = "It is calm.";
    expect(endOf(await collect(on.runtime.run(OPERATOR, thread)))).toMatchObject({ type: "done", text });
    expect(await on.runtime.pending(OPERATOR, thread)).toEqual([]);
  });

  it("law 7: does not act again for a message whose turn the credits ended", async () => {
    const ring = { call: "ring", input: { bell: "door" } };
    const script = [{ parts: [ring] }, { ...LOOK, ...DEAR }, { parts: [ring] }, "Rung."];
    const on = await livingRuntime(script, { credits: CREDITS });
    await on.pay(0.01);
    const thread = await on.open();
    expect(endOf(await on.say(thread, "Ring."))).toMatchObject({ type: "failed", error: { code: "out_of_credits" } });
    expect(on.rung).toEqual(["door"]);
    await on.pay(5);
    expect(endOf(await collect(on.runtime.run(OPERATOR, thread)))).toMatchObject({ type: "done", text: "Rung." });
    expect(on.rung).toEqual(["door"]);
    expect(JSON.stringify(on.sent[3])).toContain("rang door");
  });

  it("falls asleep where a turn spent the last: what it had said is the reply, and no other turn begins", async () => {
    const said = { parts: [{ text: "I look." }, ...LOOK.parts], ...DEAR };
    const on = await livingRuntime([said, "Never."], { credits: CREDITS });
    await on.pay(0.01);
    const thread = await on.open();
    const end = endOf(await on.say(thread, "Look."));
    expect(end).toMatchObject({ type: "done", because: "credits", text: "I look." });
    expect(await on.life()).toMatchObject({ vitals: { state: "sleeping" }, because: "it has no credits left" });
    await expect(on.say(thread, "Hi")).rejects.toMatchObject({ code: "out_of_credits" });
    expect(on.sent).toHaveLength(1);
    // Less than it owes does not wake it.
    await on.pay(0.001);
    expect((await on.life()).vitals.state).toBe("sleeping");
  });

  it("has said what it said before others spent the last", async () => {
    const on = await livingRuntime([{ parts: [{ text: "I look." }, ...LOOK.parts] }, "Never."], { credits: CREDITS });
    await on.pay(0.01);
    const thread = await on.open();
    await on.runtime.post(OPERATOR, thread, [message("Look.", on.time.at)]);
    const events = [];
    for await (const event of on.runtime.run(OPERATOR, thread)) {
      events.push(event);
      if (event.type === "tool-end") await on.pay(-0.01);
    }
    expect(endOf(events)).toMatchObject({ type: "done", because: "credits", text: "I look." });
  });

  it("answers in its declared form or not at all: half an answer is none", async () => {
    const schema = { type: "object", properties: { sea: { type: "string" } }, required: ["sea"] } as const;
    const agent = livingAgent({ credits: CREDITS }, { output: schema });
    const on = await livingRuntime([{ parts: [{ text: "Calm." }], ...DEAR }, '{"sea":"calm"}'], {}, { agent });
    await on.pay(0.01);
    const thread = await on.open();
    expect(endOf(await on.say(thread, "Look."))).toMatchObject({ type: "failed", error: { code: "out_of_credits" } });
    await on.pay(5);
    const end = endOf(await collect(on.runtime.run(OPERATOR, thread)));
    expect(end).toMatchObject({ type: "done", text: '{"sea":"calm"}' });
  });

  it("tells what it has left without a look at anything else of its life, and counts what a running turn has spent", async () => {
    const on = await livingRuntime([{ ...LOOK, ...DEAR }, "Never."], { credits: CREDITS });
    await on.pay(0.01);
    const thread = await on.open();
    await on.runtime.post(OPERATOR, thread, [message("Look.", on.time.at)]);
    const asleep: (string | undefined)[] = [];
    for await (const { type } of on.runtime.run(OPERATOR, thread)) {
      const [one] = await on.runtime.use(AGENT_API).attention(OPERATOR);
      if (type !== "failed") asleep.push(one?.asleep);
    }
    expect(asleep).toContain("it has no credits left");
    const elsewhere = () => Promise.reject(new Error("not asked"));
    Object.assign(on.parts.store, { life: elsewhere, usage: elsewhere, turnCount: elsewhere, leases: elsewhere });
    expect(await on.runtime.use(LIFE_API).funds(OPERATOR, on.agent.name)).toEqual({
      balance: expect.closeTo(0.01 - COST),
      tier: "Critical",
      asleep: "it has no credits left",
    });
  });

  it("calls its model for one contact after the other where all at once would spend more than there is", async () => {
    const on = await livingRuntime(Array(5).fill(PAID), { credits: CREDITS });
    await on.pay(0.02);
    const threads = await Promise.all(["a", "b", "c", "d", "e"].map((contact) => on.open(contact)));
    const ends = (await Promise.all(threads.map((thread) => on.say(thread, "Hi")))).map(endOf);
    expect(ends.filter(({ type }) => type === "done")).toHaveLength(2);
    const failed = ends.flatMap((end) => (end.type === "failed" ? [end.error.code] : []));
    expect(failed).toEqual(["out_of_credits", "out_of_credits", "out_of_credits"]);
    expect(on.sent).toHaveLength(2);
  });

  it("is throttled while it is Critical: it calls its model twice a turn and no more", async () => {
    const on = await livingRuntime(Array(11).fill(LOOK), { credits: CREDITS });
    await on.pay(1.01);
    const thread = await on.open();
    expect(endOf(await on.say(thread, "Look."))).toMatchObject({ totals: { modelCalls: 8 } });
    await on.pay(-0.01);
    expect(endOf(await on.say(thread, "Look."))).toMatchObject({ because: "modelCalls", totals: { modelCalls: 2 } });
  });

  it("answers while it is Critical: the second request says that it must", async () => {
    const on = await livingRuntime([LOOK, "I have looked."], { credits: CREDITS });
    await on.pay(1);
    expect(endOf(await on.say(await on.open(), "Look."))).toMatchObject({
      because: "answered",
      text: "I have looked.",
    });
    expect(JSON.stringify(on.sent[1]?.messages)).toContain("Answer now.");
  });

  it("is answered by no model whose price is not known", async () => {
    const card = cardOf("anthropic:claude-sonnet-4-5");
    const parts = { cardOf: (model: string) => ({ ...card, priced: model !== "some:model" }) };
    const on = await livingRuntime(["Well."], { credits: CREDITS }, { parts });
    await on.pay(1);
    const [start] = await on.say(await on.open(), "Hi");
    const turn = start?.type === "turn-start" ? start.turn : turnId("");
    const model = { ...scripted(["Never."]).model, ref: "some:model" };
    await expect(collect(on.runtime.regenerate(OPERATOR, turn, { model }))).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/may spend only so much money, but the price of some:model is not known/),
    });
  });

  it("answers nothing once more without credits, and leaves no fork behind", async () => {
    const on = await livingRuntime([PAID, "Never."], { credits: CREDITS });
    await on.pay(0.01);
    const [start] = await on.say(await on.open(), "Hi");
    const turn = start?.type === "turn-start" ? start.turn : turnId("");
    await expect(collect(on.runtime.regenerate(OPERATOR, turn))).rejects.toMatchObject({ code: "out_of_credits" });
    expect(await on.runtime.threads(OPERATOR, { ...on.owner, contact: null }, 9)).toHaveLength(1);
  });

  it("has a compact prompt while it is Critical, where its mode is chosen by what fits", async () => {
    const agent = livingAgent({ credits: CREDITS }, { mode: "auto" });
    const on = await livingRuntime(["Well.", "Well."], {}, { agent });
    const modeOf = async (contact: string): Promise<unknown> => {
      const events = await on.say(await on.open(contact), "Hi");
      return events.flatMap((event) => (event.type === "compiled" ? [event.ledger.mode] : []));
    };
    await on.pay(1.01);
    expect(await modeOf("ann")).toEqual(["full"]);
    await on.pay(-0.01);
    expect(await modeOf("bob")).toEqual(["compact"]);
  });

  it("replays a recording for nothing", async () => {
    const on = await livingRuntime(["Well."], { credits: CREDITS });
    const thread = await on.open();
    await on.runtime.post(OPERATOR, thread, [message("Hi", on.time.at)]);
    const { model } = scripted(["As then."]);
    const again = on.runtime.run(OPERATOR, thread, { model: { ...model, ref: "recording" }, recorded: new Map() });
    expect(endOf(await collect(again))).toMatchObject({ type: "done", text: "As then." });
    expect(await on.store.part(LIFE_STORE).life(on.owner)).toBeUndefined();
  });
});

describe("payments", () => {
  it("are kept with who paid and why, the newest first; a mistake is taken back by a payment of less than nothing", async () => {
    const { runtime, agent, pay } = await livingRuntime([], { credits: CREDITS });
    await runtime.use(LIFE_API).topUp(OPERATOR, agent.name, { dollars: 5, note: untrusted("for December") });
    expect(await pay(-2)).toMatchObject({ toppedUp: 3, balance: 3 });
    expect(await runtime.use(LIFE_API).topUps(OPERATOR, agent.name, 9)).toMatchObject([
      { dollars: -2, by: "operator" },
      { dollars: 5, by: "operator", note: "for December" },
    ]);
  });

  it.each([0, Number.NaN, Number.POSITIVE_INFINITY, 1_000_001])("of %d dollars are refused", async (dollars) => {
    const { pay } = await livingRuntime([], { credits: CREDITS });
    await expect(pay(dollars)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("are refused for an agent that lives on none, with a note that is too long, and from anybody but an operator", async () => {
    const none = await livingRuntime([]);
    await expect(none.pay(1)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("has no credits configured"),
    });
    const { runtime, agent } = await livingRuntime([], { credits: CREDITS });
    const long = { dollars: 1, note: untrusted("x".repeat(501)) };
    await expect(runtime.use(LIFE_API).topUp(OPERATOR, agent.name, long)).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});
