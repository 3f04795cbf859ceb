import { expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { agentName, allow, contactId, readFrames, untrusted } from "../../protocol/index.ts";
import { openSqlite } from "../../store/index.ts";
import { collect, OPERATOR } from "../../turn/index.contract.ts";
import { openAndPrune } from "./buffers.contract.ts";
import { asks, GREETER, loadYaml, organism } from "./index.contract.ts";
import { PEER_API } from "./index.ts";

const HELLO = { content: [{ type: "text", text: untrusted("Hello.") }] } as const;
const HOUR = 3_600_000;
const with_ = (buffer: string) =>
  GREETER.replace("    peers: [shouter]", `    buffer: ${buffer}\n    peers: [shouter]`);
const greeter = agentName("greeter");

it("003.42 a conversation holds as many messages as `slots` says, and refuses more", async () => {
  const { open, say, post, runtime } = await organism(with_("{slots: 4}"), { greeter: ["Hello.", "Hello again."] });
  const thread = await open();
  await say(thread, HELLO);
  await say(thread, HELLO);
  await expect(post(thread, HELLO)).rejects.toMatchObject({
    code: "thread_full",
    message: expect.stringContaining("4"),
    traits: { retry: false },
  });
  expect(await runtime.slots(OPERATOR, thread.id)).toHaveLength(4);
  // Another conversation has room.
  await post(await open("greeter", "ann", "other"), HELLO);
});

it("003.43 an agent has as many conversations as `threads` says; a further one is refused, and the oldest idle one is warned", async () => {
  const { open, say, runtime } = await organism(with_("{threads: 1}"), { greeter: ["Hello."] });
  const thread = await open();
  await say(thread, HELLO);
  await expect(open("greeter", "bob")).rejects.toMatchObject({ code: "buffer_full", traits: { status: 429 } });
  expect((await runtime.pending(OPERATOR, thread)).map(({ kind, trust }) => `${kind}/${trust}`)).toEqual([
    "warning/platform",
  ]);
  // A contact reads no setting of the agent.
  const bob = allow({ ...OPERATOR, role: "contact", contact: contactId("bob") }, "post", "view");
  const conversation = { agent: greeter, contact: contactId("bob"), channel: "test", key: "main" };
  const told = await runtime.open(bob, conversation).catch((error) => error);
  expect(told.message).toBe(
    "greeter has as many conversations as it is allowed: try again later, when an idle one is closed",
  );
  // It is warned once, and open conversations stay open.
  await expect(open("greeter", "bob")).rejects.toMatchObject({ code: "buffer_full" });
  expect(await runtime.pending(OPERATOR, thread)).toHaveLength(1);
  expect((await open()).id).toBe(thread.id);
});

it("003.43 however many openings are refused, one conversation is warned at a time, and the next gets its place when that is over", async () => {
  const { open, say, runtime, time, store } = await organism(with_("{threads: 6}"), {
    greeter: Array.from({ length: 60 }, () => "Hello."),
  });
  const threads: Awaited<ReturnType<typeof open>>[] = [];
  for (const name of ["a", "b", "c", "d", "e", "f"]) {
    const thread = await open("greeter", name);
    await say(thread, HELLO);
    time.at += 1_000;
    threads.push(thread);
  }
  const warned = async () => {
    const all = await Promise.all(threads.map(({ id }) => runtime.turns(OPERATOR, id)));
    const waiting = await Promise.all(threads.map((thread) => runtime.pending(OPERATOR, thread)));
    const events = [...all.flat().flatMap((turn) => turn.events), ...waiting.flat()];
    return events.filter(({ kind }) => kind === "warning").length;
  };
  /** Openings by strangers, while the warned conversations have their turns. */
  const flood = async (count: number) => {
    for (let n = 0; n < count; n++) {
      await expect(open("greeter", `stranger-${n}`)).rejects.toMatchObject({ code: "buffer_full" });
      for (const thread of threads) await collect(runtime.runDue(OPERATOR, thread));
      time.at += 1_000;
    }
  };
  await flood(10);
  expect(await warned()).toBe(1);
  await flood(30);
  expect(await warned()).toBe(1);
  // Several at the same moment as well.
  await Promise.allSettled(Array.from({ length: 8 }, (_, n) => open("greeter", `crowd-${n}`)));
  expect(await warned()).toBe(1);
  // Its time is up: it is over, and its place is free for one.
  time.at += 600_000;
  await open("greeter", "stranger");
  await expect(open("greeter", "late")).rejects.toMatchObject({ code: "buffer_full" });
  await Promise.allSettled(Array.from({ length: 8 }, (_, n) => open("greeter", `crowd-${n}`)));
  expect(await warned()).toBe(2);
  // Whoever writes after a warning keeps the conversation, and then another one is warned.
  const second = threads[1];
  if (second === undefined) throw new Error("there is no second thread");
  await say(second, HELLO);
  await expect(open("greeter", "later")).rejects.toMatchObject({ code: "buffer_full" });
  expect(await warned()).toBe(3);
  await store.close();
});

it("003.44 003.40 003.41 003.10 an idle conversation is warned in a turn, and is over when nothing comes within the grace", async () => {
  const { open, say, post, sentTo, runtime, time } = await organism(with_("{ttlHours: 24}"), {
    greeter: ["Hello.", "Still there?"],
  });
  const thread = await open();
  await say(thread, HELLO);
  const idle = async () => (await runtime.use(PEER_API).idle(OPERATOR, greeter)).map(({ id }) => id);
  time.at += 24 * HOUR - 1;
  expect(await idle()).toEqual([]);
  time.at += 1;
  expect(await idle()).toEqual([thread.id]);
  await runtime.use(PEER_API).warn(OPERATOR, thread);
  // A warning that waits for its turn is not given twice.
  expect(await idle()).toEqual([]);
  await collect(runtime.run(OPERATOR, thread));
  const said = sentTo("greeter")[1]?.messages.at(-1)?.parts ?? [];
  expect(said.flatMap((part) => (part.type === "text" ? readFrames(part.text) : []))).toMatchObject([
    { kind: "warning", trust: "platform" },
  ]);
  time.at += 600_000 - 1;
  await open();
  time.at += 1;
  await expect(post(thread, HELLO)).rejects.toMatchObject({ code: "thread_pruned" });
  await expect(open()).rejects.toMatchObject({
    code: "thread_pruned",
    message: expect.stringContaining("with another key, or with `/new` in a chat"),
  });
  await post(await open("greeter", "ann", "next"), HELLO);
  // It does not become idle a second time, however long it waits.
  time.at += 1_000 * HOUR;
  expect(await idle()).not.toContain(thread.id);
  expect(await runtime.slots(OPERATOR, thread.id)).toHaveLength(4);
});

it("what is said within the grace keeps the conversation", async () => {
  const { open, say, runtime, time } = await organism(with_("{ttlHours: 24}"), {
    greeter: ["Hello.", "Still there?", "Good."],
  });
  const thread = await open();
  await say(thread, HELLO);
  time.at += 24 * HOUR;
  await runtime.use(PEER_API).warn(OPERATOR, thread);
  await collect(runtime.run(OPERATOR, thread));
  time.at += 60_000;
  await say(thread, HELLO);
  time.at += HOUR;
  expect((await open()).id).toBe(thread.id);
});

it("a conversation that waits for an answer is not idle", async () => {
  const { open, post, runtime, time } = await organism(with_("{ttlHours: 24}"), {
    greeter: [asks("shouter", { name: "Ada" })],
  });
  const thread = await open();
  await post(thread, HELLO);
  // Only one turn: the agent that is asked does not run.
  await collect(runtime.run(OPERATOR, thread));
  time.at += 48 * HOUR;
  expect(await runtime.use(PEER_API).idle(OPERATOR, greeter)).toEqual([]);
});

it("003.43 a conversation that waits for an answer takes its place however long that lasts, and another one is warned", async () => {
  const time = { at: Date.UTC(2026, 10, 21) };
  const clock = { real: () => time.at, recorded: () => time.at };
  const { open, post, runtime } = await organism(
    with_("{ttlHours: 24, threads: 2}"),
    { greeter: [asks("shouter", { name: "Ada" }), "Nobody answered.", "Still there?"] },
    { parts: { clock } },
  );
  const waits = await open();
  await post(waits, { ...HELLO, at: time.at });
  // Only one turn: the agent that is asked does not run.
  await collect(runtime.run(OPERATOR, waits));
  time.at += 48 * HOUR;
  const other = await open("greeter", "bob");
  await expect(open("greeter", "cyd")).rejects.toMatchObject({ code: "buffer_full" });
  expect((await runtime.pending(OPERATOR, other)).map(({ kind }) => kind)).toEqual(["warning"]);
  // What waits for its turn takes its place as well.
  await runtime.answerOverdue(OPERATOR, greeter);
  expect((await runtime.pending(OPERATOR, waits)).map(({ kind }) => kind)).toEqual(["answer"]);
  time.at += 48 * HOUR;
  await expect(open("greeter", "cyd")).rejects.toMatchObject({ code: "buffer_full" });
  await collect(runtime.run(OPERATOR, waits));
  await collect(runtime.run(OPERATOR, other));
  time.at += 48 * HOUR;
  await open("greeter", "cyd");
});

it("S20 has the numbers of the seed, and changes nothing of an agent without the key", () => {
  const agent = loadYaml(with_("{ttlHours: 24}")).agents.get(greeter);
  expect(agent?.buffer).toEqual({ ttlHours: 24 });
  expect(loadYaml(GREETER).agents.get(greeter)?.buffer).toBeUndefined();
});

it("27.6 a call is waited for no longer than the edge says, or the caller's `ttlHours`; what comes later is a new event, and nothing is idle meanwhile", async () => {
  const edge = GREETER.replace("peers: [shouter]", "peers: [{name: shouter, seconds: 60}]");
  for (const [yaml, seconds] of [
    [edge, 60],
    [with_("{ttlHours: 24}"), 24 * 3_600],
  ] as const) {
    const real = { at: Date.UTC(2026, 10, 21) };
    const { open, post, runtime, asked, store } = await organism(
      yaml,
      { greeter: [asks("shouter", { name: "Ada" }), "Nobody answers.", "There it is."], shouter: ["ADA!"] },
      { parts: { clock: { real: () => real.at, recorded: () => real.at } } },
    );
    const thread = await open();
    await post(thread, HELLO);
    await collect(runtime.run(OPERATOR, thread));
    real.at += seconds * 1_000 - 1;
    expect(await runtime.answerOverdue(OPERATOR, greeter)).toEqual([]);
    expect(await runtime.use(PEER_API).idle(OPERATOR, greeter)).toEqual([]);
    real.at += 1;
    expect(await runtime.answerOverdue(OPERATOR, greeter)).toEqual([thread.id]);
    expect((await collect(runtime.run(OPERATOR, thread))).at(-1)).toMatchObject({ text: "Nobody answers." });
    const [late] = await asked("shouter");
    if (late === undefined) throw new Error("nobody was asked");
    await collect(runtime.runDue(OPERATOR, late));
    expect((await store.untaken(thread.scope, thread.id)).map(({ kind }) => kind)).toEqual(["answer"]);
    expect((await collect(runtime.runDue(OPERATOR, thread))).at(-1)).toMatchObject({ text: "There it is." });
  }
});

/** `checks/lifecycle.ts --buffers 10000` does it as often as you like. */
it("S5 conversations that were opened, asked on and closed leave nothing but their record, which is whole", async () => {
  const store = await openSqlite(":memory:", { parts: await allParts() });
  const { first, last } = await openAndPrune(store, 60);
  expect(last).toMatchObject({ timers: first.timers, leases: 0, turns: 0 });
  for await (const found of store.verify(OPERATOR.org)) expect(found.type).not.toBe("problem");
  await store.close();
});
