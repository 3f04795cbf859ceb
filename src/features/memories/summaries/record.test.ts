import { describe, expect, it } from "vitest";
import { openRuntime } from "../../../app/entry/runtime.ts";
import { type Script, type ScriptedReply, scripted } from "../../../models/index.ts";
import {
  DEFAULT_BUDGETS,
  eventId,
  type Model,
  type Request,
  type StrataError,
  type TurnId,
  turnId,
  untrusted,
} from "../../../protocol/index.ts";
import { collect, endOf, message, OPERATOR, ORG, sampleAgent } from "../../../turn/index.contract.ts";
import { cardOf } from "../../../wire/index.ts";
import { MEMORY_API } from "../api-types.ts";
import { HOUR, isSummary, talked } from "./stage.contract.ts";

const COSTLY: ScriptedReply = { parts: [{ text: "Ann sails." }], usage: { input: 20_000, output: 10 } };
const CARD = { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") };

/** What Ann has said in the morning, an hour later. */
async function rested(...given: Parameters<typeof talked>) {
  const stand = await talked(...given);
  const { time, runtime, scope, store } = stand;
  time.at += HOUR;
  const threads = () => runtime.threads(OPERATOR, scope, 9);
  const ownThread = async () => {
    const thread = (await threads()).find(({ channel }) => channel === "consolidation");
    if (thread === undefined) throw new Error("nothing was summed up");
    return thread;
  };
  const problems = async () => (await collect(store.verify(ORG))).filter(({ type }) => type === "problem");
  return { ...stand, ownThread, problems };
}

/** A model that answers at once, and gives a summary when asked to. */
function slowly(summary: string) {
  const { model, sent } = scripted(
    Array<Script<Request>>(9).fill((request) => (isSummary(request) ? summary : "Aye.")),
  );
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: Model = {
    ...model,
    async *send(request, options) {
      if (isSummary(request)) {
        asked.resolve();
        await answered.promise;
      }
      yield* model.send(request, options);
    },
  };
  return { model: slow, sent, asked: asked.promise, answer: answered.resolve };
}

const codeOf = (call: Promise<unknown>): Promise<string | undefined> =>
  call.then(
    () => undefined,
    (thrown: StrataError) => thrown.code,
  );

describe("a summary in the record", () => {
  it("law 9: is a turn, whose request is rebuilt as it was sent, with its answer, and which is linked", async () => {
    const { runtime, consolidate, asked, problems, time } = await rested("Ann sails.");
    const [outcome] = await consolidate();
    const turn = await runtime.turn(OPERATOR, outcome?.turn as TurnId);
    const { request, reply } = await runtime.rebuilt(OPERATOR, turn.id, 1);
    expect(request).toEqual(asked()[0]);
    expect(reply?.parts).toEqual([{ type: "text", text: "Ann sails." }]);
    expect(turn).toMatchObject({
      status: "done",
      scope: { contact: "ann" },
      startedAt: time.at,
      link: { seq: 3 },
      requests: [{ taint: "contact", reply: { finish: "stop" }, ledger: { epoch: { n: 1, opened: true } } }],
      events: [
        {
          kind: "instruction",
          trust: "operator",
          content: [{ text: expect.stringMatching(/^Sum up 4 messages of thr_/) }],
        },
      ],
    });
    expect(await problems()).toEqual([]);
  });

  it("law 9: every one of them is rebuilt, each in an epoch that shows nothing of the one before", async () => {
    const { runtime, consolidate, asked, talk, time, ownThread, problems } = await rested(
      ({ messages }) => `A day of ${messages[0]?.parts.length}, ${time.at}.`,
    );
    await consolidate();
    await talk("ann");
    time.at += HOUR;
    await consolidate();
    const turns = await runtime.turns(OPERATOR, (await ownThread()).id);
    const rebuilt = await Promise.all(turns.map(({ id }) => runtime.rebuilt(OPERATOR, id, 1)));
    expect(rebuilt.map(({ request }) => request)).toEqual(asked());
    expect(rebuilt.map(({ epoch: { n, reason, cut } }) => [n, reason, cut])).toEqual([
      [1, "first", 0],
      [2, "cut", 2],
    ]);
    expect(await problems()).toEqual([]);
  });

  it("law 9: the ledger tells what stood in the request, and adds up to it", async () => {
    const { runtime, consolidate, ownThread } = await rested("Ann sails.");
    await consolidate();
    const [turn] = await runtime.turns(OPERATOR, (await ownThread()).id);
    const ledger = turn?.requests[0]?.ledger;
    expect(ledger?.entries).toMatchObject([
      { section: "message", trust: "contact", fate: "kept", items: { shown: 4, of: 4 } },
      { section: "summary", place: "tail", trust: "platform", fate: "kept" },
    ]);
    expect(ledger?.tokens).toBe(ledger?.entries.reduce((sum, { tokens }) => sum + tokens, 0));
  });

  it("is named by the memory as the turn in which it was made", async () => {
    const { consolidate, summaries } = await rested("Ann sails.");
    const [outcome] = await consolidate();
    expect((await summaries()).map(({ turn }) => turn)).toEqual([outcome?.turn]);
  });

  it("counts in what the scope has used, in tokens and in dollars", async () => {
    const { runtime, scope, consolidate } = await rested(COSTLY, { parts: CARD });
    const before = await runtime.usage(OPERATOR, scope);
    const [outcome] = await consolidate();
    const after = await runtime.usage(OPERATOR, scope);
    expect(outcome?.dollars).toBeGreaterThan(0.05);
    expect(after.dollars - before.dollars).toBeCloseTo(outcome?.dollars ?? 0);
    expect([after.turns - before.turns, after.requests - before.requests, after.input - before.input]).toEqual([
      1, 1, 20_000,
    ]);
  });

  it("counts against the agent's limit in the next program, too", async () => {
    const budgets = { ...DEFAULT_BUDGETS, spend: { dollars: 0.065, per: "ever" } } as const;
    const { parts, consolidate, scopeOf } = await rested(COSTLY, {
      agent: sampleAgent({ budgets }),
      parts: CARD,
      contacts: ["ann", "bob"],
    });
    await consolidate();
    const next = openRuntime(parts);
    expect(await codeOf(collect(next.use(MEMORY_API).consolidate(OPERATOR, scopeOf("bob"))))).toBe("spend_limit");
  });

  it.each<[string, Error | ScriptedReply, object, object]>([
    ["whose model failed", new Error("overloaded"), { code: "model_failed" }, { reply: null }],
    [
      "whose answer could not be kept",
      { parts: [{ text: "Ann" }], end: { finish: "length" } },
      { code: "model_failed", message: expect.stringContaining("did not finish it (length)") },
      { reply: { finish: "length" } },
    ],
  ])("law 14: stands there too %s, and nothing waits on its thread then", async (_, answer, end, request) => {
    const { runtime, consolidate, ownThread, problems, asked, summaries } = await rested(answer);
    await consolidate().catch(() => undefined);
    const thread = await ownThread();
    const [turn] = await runtime.turns(OPERATOR, thread.id);
    expect(turn).toMatchObject({ status: "failed", end, requests: [request] });
    expect((await runtime.rebuilt(OPERATOR, turn?.id as TurnId, 1)).request).toEqual(asked()[0]);
    expect(await runtime.pending(OPERATOR, thread)).toEqual([]);
    expect(await summaries()).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it("law 7: and its memory land in one commit: of a turn that was interrupted there is neither, and the next one ends it", async () => {
    const { store, runtime, consolidate, ownThread, summaries, time, problems, scope } = await rested("Ann sails.");
    await consolidate();
    const [first] = await summaries();
    if (first) await runtime.use(MEMORY_API).forget(OPERATOR, scope, first.id);
    const thread = await ownThread();
    const { content, kind, trust } = (await runtime.turns(OPERATOR, thread.id))[0]?.events[0] ?? message("", 0);
    const id = eventId("evt_01jd8k3v5x9m2q7r4t6w8y0zab");
    await store.receive(thread.scope, thread.id, [{ id, kind, trust, channel: "consolidation", content, at: time.at }]);
    const turn = turnId("trn_01jd8k3v5x9m2q7r4t6w8y0zab");
    const gone = { turn, holder: "gone", now: 0, until: 1, at: time.at, alive: () => false };
    expect(await store.claim(thread.scope, thread.id, gone)).toMatchObject({ state: "claimed" });
    expect(await summaries()).toEqual([]);
    expect(await consolidate()).toHaveLength(1);
    expect((await runtime.turns(OPERATOR, thread.id)).map(({ status }) => status)).toEqual(["done", "failed", "done"]);
    expect(await summaries()).toHaveLength(1);
    expect(await problems()).toEqual([]);
  });

  it("goes with its contact: an erasure blanks its texts, and the record stays whole", async () => {
    const { runtime, consolidate, scope, problems, agent } = await rested("Ann sails.");
    const [outcome] = await consolidate();
    await runtime.erase(OPERATOR, { contact: scope.contact, agent: agent.name });
    expect(await codeOf(runtime.rebuilt(OPERATOR, outcome?.turn as TurnId, 1))).toBe("record_broken");
    expect(JSON.stringify(await runtime.turn(OPERATOR, outcome?.turn as TurnId))).not.toContain("Ann sails");
    expect(await problems()).toEqual([]);
  });
});

describe("the thread of summaries", () => {
  it("law 2: takes no message, and nobody continues from it: it has no layer of the agent", async () => {
    const { runtime, consolidate, ownThread, agent, scope, time } = await rested("Ann sails.");
    const [outcome] = await consolidate();
    const thread = await ownThread();
    const conversation = { agent: agent.name, contact: scope.contact, channel: "consolidation", key: thread.key };
    const tries = [
      runtime.open(OPERATOR, conversation),
      runtime.post(OPERATOR, thread, [message("Hi", time.at)]),
      collect(runtime.run(OPERATOR, thread)),
      runtime.fork(OPERATOR, thread.id, {}),
      collect(runtime.regenerate(OPERATOR, outcome?.turn as TurnId)),
      runtime.compose(OPERATOR, conversation, untrusted("Hi")),
    ];
    expect(await Promise.all(tries.map(codeOf))).toEqual(tries.map(() => "invalid_input"));
  });

  it("law 12: becomes no memory, neither what was asked for nor what was answered", async () => {
    const { consolidate, said, summaries } = await rested("Ann sails.");
    const before = await said();
    await consolidate();
    expect(await said()).toEqual(before);
    expect((await summaries()).map(({ content }) => content)).toEqual(["Ann sails."]);
  });

  it("keeps no turn of the contact waiting", async () => {
    const { model, asked, answer } = slowly("Ann sails.");
    const { consolidate, open, say } = await rested("", { parts: { modelOf: async () => model } });
    const summing = consolidate();
    await asked;
    expect(endOf(await say(await open(), "Are you there?"))).toMatchObject({ type: "done" });
    answer();
    expect(await summing).toHaveLength(1);
  });

  it("is held by one program at a time: another asks for nothing meanwhile", async () => {
    const { model, asked, answer, sent } = slowly("Ann sails.");
    const { consolidate, parts, scope } = await rested("", { parts: { modelOf: async () => model } });
    const summing = consolidate();
    await asked;
    expect(await collect(openRuntime(parts).use(MEMORY_API).consolidate(OPERATOR, scope))).toEqual([]);
    answer();
    expect(await summing).toHaveLength(1);
    expect(sent.filter(isSummary)).toHaveLength(1);
  });

  it("is there once for each version of the agent, whose model answers on it", async () => {
    const { parts, consolidate, scope, runtime, agent, talk, time } = await rested(() => `At ${time.at}.`);
    await consolidate();
    await talk("ann");
    time.at += HOUR;
    const changed = sampleAgent({ description: "changed" });
    const next = openRuntime({ ...parts, agents: { ...parts.agents, all: [changed] } });
    await collect(next.use(MEMORY_API).consolidate(OPERATOR, scope));
    const own = (await runtime.threads(OPERATOR, scope, 9)).filter(({ channel }) => channel === "consolidation");
    expect(new Set(own.map(({ version }) => version))).toEqual(new Set([agent.version, changed.version]));
  });
});
