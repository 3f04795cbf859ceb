import { describe, expect, it } from "vitest";
import type { ScriptedReply } from "../../models/index.ts";
import { type AssistantPart, DEFAULT_BUDGETS, type Request } from "../../protocol/index.ts";
import { cardOf } from "../../wire/index.ts";
import { endOf, OPERATOR, sampleAgent, testRuntime } from "../index.contract.ts";

const LONG = "The sea was calm and the wind came from the west, as it had for days. ".repeat(4);
const BINDING = {
  cardOf: (ref: string) => ({ ...cardOf(ref), tailMode: "delta" as const, reasoningBoundToHistory: true }),
};

/** A reply with reasoning that is identified by its signature. */
const thinks = (n: number, then: ScriptedReply["parts"]): ScriptedReply => ({
  parts: [{ reasoning: `Thought ${n}.`, metadata: { anthropic: { signature: `sig-${n}` } } }, ...then],
});

const agentWith = (total: number) =>
  sampleAgent({ recall: "none", budgets: { ...DEFAULT_BUDGETS, total, reply: 200, result: 900 } });

const reasoningIn = ({ messages }: Request): readonly AssistantPart[] =>
  messages.flatMap(({ role, parts }) => (role === "assistant" ? parts.filter(({ type }) => type === "reasoning") : []));

/** Where the conversation begins otherwise than in the request before. */
const cutsIn = (sent: readonly Request[]): readonly number[] => {
  const starts = sent.map(({ messages }) => JSON.stringify(messages[0]));
  return starts.flatMap((start, n) => (n > 0 && start !== starts[n - 1] ? [n] : []));
};

/** Sends this many messages to an agent whose model binds its reasoning; each answer has reasoning. */
async function talked(turns: number) {
  const script = Array.from({ length: turns }, (_, n) => thinks(n + 1, [{ text: `Aye ${n + 1}.` }]));
  const stand = await testRuntime(script, { agent: agentWith(2_500), parts: BINDING });
  const thread = await stand.open();
  for (let n = 1; n <= turns; n++) {
    stand.time.at += 60_000;
    expect(endOf(await stand.say(thread, `Day ${n}. ${LONG}`)).type).toBe("done");
  }
  return { ...stand, thread };
}

describe("on a model that binds its reasoning to all that went before it", () => {
  it("the first request after a cut holds no older reasoning, and keeps what was said", async () => {
    const { sent } = await talked(24);
    const [at = 0] = cutsIn(sent);
    const [before, after] = [sent[at - 1], sent[at]];
    expect(before && reasoningIn(before)).toHaveLength(at - 1);
    expect(after && reasoningIn(after)).toEqual([]);
    expect(JSON.stringify(after?.messages)).not.toMatch(/sig-|metadata/);
    expect(JSON.stringify(after?.messages)).toContain(`Aye ${at}.`);
  });

  it("law 1: later turns replay theirs as received, and each request begins with the one before within its epoch", async () => {
    const { sent, runtime, thread, store } = await talked(24);
    const cuts = cutsIn(sent);
    expect(cuts.length).toBeGreaterThan(1);
    for (const [n, request] of sent.entries()) {
      const since = cuts.findLast((cut) => cut <= n) ?? 0;
      // Answer n+1 was given to request n: what was reasoned since the cut is all there, as it came.
      expect(reasoningIn(request)).toEqual(
        Array.from({ length: n - since }, (_, i) => ({
          type: "reasoning",
          text: `Thought ${since + i + 1}.`,
          metadata: { anthropic: { signature: `sig-${since + i + 1}` } },
        })),
      );
      if (n > since) expect(request.messages.slice(0, sent[n - 1]?.messages.length)).toEqual(sent[n - 1]?.messages);
    }
    const turns = await runtime.turns(OPERATOR, thread.id);
    const reasons = turns.flatMap(({ requests }) => requests.map(({ ledger }) => ledger.epoch.reason));
    expect(new Set(reasons)).toEqual(new Set(["first", "cut"]));
    for await (const finding of store.verify(thread.scope.org)) expect(finding.type).not.toBe("problem");
  });

  it("a cut in the middle of a turn also leaves out what the turn itself has reasoned, and the record does so, too", async () => {
    const script = Array.from({ length: 60 }, (_, n) => (request: Request) => {
      const asked = request.messages.findLast(({ role }) => role === "user");
      const looks = JSON.stringify(asked).includes("Look around") && n < 44;
      return thinks(n, [looks ? { call: "look", input: { at: `long ${LONG}` } } : { text: "Aye." }]);
    });
    const stand = await testRuntime(script, { agent: agentWith(4_000), parts: BINDING });
    const thread = await stand.open();
    for (let n = 1; n <= 40; n++) await stand.say(thread, `Day ${n}. ${LONG}`);
    const events = await stand.say(thread, "Look around");
    expect(endOf(events).type).toBe("done");
    // Request 41 is the turn's first.
    const first = cutsIn(stand.sent).find((n) => n > 40);
    expect(first).toBeDefined();
    for (const request of stand.sent.slice(first)) expect(JSON.stringify(request.messages)).not.toContain("sig-");
    const turn = (await stand.runtime.turns(OPERATOR, thread.id)).at(-1);
    expect(turn?.requests.at(-1)?.ledger.epoch.reason).toBe("refused");
    if (turn === undefined) throw new Error("no turn was recorded");
    for (const { n } of turn.requests)
      expect((await stand.runtime.rebuilt(OPERATOR, turn.id, n)).request).toEqual(stand.sent[40 + n - 1]);
  });

  it("keeps its reasoning through a cut where nothing binds it", async () => {
    const script = Array.from({ length: 24 }, (_, n) => thinks(n + 1, [{ text: "Aye." }]));
    const stand = await testRuntime(script, { agent: agentWith(2_500) });
    const thread = await stand.open();
    for (let n = 1; n <= 24; n++) await stand.say(thread, `Day ${n}. ${LONG}`);
    for (const request of stand.sent) {
      const answers = request.messages.filter(({ role }) => role === "assistant");
      expect(reasoningIn(request)).toHaveLength(answers.length);
    }
  });
});
