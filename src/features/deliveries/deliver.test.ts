import { describe, expect, it } from "vitest";
import { httpFixture } from "../../doors/http/index.contract.ts";
import { scripted } from "../../models/index.ts";
import { contactId, threadId } from "../../protocol/index.ts";
import { collect, endOf, message, OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { type Outgoing, type Runtime, readRecording, replay } from "../../turn/index.ts";
import { INBOX_API } from "../inbox/index.ts";
import { DELIVERY_API } from "./api.ts";
import type { Delivery, DeliveryReport, SendDelivery } from "./deliver.ts";
import { OUTBOX_STORE } from "./store.ts";

const AGENT = sampleAgent({ deliver: { url: "https://receiver.example/replies" } });
const MINUTE = 60_000;

/** A receiver that answers each try as given, and accepts all later ones. */
function receiver(...troubles: readonly string[]) {
  const tries: Delivery[] = [];
  const send: SendDelivery = async (delivery) => {
    const trouble = troubles[tries.length];
    tries.push(delivery);
    if (trouble !== undefined) throw new Error(trouble);
  };
  return { tries, send };
}

/** An agent that has said something, and the attempts to deliver it. */
async function delivering(...troubles: readonly string[]) {
  const { tries, send } = receiver(...troubles);
  const time = { now: Date.parse("2026-11-21T08:00:00Z") };
  const on = await testRuntime(["Here is your bread.", "And your cake.", "And your tea."], {
    agent: AGENT,
    parts: { sendDelivery: send, clock: { real: () => time.now } },
  });
  const thread = await on.open();
  const later = (minutes: number): void => {
    time.now += minutes * MINUTE;
  };
  /** Posts a message while nothing listens. */
  const unread = async (text: string): Promise<void> => {
    expect(endOf(await on.say(thread, text, { replyTo: "outbox" })).type).toBe("done");
    later(0.1);
  };
  await unread("Bread, please.");
  return { ...on, thread, tries, unread, look: () => look(on.runtime), later };
}

it("004.28 an outbox shows how far each reply came: it waits, was sent, has arrived, or failed", async () => {
  const on = await delivering();
  const outbox = on.runtime.use(DELIVERY_API);
  const seen = async () => (await outbox.outbox(OPERATOR, AGENT.name, { limit: 9 })).map(({ state }) => state);
  expect(await seen()).toEqual(["waiting"]);
  await on.look();
  expect(await seen()).toEqual(["sent"]);
  const inState = async (state: "sent" | "delivered") => outbox.outbox(OPERATOR, AGENT.name, { state, limit: 9 });
  expect([(await inState("sent")).length, (await inState("delivered")).length]).toEqual([1, 0]);
  const [sent] = await outbox.outbox(OPERATOR, AGENT.name, { limit: 1 });
  if (sent === undefined) throw new Error("nothing was sent");
  // The channel's word that it arrived, once.
  expect(await outbox.delivered(OPERATOR, AGENT.name, sent.id)).toBe(true);
  expect(await outbox.delivered(OPERATOR, AGENT.name, sent.id)).toBe(false);
  expect(await seen()).toEqual(["delivered"]);
  expect([(await inState("sent")).length, (await inState("delivered")).length]).toEqual([0, 1]);
  // A reply that was read is delivered: nothing else follows.
  await on.unread("Cake, please.");
  await collect(outbox.undelivered(OPERATOR, on.thread));
  expect(await seen()).toEqual(["delivered", "delivered"]);
  const problems = [];
  for await (const one of on.store.verify(AGENT.org)) if (one.type === "problem") problems.push(one);
  expect(problems).toEqual([]);
});

it("is counted in the list of threads while it waits, and stands with the turn that it belongs to", async () => {
  const { json, open, runtime, operator, store } = await httpFixture(["Here is your bread."]);
  const thread = await runtime.thread(operator, threadId(await open()));
  await runtime.post(operator, thread, [message("Bread, please.", 1)]);
  const { turn } = endOf(await collect(runtime.run(operator, thread, { replyTo: "outbox" })));
  const seen = async () => {
    const { body } = await json("GET /v1/threads");
    return [body, (await json(`GET /v1/turns/${turn}`)).body];
  };
  expect(await seen()).toMatchObject([
    { threads: [{ id: thread.id, undelivered: 1 }] },
    { id: turn, delivery: "waiting" },
  ]);
  const document = JSON.stringify((await json("GET /v1/openapi.json")).body);
  expect(["undelivered", "delivery"].filter((field) => !document.includes(`"${field}":{"type"`))).toEqual([]);
  await runtime.use(DELIVERY_API).confirmDelivery(operator, turn);
  const [threads, delivered] = await seen();
  expect(JSON.stringify(threads)).not.toContain("undelivered");
  expect(delivered).toMatchObject({ delivery: "delivered" });
  await store.close();
});

/** Sends what is due. */
const look = (runtime: Runtime): Promise<DeliveryReport[]> =>
  collect(runtime.use(DELIVERY_API).deliverDue(OPERATOR, AGENT.name, new AbortController().signal));

describe("a reply of an agent that says where its replies go", () => {
  it("is sent once it is committed, with its id, and never again", async () => {
    const { look, tries, runtime } = await delivering();
    expect(await look()).toMatchObject([{ agent: AGENT.name, again: false }]);
    expect(await look()).toEqual([]);
    expect(tries).toMatchObject([{ text: "Here is your bread.", contact: "ann", id: expect.stringMatching(/^out_/) }]);
    expect(await runtime.use(DELIVERY_API).outbox(OPERATOR, AGENT.name, { limit: 5 })).toMatchObject([
      { status: "delivered" },
    ]);
  });

  it.each(["message", "call-ended"] as const)(
    "25.25 names the %s that it answers, by our id and the channel's own",
    async (kind) => {
      const { look, tries, later, open, runtime } = await delivering();
      const thread = await open("bob");
      const cake = { ...message("A cake, please.", 1), kind, externalId: "mail-7" };
      const [posted] = await runtime.post(OPERATOR, thread, [cake]);
      await collect(runtime.run(OPERATOR, thread, { replyTo: "outbox" }));
      later(1);
      await look();
      expect(tries.map(({ contact, inReplyTo }) => [contact, inReplyTo])).toEqual([
        ["ann", [{ id: expect.stringMatching(/^evt_/) }]],
        ["bob", [{ id: posted?.id, externalId: "mail-7" }]],
      ]);
    },
  );

  it("is what went out in place of the model's words, and nothing of one that was withheld", async () => {
    let does: Outgoing = { text: "It sings.", told: false };
    const steps = [{ outgoing: { by: "desk", applies: () => true, outgoing: async () => does } }];
    const { tries, send } = receiver();
    const on = await testRuntime(["The canary sings.", "The canary is silent."], {
      agent: AGENT,
      steps,
      parts: { sendDelivery: send, clock: { real: () => Date.now() + MINUTE } },
    });
    const thread = await on.open();
    await on.say(thread, "Does it sing?", { replyTo: "outbox" });
    does = { withheld: "a person must approve it first" };
    await on.say(thread, "Still?", { replyTo: "outbox" });
    const later = await testRuntime([], {
      agent: AGENT,
      store: on.store,
      parts: { sendDelivery: send, clock: { real: () => Date.now() + 3 * MINUTE } },
    });
    await look(later.runtime);
    expect(tries.map(({ text }) => text)).toEqual(["It sings."]);
    await on.store.close();
  });

  it("that is not taken is tried again later under the same id, and the one behind it does not wait for it", async () => {
    const { look, tries, later, unread } = await delivering("the server answered 503");
    expect(await look()).toMatchObject([{ failed: "the server answered 503", again: true }]);
    expect(await look()).toEqual([]);
    await unread("And a cake.");
    expect(await look()).toMatchObject([{ again: false }]);
    later(1);
    expect(await look()).toMatchObject([{ again: false }]);
    const [first, cake, second] = tries;
    expect(cake?.text).toBe("And your cake.");
    expect(second?.id).toBe(first?.id);
  });

  it("that fails with an error that quotes the token says so without it, to people and in the record", async () => {
    const TOKEN = "tern-canary-4711";
    const { look, runtime, parts } = await delivering(`401: the token ${TOKEN} is unknown`);
    const hide = (text: string): string => text.replaceAll(TOKEN, "[secret]");
    Object.assign(parts, { vault: { ...parts.vault, hide } });
    expect(await look()).toMatchObject([{ failed: "401: the token [secret] is unknown", again: true }]);
    expect(JSON.stringify(await runtime.use(DELIVERY_API).outbox(OPERATOR, AGENT.name, { limit: 5 }))).not.toContain(
      TOKEN,
    );
  });

  it("that is refused for a day stays in the outbox, and says why", async () => {
    const { look, tries, later, runtime } = await delivering(...Array<string>(30).fill("the server answered 500"));
    for (let left = 40; left > 0; left--) {
      await look();
      later(61);
    }
    expect(tries).toHaveLength(30);
    const [message] = await runtime.use(DELIVERY_API).outbox(OPERATOR, AGENT.name, { limit: 5 });
    expect(message).toMatchObject({ status: "undeliverable", state: "failed", failed: "the server answered 500" });
  });

  it("is tried by one of two programs alone", async () => {
    const { store, tries, look, parts } = await delivering();
    const owner = { org: AGENT.org, agent: AGENT.name };
    const now = parts.clock.real();
    const held = await store
      .part(OUTBOX_STORE)
      .dueDeliveries(owner, { holder: "another", now, until: now + MINUTE, limit: 5 });
    expect(held).toHaveLength(1);
    expect(await look()).toEqual([]);
    expect(tries).toEqual([]);
  });

  it("is sent once by two programs, however slow the receiver is", async () => {
    const texts = Array.from({ length: 15 }, (_, n) => `Reply ${n}.`);
    const time = { now: Date.parse("2026-11-21T08:00:00Z") };
    const tries: string[] = [];
    const clock = { real: () => time.now };
    const slowly: SendDelivery = async ({ text }) => {
      tries.push(text);
      time.now += 14_000;
    };
    const one = await testRuntime(texts, { agent: AGENT, parts: { sendDelivery: slowly, clock, holder: "one" } });
    const quickly: SendDelivery = async ({ text }) => void tries.push(text);
    const other = await testRuntime([], {
      agent: AGENT,
      store: one.store,
      parts: { sendDelivery: quickly, clock, holder: "other" },
    });
    const thread = await one.open();
    // Replies of one millisecond have no order.
    for (const text of texts) {
      time.now++;
      await one.say(thread, text, { replyTo: "outbox" });
    }
    time.now += MINUTE;
    const { signal } = new AbortController();
    let sent = 0;
    // Nine answers take longer than a message is held.
    for await (const _ of one.runtime.use(DELIVERY_API).deliverDue(OPERATOR, AGENT.name, signal))
      if (++sent === 9) await look(other.runtime);
    expect(tries).toEqual(texts);
  });

  it.each(["the recording", "the agent's own model"])("is sent to nobody where %s answers in a replay", async (who) => {
    const { look, tries, runtime, time, later } = await delivering();
    await look();
    const lines = [
      { thread: "old", from: "contact", text: "Bread?" },
      { thread: "old", from: "agent", text: "Long ago." },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    const plan = {
      actor: OPERATOR,
      agent: AGENT.name,
      digest: "d",
      exchanges: readRecording(text, { file: "old.jsonl", digest: "d", gap: 1_000 }),
      setClock: (at: number) => {
        time.at = at;
      },
      wait: async () => undefined,
      ...(who === "the recording" && { speaker: () => scripted(["Long ago."]).model }),
    };
    const [turn] = await collect(replay(runtime, plan));
    expect(turn?.end?.type).toBe("done");
    later(60);
    expect(await look()).toEqual([]);
    expect(tries).toHaveLength(1);
    expect(await runtime.use(DELIVERY_API).outbox(OPERATOR, AGENT.name, { status: "waiting", limit: 5 })).toEqual([]);
  });

  it("is not followed by a second answer to the same message, unless somebody says that it shall", async () => {
    const { look, tries, runtime, thread, later } = await delivering();
    await look();
    const [turn] = await runtime.turns(OPERATOR, thread.id);
    if (turn === undefined) throw new Error("no turn");
    await expect(collect(runtime.regenerate(OPERATOR, turn.id))).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/second reply.*--again/),
    });
    expect(await runtime.threads(OPERATOR, thread.scope, 9)).toHaveLength(1);
    expect(endOf(await collect(runtime.regenerate(OPERATOR, turn.id, { again: true }))).type).toBe("done");
    later(1);
    await look();
    expect(tries.map(({ text }) => text)).toEqual(["Here is your bread.", "And your cake."]);
  });

  it("is one copy: who has listened to the turn has it", async () => {
    const { look, tries, say, thread, later, runtime } = await delivering();
    await look();
    expect(endOf(await say(thread, "And a cake.")).type).toBe("done");
    later(60);
    expect(await look()).toEqual([]);
    expect(tries).toHaveLength(1);
    expect(await runtime.use(DELIVERY_API).outbox(OPERATOR, AGENT.name, { status: "waiting", limit: 5 })).toEqual([]);
  });

  it("is sent if the reader left before the end, once there was time to take it", async () => {
    const { look, tries, runtime, time, thread, later } = await delivering();
    await look();
    await runtime.post(OPERATOR, thread, [message("And a cake.", time.at)]);
    for await (const { type } of runtime.run(OPERATOR, thread)) {
      if (type !== "done") continue;
      // A listener may still be about to receive it.
      later(0.5);
      expect(await look()).toEqual([]);
      break;
    }
    later(1);
    expect(await look()).toHaveLength(1);
    expect(tries.map(({ text }) => text)).toEqual(["Here is your bread.", "And your cake."]);
  });

  it("is sent after what was said before it, even if the reader of that has left", async () => {
    const { look, tries, runtime, time, thread, later, unread } = await delivering();
    await look();
    await runtime.post(OPERATOR, thread, [message("And a cake.", time.at)]);
    for await (const { type } of runtime.run(OPERATOR, thread)) if (type === "done") break;
    await unread("And tea.");
    expect(await look()).toEqual([]);
    later(1);
    expect(await look()).toHaveLength(2);
    expect(tries.map(({ text }) => text)).toEqual(["Here is your bread.", "And your cake.", "And your tea."]);
  });

  it("does not wait for another conversation, whose replies nobody takes", async () => {
    const time = { now: Date.parse("2026-11-21T08:00:00Z") };
    const [hangs, taken] = [Promise.withResolvers<void>(), [] as string[]];
    const send: SendDelivery = async ({ text, contact }, { signal }) => {
      if (contact === "bob") return void taken.push(text);
      hangs.resolve();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("nothing came"))));
    };
    const texts = ["for ann", "for ann, too", "for bob"];
    const on = await testRuntime(texts, {
      agent: AGENT,
      parts: { sendDelivery: send, clock: { real: () => time.now } },
    });
    for (const contact of ["ann", "ann", "bob"]) await on.say(await on.open(contact), "Hello.", { replyTo: "outbox" });
    time.now += MINUTE;
    const stop = new AbortController();
    const hanging = collect(on.runtime.use(DELIVERY_API).deliverDue(OPERATOR, AGENT.name, stop.signal));
    await hangs.promise;
    // A later reply of the same conversation waits behind it.
    expect(await look(on.runtime)).toHaveLength(1);
    expect(taken).toEqual(["for bob"]);
    stop.abort();
    await hanging;
  });

  it("is sent at once by the next program where one stopped while it was on its way", async () => {
    const [onItsWay, texts] = [Promise.withResolvers<void>(), [] as string[]];
    const send: SendDelivery = async ({ text }, { signal }) => {
      if (texts.push(text) > 1) return;
      onItsWay.resolve();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const time = { now: Date.parse("2026-11-21T08:00:00Z") };
    const on = await testRuntime(["Hello."], {
      agent: AGENT,
      parts: { sendDelivery: send, clock: { real: () => time.now } },
    });
    await on.say(await on.open(), "Hi.", { replyTo: "outbox" });
    time.now += MINUTE;
    const stop = new AbortController();
    const stopping = collect(on.runtime.use(DELIVERY_API).deliverDue(OPERATOR, AGENT.name, stop.signal));
    await onItsWay.promise;
    stop.abort();
    expect(await stopping).toMatchObject([{ failed: "the program stopped while it was sent", again: true }]);
    expect(await look(on.runtime)).toMatchObject([{ again: false }]);
    expect(texts).toEqual(["Hello.", "Hello."]);
  });

  it("is given up by no number of stops while it was on its way: they are no fault of who takes it", async () => {
    const time = { now: Date.parse("2026-11-21T08:00:00Z") };
    const stops = { left: 40, stop: new AbortController() };
    const send: SendDelivery = async (_, { signal }) => {
      if (stops.left-- <= 0) return;
      stops.stop.abort();
      signal.throwIfAborted();
    };
    const on = await testRuntime(["Hello."], {
      agent: AGENT,
      parts: { sendDelivery: send, clock: { real: () => time.now } },
    });
    await on.say(await on.open(), "Hi.", { replyTo: "outbox" });
    time.now += MINUTE;
    while (stops.left > 0) {
      stops.stop = new AbortController();
      const reports = await collect(on.runtime.use(DELIVERY_API).deliverDue(OPERATOR, AGENT.name, stops.stop.signal));
      expect(reports).toMatchObject([{ again: true }]);
    }
    expect(await look(on.runtime)).toMatchObject([{ again: false }]);
    expect(await on.runtime.use(DELIVERY_API).outbox(OPERATOR, AGENT.name, { limit: 5 })).toMatchObject([
      { status: "delivered" },
    ]);
  });

  it("goes where the agent's declaration of today says, whatever its conversation is pinned to", async () => {
    const time = { now: Date.parse("2026-11-21T08:00:00Z") };
    const urls: string[] = [];
    const send: SendDelivery = async (_, { url }) => void urls.push(url);
    const parts = { sendDelivery: send, clock: { real: () => time.now } };
    const before = await testRuntime(["Begun."], { agent: sampleAgent(), parts });
    const thread = await before.open();
    await before.say(thread, "Hello.");
    const now = await testRuntime(["Here is your bread."], { agent: AGENT, store: before.store, parts });
    await now.say(thread, "Bread, please.", { replyTo: "outbox" });
    const [, turn] = await now.runtime.turns(OPERATOR, thread.id);
    expect(turn?.version).toBe(before.agent.version);
    time.now += MINUTE;
    expect(await look(before.runtime)).toEqual([]);
    expect(await look(now.runtime)).toHaveLength(1);
    expect(urls).toEqual(["https://receiver.example/replies"]);
  });

  it("of a recording is sent to nobody either where its turn failed and is run later", async () => {
    const time = { now: Date.parse("2026-11-21T08:00:00Z") };
    const { tries, send } = receiver();
    const script = [new Error("no model"), "Long ago."];
    const on = await testRuntime(script, {
      agent: AGENT,
      parts: { sendDelivery: send, clock: { real: () => time.now } },
    });
    const text = JSON.stringify({ thread: "old", from: "contact", text: "Bread?" });
    const plan = {
      actor: OPERATOR,
      agent: AGENT.name,
      digest: "d",
      exchanges: readRecording(text, { file: "old.jsonl", digest: "d", gap: 1_000 }),
      setClock: () => undefined,
      wait: async () => undefined,
    };
    const [turn] = await collect(replay(on.runtime, plan));
    expect(turn?.end?.type).toBe("failed");
    time.now += 60 * MINUTE;
    // It does not count as mail waiting for the agent.
    expect(await collect(on.runtime.use(INBOX_API).runInbox(OPERATOR, AGENT.name))).toEqual([]);
    const thread = await on.runtime.thread(OPERATOR, turn?.thread ?? threadId(""));
    expect(endOf(await collect(on.runtime.run(OPERATOR, thread, { replyTo: "outbox" }))).type).toBe("done");
    time.now += 60 * MINUTE;
    expect(await look(on.runtime)).toEqual([]);
    expect(tries).toEqual([]);
  });
});

