import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  actorId,
  agentName,
  allow,
  contactId,
  eventId,
  issueId,
  layerId,
  type Request,
  type TurnEvent,
  type TurnId,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import {
  collect,
  endOf,
  message,
  OPERATOR,
  ORG,
  sampleAgent,
  type TestRuntime,
  testRuntime,
} from "../index.contract.ts";

const startOf = (events: readonly TurnEvent[]): Extract<TurnEvent, { type: "turn-start" }> => {
  const [start] = events;
  if (start?.type !== "turn-start") throw new Error("the turn did not start");
  return start;
};

/** Has a thread with as many answered messages, and its turns. */
async function talked(
  at: TestRuntime,
  texts: readonly string[],
): Promise<{ thread: Thread; turns: readonly TurnId[] }> {
  const thread = await at.open();
  const turns: TurnId[] = [];
  for (const text of texts) turns.push(startOf(await at.say(thread, text)).turn);
  return { thread, turns };
}

const stable = (request: Request | undefined): string =>
  JSON.stringify([request?.prefix, request?.messages]).slice(0, -"]}]]".length);

describe("a fork", () => {
  it("law 1 its next request begins with its parent's bytes up to that turn, wherever it is made", async () => {
    const text = fc.string({ unit: "binary", minLength: 1, maxLength: 200 }).filter((one) => one.trim() !== "");
    const walk = fc.array(text, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(walk, text, fc.nat(), async (texts, next, choice) => {
        const at = await testRuntime([...texts.map((one) => `You said ${one.length}`), "On the fork"]);
        const { thread, turns } = await talked(at, texts);
        const point = choice % turns.length;
        const turn = turns[point];
        if (turn === undefined) throw new Error("no turn");
        const before = await at.store.epoch(thread.scope, thread.id);
        const forked = await at.runtime.fork(OPERATOR, thread.id, { turn, key: "other" });
        expect(endOf(await at.say(forked, next))).toMatchObject({ type: "done", text: "On the fork" });
        expect(stable(at.sent.at(-1)).startsWith(stable(at.sent[point]))).toBe(true);
        // The parent's reply to that turn is in it too, and nothing after it.
        expect(at.sent.at(-1)?.messages).toHaveLength(2 * (point + 1) + 1);
        expect(await at.store.epoch(thread.scope, thread.id)).toEqual(before);
        await at.store.close();
      }),
      { numRuns: 25, interruptAfterTimeLimit: 55_000 },
    );
  }, 60_000);

  it("is made after the last done turn where none is named, once per key", async () => {
    const at = await testRuntime([
      "one",
      "two",
      new Error("down"),
      new Error("down"),
      new Error("down"),
      new Error("down"),
      new Error("down"),
    ]);
    const { thread, turns } = await talked(at, ["a", "b"]);
    await at.say(thread, "c");
    const forked = await at.runtime.fork(OPERATOR, thread.id, { key: "other" });
    expect(forked).toMatchObject({
      scope: thread.scope,
      version: thread.version,
      channel: thread.channel,
      key: "other",
      forkedFrom: { thread: thread.id, turn: turns[1] },
    });
    expect((await at.runtime.fork(OPERATOR, thread.id, { key: "other" })).id).toBe(forked.id);
    const elsewhere = { turn: turns[0] as TurnId, key: "other" };
    await expect(at.runtime.fork(OPERATOR, thread.id, elsewhere)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(at.runtime.fork(OPERATOR, thread.id, { key: "main" })).rejects.toThrow(/choose another key/);
    const again = await at.runtime.fork(OPERATOR, forked.id, { key: "third" });
    expect(again.forkedFrom).toEqual({ thread: thread.id, turn: turns[1] });
    await at.store.close();
  });

  it("is made by those who may read and post there, of turns of that thread", async () => {
    const at = await testRuntime(["one", "two"]);
    const { thread } = await talked(at, ["a"]);
    const other = await at.open("bob");
    const { turn } = startOf(await at.say(other, "b"));
    await expect(at.runtime.fork(OPERATOR, thread.id, { turn, key: "x" })).rejects.toMatchObject({
      code: "turn_not_found",
    });
    const bob = allow(
      {
        org: ORG,
        id: actorId("member:mia"),
        role: "member",
        agent: agentName("helper"),
        contact: contactId("bob"),
      },
      "post",
      "read",
    );
    await expect(at.runtime.fork(bob, thread.id, { key: "x" })).rejects.toMatchObject({ code: "thread_not_found" });
    await at.store.eraseContact(thread.scope, OPERATOR, at.time.at);
    await expect(at.runtime.fork(OPERATOR, thread.id, { key: "x" })).rejects.toMatchObject({
      code: "thread_not_found",
    });
    await at.store.close();
  });
});

describe("a turn that is generated again", () => {
  it("answers the same messages on a fork from before it, and leaves the old answer", async () => {
    const at = await testRuntime(["one", "two", "another two", "another one"]);
    const thread = await at.open();
    await at.say(thread, "a");
    await at.runtime.post(OPERATOR, thread, [message("b", at.time.at, "m1"), message("c", at.time.at, "m2")]);
    await collect(at.runtime.run(OPERATOR, thread));
    const [first, second] = await at.runtime.turns(OPERATOR, thread.id);
    if (!first || !second) throw new Error("two turns");

    const events = await collect(at.runtime.regenerate(OPERATOR, second.id));
    expect(endOf(events)).toMatchObject({ type: "done", text: "another two" });
    expect(at.sent[2]?.messages).toEqual(at.sent[1]?.messages);
    expect(at.sent[2]?.prefix).toEqual(at.sent[1]?.prefix);
    const forked = await at.runtime.thread(OPERATOR, startOf(events).thread);
    expect(forked.forkedFrom).toEqual({ thread: thread.id, turn: first.id });

    const anew = await collect(at.runtime.regenerate(OPERATOR, first.id));
    expect(endOf(anew)).toMatchObject({ text: "another one" });
    expect(at.sent[3]?.messages).toEqual(at.sent[0]?.messages);
    expect(startOf(anew).thread).not.toBe(forked.id);
    expect((await at.runtime.slots(OPERATOR, thread.id)).map(({ text }) => text)).toEqual([
      "a",
      "one",
      "b",
      "c",
      "two",
    ]);
    await at.store.close();
  });
});

describe("a turn that is generated again, and what is remembered of it", () => {
  const KEY = "Where is the key of the boat house?";
  const requestText = (request: Request | undefined): string => JSON.stringify([request?.messages, request?.tail]);
  const lastTurn = async ({ runtime }: TestRuntime, thread: Thread): Promise<TurnId> => {
    const turn = (await runtime.turns(OPERATOR, thread.id)).at(-1);
    if (turn === undefined) throw new Error("no turn");
    return turn.id;
  };

  it("does not see its earlier answers in what is recalled, however often; other conversations do", async () => {
    const agent = sampleAgent({ recall: "search" });
    const at = await testRuntime(["Under the blue pot.", "In the red shed.", "I do not know.", "Fine.", "As said."], {
      agent,
    });
    const thread = await at.open();
    await at.say(thread, KEY);
    const again = await collect(at.runtime.regenerate(OPERATOR, await lastTurn(at, thread)));
    expect(requestText(at.sent[1])).toContain(KEY);
    expect(requestText(at.sent[1])).not.toContain("blue pot");
    const fork = await at.runtime.thread(OPERATOR, startOf(again).thread);
    const third = await collect(at.runtime.regenerate(OPERATOR, await lastTurn(at, fork)));
    expect(requestText(at.sent[2])).not.toMatch(/blue pot|red shed/);
    // It goes on on the fork, where only the answer given there has happened.
    await at.say(await at.runtime.thread(OPERATOR, startOf(third).thread), "Is the key of the boat house blue or red?");
    expect(requestText(at.sent[3])).not.toMatch(/blue pot|red shed/);
    const conversation = { agent: agent.name, contact: contactId("ann"), channel: "test", key: "another" };
    await at.say(await at.runtime.open(OPERATOR, conversation), KEY);
    expect(requestText(at.sent[4])).toContain("blue pot");
    await at.store.close();
  });

  const save = { parts: [{ call: "memory_save", id: "c1", input: { content: "The key hangs under the pot" } }] };

  it("does not see what was saved in it, frozen or recalled", async () => {
    for (const recall of ["frozen", "auto"] as const) {
      const at = await testRuntime([save, "Saved.", "Not this time.", "Under the pot."], {
        agent: sampleAgent({ recall }),
      });
      const thread = await at.open();
      await at.say(thread, KEY);
      await collect(at.runtime.regenerate(OPERATOR, await lastTurn(at, thread)));
      expect(requestText(at.sent[2])).not.toContain("under the pot");
      const elsewhere = { agent: at.agent.name, contact: contactId("ann"), channel: "test", key: "another" };
      await at.say(await at.runtime.open(OPERATOR, elsewhere), KEY);
      expect(requestText(at.sent[3])).toContain("under the pot");
      await at.store.close();
    }
  });

  it("knows from then on what it saved once more", async () => {
    const agent = sampleAgent({ history: "log", recall: "search" });
    const at = await testRuntime([save, "Saved.", save, "Saved again.", "Under the pot."], { agent });
    const thread = await at.open();
    await at.say(thread, KEY);
    const again = await collect(at.runtime.regenerate(OPERATOR, await lastTurn(at, thread)));
    expect(requestText(at.sent[2])).not.toContain("under the pot");
    await at.say(await at.runtime.thread(OPERATOR, startOf(again).thread), KEY);
    expect(requestText(at.sent[4])).toContain("under the pot");
    await at.store.close();
  });

  it("does not see it in the log of what was said with the sender", async () => {
    const log = { id: layerId("log"), source: { kind: "conversation", entries: 5, compact: 2 } } as const;
    const agent = sampleAgent({ history: "log", recall: "none" });
    const layers = agent.layers.map((layer) => (layer.source.kind === "recall" ? { ...layer, ...log } : layer));
    const at = await testRuntime(["Good day.", "Under the blue pot.", "No idea."], { agent: { ...agent, layers } });
    const thread = await at.open();
    await at.say(thread, "Hello there.");
    await at.say(thread, KEY);
    expect(requestText(at.sent[1])).toContain("Good day.");
    await collect(at.runtime.regenerate(OPERATOR, await lastTurn(at, thread)));
    expect(requestText(at.sent[2])).toContain("Good day.");
    expect(requestText(at.sent[2])).not.toContain("blue pot");
    await at.store.close();
  });
});

describe("a turn that would act twice", () => {
  const ringing = { parts: [{ call: "ring", id: "c1", input: { bell: "door" } }] };

  it("is not generated again while its messages wait: a run answers them", async () => {
    const at = await testRuntime([ringing, new Error("gone"), ringing, "Rung.", "Well."]);
    const thread = await at.open();
    const { turn } = startOf(await at.say(thread, "ring"));
    const again = () => collect(at.runtime.regenerate(OPERATOR, turn, { again: true }));
    await expect(again()).rejects.toMatchObject({ code: "invalid_input", message: expect.stringContaining("/retry") });
    expect(endOf(await collect(at.runtime.run(OPERATOR, thread)))).toMatchObject({ text: "Rung." });
    expect(at.rung).toEqual(["door"]);
    expect(endOf(await again())).toMatchObject({ type: "done", text: "Well." });
    await at.store.close();
  });

  it("is generated again by those only who know that it called what acts outside", async () => {
    const at = await testRuntime([ringing, "Rung.", ringing, "Rung twice."]);
    const { turn } = startOf(await at.say(await at.open(), "ring"));
    await expect(collect(at.runtime.regenerate(OPERATOR, turn))).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/called ring, which acts outside.*--again/),
    });
    expect(await at.runtime.threads(OPERATOR, { org: ORG, agent: at.agent.name, contact: null }, 9)).toHaveLength(1);
    const events = await collect(at.runtime.regenerate(OPERATOR, turn, { again: true }));
    expect(endOf(events)).toMatchObject({ text: "Rung twice." });
    expect(at.rung).toEqual(["door", "door"]);
    await at.store.close();
  });
});

