import { describe, expect, it } from "vitest";
import { SETTING_API } from "../../features/settings/index.ts";
import type { Script } from "../../models/index.ts";
import { type Breakpoint, type Prediction, type Request, trusted, untrusted } from "../../protocol/index.ts";
import { cardOf, rulesOf, type SeenRequest, seenOf, simulate } from "../../wire/index.ts";
import { OPERATOR, sampleAgent, testRuntime } from "../index.contract.ts";

const WIRE = "anthropic:claude-sonnet-4-5";
const count = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);
const MINUTE = 60_000;

/** An agent whose prefix is long enough to be kept, and whose conversation is soon too long. */
function talker() {
  const agent = sampleAgent();
  const layers = agent.layers.map((layer) =>
    layer.id === "identity"
      ? { ...layer, source: { kind: "text", text: trusted("Be kind. ".repeat(600)) } as const }
      : layer,
  );
  return sampleAgent({ layers, budgets: { ...agent.budgets, total: 4_200, reply: 200 } });
}

const look: Script<Request> = { parts: [{ call: "look", input: { at: "the sea" } }] };
const LONG = "The sea was calm and the wind came from the west, as it had for days. ".repeat(6);

describe("what a call is expected to be billed", () => {
  it("is recorded with it, and is what the rules say of all that the thread sent: rounds, pauses, failures and cuts", async () => {
    const script: Script<Request>[] = ["Aye.", look, "A sail.", new Error("gone"), "Again.", "Cold.", ...many(12)];
    const { say, open, sent, time, runtime, store } = await testRuntime(script, { agent: talker() });
    const thread = await open();
    for (const gap of [0, 1, 1, 1, 9, ...Array.from({ length: 12 }, () => 1)]) {
      time.at += gap * MINUTE;
      await say(thread, LONG);
    }
    const records = (await runtime.turns(OPERATOR, thread.id)).flatMap(({ requests }) => requests);
    expect(records).toHaveLength(sent.length);
    const seen: SeenRequest[] = [];
    const expected = records.map((record, n): Prediction => {
      const request = sent[n];
      if (request === undefined) throw new Error("it was not sent");
      const now = seenOf(request, count, { at: record.at, model: WIRE });
      const bill = simulate([...seen, now], rulesOf(cardOf(WIRE))).at(-1);
      // What an unanswered call leaves in the cache is unknown.
      if (record.reply !== null) seen.push(now);
      const { read = 0, write5m = 0, write1h = 0, input = 0 } = bill ?? {};
      return { read, write: write5m + write1h, writeLong: write1h, input };
    });
    expect(records.map(({ prediction }) => prediction)).toEqual(expected);
    expect(expected.map(({ read }) => read > 1_500)).toEqual(expected.map((_, n) => n !== 0 && n !== 5));
    expect(records.some(({ ledger }) => ledger.epoch.cut > 0)).toBe(true);
    await store.close();
  });
});

it("001.4 another thinking level is priced like an edit: Claude reads its messages again, and once more nothing is lost", async () => {
  const settings = {
    thinking: { choices: ["low", "high"], settableBy: "contacts", sets: "reasoning", default: "low" },
  } as const;
  const agent = sampleAgent({ ...talker(), settings, budgets: sampleAgent().budgets });
  const usage = { input: 4_000 };
  const script = many(4).map((text) => ({ parts: [{ text }], usage }));
  const { say, open, time, runtime } = await testRuntime(script, { agent, parts: { cardOf: () => cardOf(WIRE) } });
  const thread = await open();
  for (const level of ["low", "low", "high", "high"]) {
    time.at += MINUTE;
    await runtime.use(SETTING_API).setSetting(OPERATOR, thread.id, { name: "thinking", value: level });
    await say(thread, LONG);
  }
  const read = (await runtime.turns(OPERATOR, thread.id)).map(({ requests }) => requests[0]?.prediction?.read ?? 0);
  expect(read[1]).toBeGreaterThan(1_500);
  expect(read[2]).toBeLessThan(read[1] ?? 0);
  expect(read[2]).toBeGreaterThan(1_500);
  expect(read[3]).toBeGreaterThan(read[1] ?? 0);
});

describe("how long the breakpoints of a request keep", () => {
  const marksOf = ({ breakpoints }: { readonly breakpoints: readonly Breakpoint[] }): string =>
    breakpoints.map(({ lifetime }) => lifetime).join(" ");

  it("follows the pauses of the thread, once it is warm again, and what is written for an hour costs more", async () => {
    const usage = { input: 4_000, cacheRead: 3_000, cacheWrite: 900 };
    const script = many(20).map((text) => ({ parts: [{ text }], usage }));
    const roomy = { ...talker(), budgets: sampleAgent().budgets };
    const parts = { cardOf: () => cardOf(WIRE) };
    const { say, open, sent, time, runtime, store } = await testRuntime(script, { agent: sampleAgent(roomy), parts });
    const thread = await open();
    for (const minutes of [0, 1, 10, 1, 10, 1, 1, 3 * 24 * 60, 1]) {
      time.at += minutes * MINUTE;
      await say(thread, "Is it calm?");
    }
    const chosen = sent.map(marksOf);
    expect(chosen.slice(0, 3)).toEqual(["5m 5m", "5m 5m 5m", "5m 5m 5m"]);
    expect(chosen[5]).toBe("1h 1h 1h");
    // The cache is cold: all of it would be written at the dearer price.
    expect(chosen[7]?.endsWith("5m 5m")).toBe(true);
    const records = (await runtime.turns(OPERATOR, thread.id)).flatMap(({ requests }) => requests);
    expect(records.map(marksOf)).toEqual(chosen);
    expect(records[5]?.prediction?.writeLong).toBe(records[5]?.prediction?.write);
    expect((records[5]?.dollars ?? 0) - (records[1]?.dollars ?? 0)).toBeCloseTo((900 * (6 - 3.75)) / 1_000_000, 6);
    const conversation = {
      agent: sampleAgent(roomy).name,
      contact: thread.scope.contact,
      channel: "test",
      key: "main",
    };
    time.at += MINUTE;
    const composed = await runtime.compose(OPERATOR, conversation, untrusted("Is it calm?"));
    await say(thread, "Is it calm?");
    expect(marksOf(composed.request)).toBe(sent.slice(-1).map(marksOf).join());
    await store.close();
  });

  it("keeps for an hour what all contacts send, where the agent is asked again and again after ten minutes", async () => {
    const roomy = sampleAgent({ ...talker(), budgets: sampleAgent().budgets });
    const { say, open, sent, time, store } = await testRuntime(many(12), { agent: roomy });
    for (const contact of ["ann", "bob", "cid", "dan", "eve", "fay"]) {
      time.at += 10 * MINUTE;
      await say(await open(contact), "Is it calm?");
    }
    expect([marksOf(sent[0] ?? { breakpoints: [] }), marksOf(sent[5] ?? { breakpoints: [] })]).toEqual([
      "5m 5m",
      "1h 5m",
    ]);
    await store.close();
  });
});

const many = (n: number): readonly string[] => Array.from({ length: n }, (_, i) => `Day ${i}.`);
