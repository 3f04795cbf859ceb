import { describe, expect, it } from "vitest";
import type { Script } from "../models/index.ts";
import { type Prediction, type Request, trusted } from "../protocol/index.ts";
import { cardOf, rulesOf, type SeenRequest, seenOf, simulate } from "../wire/index.ts";
import { OPERATOR, sampleAgent, stage } from "./stage.contract.ts";

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
    const { say, open, sent, time, runtime, store } = await stage(script, { agent: talker() });
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
      // What an unanswered call leaves in the cache, nobody knows.
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

const many = (n: number): readonly string[] => Array.from({ length: n }, (_, i) => `Day ${i}.`);