describe("a turn that another program runs", () => {
  it("is stopped through the store; its messages keep waiting", async () => {
    const one = await testRuntime([{ parts: [{ text: "a" }], end: "hang" }]);
    const two = await testRuntime([], { store: one.store, parts: { holder: "other" } });
    const thread = await one.open();
    await one.runtime.post(OPERATOR, thread, [message("Hi", one.time.at)]);
    const events: TurnEvent[] = [];
    for await (const event of one.runtime.run(OPERATOR, thread)) {
      events.push(event);
      if (event.type === "text-delta") expect(await two.runtime.cancel(OPERATOR, thread.id)).toBe(true);
    }
    expect(endOf(events)).toMatchObject({ type: "failed", error: { code: "turn_cancelled" } });
    expect(await two.runtime.pending(OPERATOR, thread)).toHaveLength(1);
    expect(await two.runtime.cancel(OPERATOR, thread.id)).toBe(false);
    await one.store.close();
  });
});

it("what is answered once more still says whether its sender is proven", async () => {
  const at = await testRuntime(["One.", "Two."], { agent: sampleAgent({ history: "log" }) });
  const thread = await at.open();
  const id = eventId(issueId("event", 1, new Uint8Array(10)));
  await at.store.receive(thread.scope, thread.id, [{ ...message("Pay me.", at.time.at), proof: "proven", id }]);
  const { turn } = startOf(await collect(at.runtime.run(OPERATOR, thread)));
  expect(endOf(await collect(at.runtime.regenerate(OPERATOR, turn))).type).toBe("done");
  for (const { messages } of at.sent) expect(JSON.stringify(messages)).toContain("[message contact proven ");
  await at.store.close();
});