describe("replies that nobody has taken", () => {
  it("are shown in their order, however many wait", async () => {
    const texts = Array.from({ length: 105 }, (_, n) => `Reply ${n}.`);
    const { runtime, say, open, time } = await testRuntime(texts);
    const thread = await open();
    for (const _ of texts) {
      time.at++;
      await say(thread, "Go on.", { replyTo: "outbox" });
    }
    expect((await collect(runtime.use(DELIVERY_API).undelivered(OPERATOR, thread))).map(({ text }) => text)).toEqual(
      texts,
    );
    expect(await collect(runtime.use(DELIVERY_API).undelivered(OPERATOR, thread))).toEqual([]);
  });
});

describe("the channel of recordings", () => {
  it("is nobody's to talk on: what waits there is answered by no look, and its replies are sent to nobody", async () => {
    const { runtime, time, agent } = await testRuntime([]);
    const named = { agent: agent.name, contact: contactId("ann"), channel: "replay", key: "main" };
    await expect(runtime.open(OPERATOR, named)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/"replay" holds recordings.*name another channel/),
    });
    const text = JSON.stringify({ thread: "old", from: "contact", text: "Bread?" });
    const exchanges = readRecording(text, { file: "old.jsonl", digest: "d", gap: 1_000 });
    const plan = { actor: OPERATOR, agent: agent.name, digest: "d", exchanges, setClock: () => undefined };
    const [turn] = await collect(replay(runtime, { ...plan, wait: async () => undefined }));
    const thread = await runtime.thread(OPERATOR, turn?.thread ?? threadId(""));
    for (const externalId of [undefined, "mine:1"])
      await expect(runtime.post(OPERATOR, thread, [message("And cake?", time.at, externalId)])).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringMatching(/holds a recording.*name another thread/),
      });
  });

  it("is left by a fork, which is a conversation like any other: it continues from what was recorded, and its replies are sent", async () => {
    const { tries, send } = receiver();
    const real = { now: Date.parse("2026-11-21T08:00:00Z") };
    const parts = { sendDelivery: send, clock: { real: () => real.now } };
    const on = await testRuntime(["Long ago.", "Yes, still."], { agent: AGENT, parts });
    const text = JSON.stringify({ thread: "old", from: "contact", text: "Bread?" });
    const exchanges = readRecording(text, { file: "old.jsonl", digest: "d", gap: 1_000 });
    const plan = { actor: OPERATOR, agent: AGENT.name, digest: "d", exchanges, setClock: () => undefined };
    const [turn] = await collect(replay(on.runtime, { ...plan, wait: async () => undefined }));
    const recorded = turn?.thread ?? threadId("");
    const forked = await on.runtime.fork(OPERATOR, recorded, { key: "living" });
    expect(forked).toMatchObject({ channel: "chat", forkedFrom: { thread: recorded } });
    expect((await on.runtime.fork(OPERATOR, recorded, { key: "living" })).id).toBe(forked.id);
    await on.runtime.post(OPERATOR, forked, [message("Bread still?", on.time.at)]);
    expect(endOf(await collect(on.runtime.use(INBOX_API).runInbox(OPERATOR, AGENT.name)))).toMatchObject({
      text: "Yes, still.",
    });
    expect(JSON.stringify(on.sent[1]?.messages)).toContain("Long ago.");
    real.now += MINUTE;
    await look(on.runtime);
    expect(tries).toMatchObject([{ text: "Yes, still.", contact: "old", channel: "chat" }]);
    const named = await on.runtime.fork(OPERATOR, recorded, { channel: "mail" });
    expect(named.channel).toBe("mail");
    for (const channel of ["replay", "consolidation"])
      await expect(on.runtime.fork(OPERATOR, recorded, { channel })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it.each(["tick", "inbox"])(
    "is another than %s, on which whoever writes is answered like everywhere",
    async (channel) => {
      const { runtime, time, agent } = await testRuntime(["Hello."], { agent: AGENT });
      const named = { agent: agent.name, contact: contactId("ann"), channel, key: "main" };
      const thread = await runtime.open(OPERATOR, named);
      await runtime.post(OPERATOR, thread, [message("Hi.", time.at)]);
      expect(endOf(await collect(runtime.use(INBOX_API).runInbox(OPERATOR, agent.name)))).toMatchObject({
        text: "Hello.",
      });
      expect(await runtime.use(DELIVERY_API).outbox(OPERATOR, agent.name, { limit: 5 })).toMatchObject([
        { status: "waiting", channel },
      ]);
    },
  );
});
