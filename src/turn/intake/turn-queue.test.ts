import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { asks, GREETER, organism } from "../../features/peers/index.contract.ts";
import { type Script, scripted } from "../../models/index.ts";
import { type Agent, DEFAULT_SCHEDULING, type Model, type Request, toolName, untrusted } from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import { collect, endOf, message, OPERATOR, sampleAgent, testRuntime } from "../index.contract.ts";
import type { TurnSteps } from "../index.ts";
import { defineTool, toolset } from "../tools/index.ts";

const HELLO = { content: [{ type: "text", text: untrusted("Hello.") }] } as const;
const answers = (say: string, n = 40): readonly Script<Request>[] => Array.from({ length: n }, () => say);
const one = { ...DEFAULT_SCHEDULING, atOnce: 1 };

/**
 * The greeter and its peers with this many places. `began` names each turn in starting order; the first holds its place until `release`.
 */
async function queued(scheduling: typeof one, scripts: Readonly<Record<string, readonly Script<Request>[]>>) {
  const began: string[] = [];
  const held = Promise.withResolvers<void>();
  const onStart: TurnSteps["onStart"] = async ({ lease }) => {
    const { scope, key } = lease.claim.thread;
    began.push(`${scope.agent} ${scope.contact} ${key.slice(0, 8)}`);
    if (began.length === 1) await held.promise;
  };
  const both = GREETER.replace("entry: [greeter]", "entry: [greeter, stranger]");
  const on = await organism(both, scripts, { steps: [{ onStart }], parts: { scheduling } });
  const begin = async (agent: string, contact: string, key = "main") => {
    const thread = await on.open(agent, contact, key);
    await on.post(thread, HELLO);
    return collect(on.runtime.follow(OPERATOR, thread));
  };
  /** Begins them all, in this order, before any but the first has its turn. */
  const beginAll = async (all: readonly Readonly<Parameters<typeof begin>>[]) => {
    const ends = [];
    for (const [i, given] of all.entries()) {
      ends.push(begin(...given));
      await expect.poll(() => on.runtime.load(), { interval: 2 }).toEqual({ running: 1, waiting: i });
      await expect.poll(() => began.length, { interval: 2 }).toBe(1);
    }
    held.resolve();
    return (await Promise.all(ends)).map(endOf);
  };
  return { ...on, began, beginAll };
}

it("27.9 a flood of one agent's turns keeps another agent waiting for one turn alone", async () => {
  const { began, beginAll } = await queued(one, { greeter: answers("Hi."), stranger: answers("Yes.") });
  const flood = Array.from({ length: 12 }, (_, i) => ["greeter", `c${i}`] as const);
  await beginAll([...flood, ["stranger", "ann"], ["stranger", "bob"]]);
  expect(began.map((who) => who.split(" ")[0]).slice(0, 6)).toEqual([
    "greeter",
    "greeter",
    "stranger",
    "greeter",
    "stranger",
    "greeter",
  ]);
});

it("27.9 a flood of one contact keeps no other contact of the agent waiting for more than one turn", async () => {
  const { began, beginAll } = await queued(one, { greeter: answers("Hi.") });
  const flood = Array.from({ length: 12 }, (_, i) => ["greeter", "ann", `key ${i}`] as const);
  await beginAll([...flood, ["greeter", "bob"], ["greeter", "bob", "other"]]);
  expect(began.map((who) => who.split(" ")[1]).slice(0, 6)).toEqual(["ann", "ann", "bob", "ann", "bob", "ann"]);
});

it("27.9 as many turns run at once as the setting says, and no more", async () => {
  let [now, most] = [0, 0];
  const { model } = scripted(answers("Hi."));
  const slow: Model = {
    ...model,
    async *send(request, options) {
      most = Math.max(most, ++now);
      await pause(5);
      try {
        yield* model.send(request, options);
      } finally {
        now--;
      }
    },
  };
  const on = await organism(
    GREETER,
    {},
    {
      parts: { scheduling: { ...one, atOnce: 3 }, modelOf: async () => slow },
    },
  );
  const threads = await Promise.all(Array.from({ length: 12 }, (_, i) => on.open("greeter", `c${i}`)));
  for (const thread of threads) await on.post(thread, HELLO);
  const ends = await Promise.all(threads.map((thread) => collect(on.runtime.run(OPERATOR, thread))));
  expect(ends.map(endOf).map(({ type }) => type)).toEqual(threads.map(() => "done"));
  expect([most, on.runtime.load()]).toEqual([3, { running: 0, waiting: 0 }]);
});

const greets =
  (_: unknown, i: number): Script<Request> =>
  ({ messages }) =>
    messages.some(({ role }) => role === "tool") ? "It is said." : asks("shouter", { name: "Ada" }, `ask-${i}`);

it.each([
  ["depth", true],
  ["breadth", false],
] as const)(
  "27.9 chains end where one turn runs at a time, for whoever waits for a peer holds no place; %s: the first ends before the last begins: %s",
  async (chains, isFirst) => {
    const { beginAll, began, runtime } = await queued(
      { ...one, chains },
      {
        greeter: Array.from({ length: 40 }, greets),
        shouter: answers("HELLO."),
      },
    );
    const ends = await beginAll(Array.from({ length: 12 }, (_, i) => ["greeter", "ann", `key ${i}`] as const));
    expect(ends).toMatchObject(ends.map(() => ({ type: "done", text: "It is said." })));
    const resumed = began.findIndex((who, i) => began.indexOf(who) < i && who.startsWith("greeter"));
    expect(resumed < began.indexOf("greeter ann key 11")).toBe(isFirst);
    expect(runtime.load()).toEqual({ running: 0, waiting: 0 });
  },
);

it("27.9 a turn that a tool runs in the same program takes no second place", async () => {
  const asked: { other?: Thread } = {};
  const nested = defineTool({
    name: "nested",
    description: "Runs another conversation.",
    input: z.strictObject({}),
    effect: "none",
    trust: "contact",
    run: async () => {
      if (asked.other === undefined) throw new Error("there is no other conversation");
      const end = endOf(await collect(on.runtime.run(OPERATOR, asked.other)));
      return { text: untrusted(end.type === "done" ? end.text : end.error.message), failed: end.type !== "done" };
    },
  });
  const agent: Agent = sampleAgent({ tools: [toolName("nested")] });
  const script = [{ parts: [{ call: "nested", input: {} }] }, "from within", "from outside"];
  const on = await testRuntime(script, { agent, parts: { scheduling: one, tools: toolset([nested]) } });
  asked.other = await on.open("bob");
  await on.runtime.post(OPERATOR, asked.other, [message("Hello.", on.time.at)]);
  expect(endOf(await on.say(await on.open(), "Go."))).toMatchObject({ type: "done", text: "from outside" });
  expect(on.runtime.load()).toEqual({ running: 0, waiting: 0 });
});

it("27.9 messages of one thread are answered in their order, each once, by whoever runs its turns", async () => {
  const on = await testRuntime(answers("Yes."), { parts: { scheduling: { ...one, atOnce: 2 } } });
  const thread = await on.open();
  const runs = Array.from({ length: 8 }, async (_, i) => {
    await on.runtime.post(OPERATOR, thread, [message(`n${i}`, on.time.at)]);
    return collect(on.runtime.run(OPERATOR, thread)).catch((thrown: { code?: string }) => thrown.code);
  });
  const ends = await Promise.all(runs);
  await collect(on.runtime.run(OPERATOR, thread));
  expect(ends.filter((end) => typeof end === "string" && end !== "thread_busy")).toEqual([]);
  const said = (await on.runtime.slots(OPERATOR, thread.id)).filter(({ from }) => from === "ann");
  expect(said).toHaveLength(8);
  const taken = (await on.runtime.turns(OPERATOR, thread.id)).flatMap(({ events }) => events.map(({ id }) => id));
  expect([...taken].sort()).toEqual(taken);
  expect(new Set(taken).size).toBe(8);
});

it("27.9 a turn that waits for its place can be cancelled; its message waits, and nobody answers it by themselves", async () => {
  const on = await testRuntime([{ parts: [{ text: "…" }], end: "hang" }, "Later."], { parts: { scheduling: one } });
  const [first, second] = [await on.open(), await on.open("bob")];
  const running = on.say(first, "Hang.");
  await expect.poll(() => on.sent.length).toBe(1);
  const waiting = on.say(second, "Wait.");
  await expect.poll(() => on.runtime.load().waiting).toBe(1);
  expect(await on.runtime.cancel(OPERATOR, second.id)).toBe(true);
  await expect(waiting).rejects.toMatchObject({ code: "turn_cancelled" });
  expect(on.runtime.load()).toEqual({ running: 1, waiting: 0 });
  expect(await on.runtime.pending(OPERATOR, second)).toHaveLength(1);
  await on.runtime.cancel(OPERATOR, first.id);
  expect(endOf(await running)).toMatchObject({ type: "failed" });
  expect(endOf(await collect(on.runtime.run(OPERATOR, second)))).toMatchObject({ text: "Later." });
});

it("27.9 a reader who stops reading gives the place back", async () => {
  const on = await testRuntime(answers("Yes."), { parts: { scheduling: one } });
  const thread = await on.open();
  await on.runtime.post(OPERATOR, thread, [message("Hello.", on.time.at)]);
  for await (const event of on.runtime.run(OPERATOR, thread)) if (event.type === "turn-start") break;
  expect(on.runtime.load()).toEqual({ running: 0, waiting: 0 });
  // A reader of the last event may start the next turn before this read has finished.
  for await (const event of on.runtime.run(OPERATOR, thread))
    if (event.type === "done") expect(endOf(await on.say(await on.open("bob"), "Hi."))).toMatchObject({ text: "Yes." });
});
