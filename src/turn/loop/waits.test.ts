import { describe, expect, it } from "vitest";
import { z } from "zod";
import { databases, server, title } from "../../../tests/postgres.ts";
import { allParts } from "../../app/entry/features.ts";
import { CONTACT_API } from "../../features/contacts/index.ts";
import { INBOX_API } from "../../features/inbox/api.ts";
import { replyTool } from "../../features/inbox/index.ts";
import { type Script, scripted } from "../../models/index.ts";
import {
  type Agent,
  ANSWER_KIND,
  agentName,
  allow,
  canonicalJson,
  contactId,
  eventId,
  issueId,
  type Message,
  type Model,
  memoryId,
  ownKind,
  REPLY_TOOL,
  type Request,
  StrataError,
  type Tool,
  type TurnEvent,
  threadId,
  toolName,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import {
  type KillingStore,
  killingPostgres,
  killingSqlite,
  problems,
  tablesOfToday,
} from "../../store/index.contract.ts";
import type { OpenCall, Thread } from "../../store/index.ts";
import { cardOf } from "../../wire/index.ts";
import { collect, message, OPERATOR, sampleAgent, type TestRuntime, testRuntime } from "../index.contract.ts";
import { defineTool, toolset } from "../tools/index.ts";
import { LAST_REPLY } from "../wording.ts";
import type { LaterAnswer, TurnSteps } from "./steps.ts";
import { surviveKills } from "./waits.contract.ts";
import { answersLater, withWord } from "./waits.ts";

/** A tool whose answer comes later, and one that answers at once. */
const asking = (later: LaterAnswer, counted: string[] = []) => toolset(askingTools(later, counted));
const askingTools = (later: LaterAnswer, counted: string[] = []): readonly Tool[] => [
  defineTool({
    name: "ask_client",
    description: "Asks the program that talks with the agent.",
    input: z.strictObject({ what: z.string() }),
    effect: "none",
    trust: "contact",
    run: async (_, context) => answersLater(context, later),
  }),
  defineTool({
    name: "look",
    description: "Looks.",
    input: z.strictObject({ at: z.string() }),
    effect: "none",
    trust: "contact",
    run: async ({ at }) => {
      counted.push(at);
      return { text: untrusted(`saw ${at}`), failed: false };
    },
  }),
];

const TOOLS = [toolName("ask_client"), toolName("look")];

const calls = (...made: readonly (readonly [id: string, tool: string, input: Record<string, string>])[]) => ({
  parts: made.map(([id, call, input]) => ({ call, id, input })),
});

async function waiting(
  script: Parameters<typeof testRuntime>[0],
  {
    later = { waitsFor: "client" },
    ...change
  }: Partial<Parameters<typeof sampleAgent>[0]> & { readonly later?: LaterAnswer } = {},
): Promise<TestRuntime & { readonly thread: Thread; readonly counted: readonly string[] }> {
  const counted: string[] = [];
  const agent = sampleAgent({ tools: TOOLS, ...change });
  const set = await testRuntime(script, { agent, parts: { tools: asking(later, counted) } });
  return { ...set, thread: await set.open(), counted };
}

const PEER = "peer";
const PEER_KIND = ownKind("peer");
let issued = 0;
/** The answer to an open call, as a door stores it. */
async function answer({ store, time }: TestRuntime, thread: Thread, call: OpenCall, text: string): Promise<void> {
  const id = eventId(issueId("event", time.at + ++issued, Uint8Array.from([...Array(9).fill(0), issued])));
  const content = [{ type: "text", text: untrusted(text) }] as const;
  const said = {
    id,
    kind: ANSWER_KIND,
    trust: "contact",
    channel: "test",
    content,
    at: time.at,
    answers: call.id,
  } as const;
  await store.receive(thread.scope, thread.id, [said]);
}

const run = (set: TestRuntime, thread: Thread): Promise<TurnEvent[]> => collect(set.runtime.run(OPERATOR, thread));
const types = (events: readonly TurnEvent[]): readonly string[] =>
  events.map(({ type }) => type).filter((type) => ["turn-start", "waiting", "done", "failed"].includes(type));

const open = (set: TestRuntime, thread: Thread): Promise<readonly OpenCall[]> =>
  set.store.openCalls(thread.scope, thread.id);

async function only(set: TestRuntime, thread: Thread): Promise<OpenCall> {
  const [call] = await open(set, thread);
  if (call === undefined) throw new Error("no call is open");
  return call;
}

const resultsIn = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap((one) => (one.role === "tool" ? one.parts.map(({ id, text }) => `${id}: ${text}`) : []));

/** The agent asks another, by default itself, on a separate thread. */
const asked = (whom = sampleAgent().name): LaterAnswer => ({
  waitsFor: "agent",
  starts: (caller) => {
    const at = Date.UTC(2026, 10, 21, 9, 30);
    const issue = (kind: "thread" | "event") =>
      issueId(kind, at + ++issued, Uint8Array.from([...Array(9).fill(1), issued]));
    const { org } = OPERATOR;
    const [agent, { version }] = [whom, sampleAgent({ tools: TOOLS })];
    const contact = contactId("ann");
    const opening = { id: threadId(issue("thread")), channel: PEER, key: caller.call, version, at, caller };
    const content = [{ type: "text", text: untrusted("What is the time?") }] as const;
    const question = {
      id: eventId(issue("event")),
      kind: PEER_KIND,
      trust: "agent",
      channel: PEER,
      content,
      at,
    } as const;
    return [{ scope: { org, agent, contact }, opening, events: [question] }];
  },
});

it("a platform's note behind a result is read: tools that the result loads are then shown as text", () => {
  const result = {
    type: "result",
    id: "c1",
    tool: toolName("more_tools"),
    text: trusted("Found."),
    failed: false,
  } as const;
  const loading = { ...result, loads: [toolName("refund")] };
  expect(withWord(loading, undefined)).toEqual(loading);
  expect(withWord(loading, "Answer now.")).toEqual({ ...result, text: "Found.\nAnswer now." });
});

describe("a turn that waits", () => {
  it("keeps, over its turns, the parameters and the tools that came with its message", async () => {
    const script = [calls(["c1", "ask_client", { what: "when" }]), calls(["c2", "look", { at: "the moon" }]), "Noon."];
    const set = await waiting(script);
    const { thread } = set;
    await set.say(thread, "When?", { parameters: { temperature: 0.3, tools: [toolName("ask_client")] } });
    await answer(set, thread, await only(set, thread), "At noon.");
    await run(set, thread);
    for (const { parameters } of set.sent)
      expect(parameters).toMatchObject({ temperature: 0.3, tools: ["ask_client"] });
    expect(set.counted).toEqual([]);
    await set.store.close();
  });

  it("ends with the call open, and its run goes on with the answer: the same bytes, and the result behind them", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "the time" }]), "It is noon."]);
    const { thread, sent, store } = set;
    expect(types(await set.say(thread, "What time is it?"))).toEqual(["turn-start", "waiting"]);
    expect(types(await run(set, thread))).toEqual([]);
    await answer(set, thread, await only(set, thread), "12:00");
    const ended = await run(set, thread);
    expect(ended.at(-1)).toMatchObject({ type: "done", text: "It is noon." });

    const [first, second] = sent;
    if (first === undefined || second === undefined) throw new Error("two requests were expected");
    expect(canonicalJson(second.prefix)).toBe(canonicalJson(first.prefix));
    // Law 1: an exact extension.
    expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages);
    const added = second.messages.slice(first.messages.length);
    expect(added.map(({ role }) => role)).toEqual(["assistant", "tool"]);
    expect(resultsIn(added)).toEqual([expect.stringMatching(/^c1: \[result contact\]\n\| 12:00$/)]);

    const turns = await store.turns(thread.scope, thread.id);
    expect(turns.map(({ status }) => status)).toEqual(["waiting", "done"]);
    expect(new Set(turns.map(({ run: of }) => of)).size).toBe(1);
    expect(await open(set, thread)).toEqual([]);
    expect(await problems(store, thread.scope.org)).toEqual([]);
  });

  it("commits the calls that ran with it, and they are not run again", async () => {
    const set = await waiting([
      calls(["c1", "look", { at: "the sky" }], ["c2", "ask_client", { what: "the time" }]),
      "Blue, and noon.",
    ]);
    const { thread, sent, counted } = set;
    await set.say(thread, "How is the sky, and when?");
    await answer(set, thread, await only(set, thread), "12:00");
    await run(set, thread);
    expect(counted).toEqual(["the sky"]);
    expect(resultsIn(sent[1]?.messages ?? []).map((one) => one.slice(0, 2))).toEqual(["c1", "c2"]);
  });

  it("lets a message go first where a client is asked: the call is answered with a sentence, and its late answer is a message", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }]), "Never mind.", "Thanks."]);
    const { thread, sent } = set;
    await set.say(thread, "Ask.");
    const call = await only(set, thread);
    expect((await set.say(thread, "Forget it.")).at(-1)).toMatchObject({ type: "done", text: "Never mind." });
    expect(resultsIn(sent[1]?.messages ?? [])).toEqual([expect.stringContaining("No answer yet")]);
    await answer(set, thread, call, "late");
    await run(set, thread);
    expect(JSON.stringify(sent[2]?.messages.at(-1))).toContain("[answer contact");
  });

  it("keeps other messages waiting while an agent is asked, and takes them with the answer", async () => {
    const script = [calls(["c1", "ask_client", { what: "x" }]), "Both answered."];
    const set = await waiting(script, { later: { waitsFor: "agent" } });
    const { thread, sent } = set;
    await set.say(thread, "Ask.");
    expect(types(await set.say(thread, "And this?"))).toEqual([]);
    await answer(set, thread, await only(set, thread), "yes");
    expect((await run(set, thread)).at(-1)).toMatchObject({ type: "done" });
    expect(sent[1]?.messages.slice(-2).map(({ role }) => role)).toEqual(["tool", "user"]);
  });

  it("continues its epoch where each turn otherwise stands alone", async () => {
    const script = [calls(["c1", "ask_client", { what: "x" }]), "Done.", "Hello."];
    const set = await waiting(script, { history: "log" });
    const { thread, sent, store } = set;
    await set.say(thread, "Ask.");
    await answer(set, thread, await only(set, thread), "yes");
    await run(set, thread);
    await set.say(thread, "Hello.");
    const epochs = (await store.turns(thread.scope, thread.id)).map(({ requests }) => requests[0]?.epoch);
    expect(epochs).toEqual([1, 1, 2]);
    expect(sent[2]?.messages).toHaveLength(1);
  });

  it.each([
    [
      "went to nobody, and why",
      { withheld: "a person must see it first" },
      "platform",
      "Your last reply was not sent: a person must see it first.",
    ],
    [
      "was sent otherwise, and how",
      { text: "It is not dear.", told: true },
      "contact",
      "Instead of your last reply, this was sent:\n| It is not dear.",
    ],
  ] as const)(
    "tells its agent behind the results that what it said before it waited %s",
    async (_, done, trust, says) => {
      const draft: TurnSteps = {
        outgoing: {
          by: "drafts",
          applies: () => true,
          outgoing: async (_, { text }) => (text.includes("price") ? done : undefined),
        },
      };
      const first = {
        parts: [{ text: "The price is nine dollars." }, { call: "ask_client", id: "c1", input: { what: "time" } }],
      };
      const parts = { tools: asking({ waitsFor: "client" }) };
      const set = await testRuntime([first, "It is noon."], {
        agent: sampleAgent({ tools: TOOLS }),
        parts,
        steps: [draft],
      });
      const thread = await set.open();
      await set.say(thread, "What does it cost, and when?");
      await answer(set, thread, await only(set, thread), "noon");
      expect(types(await run(set, thread))).toEqual(["turn-start", "done"]);
      const [asked, goesOn] = set.sent.map(({ messages }) => messages);
      expect(goesOn?.slice(0, asked?.length)).toEqual(asked);
      expect(goesOn?.slice(asked?.length).map(({ role }) => role)).toEqual(["assistant", "tool", "user"]);
      const told = goesOn
        ?.at(-1)
        ?.parts.map((part) => ("text" in part ? part.text : ""))
        .join("\n");
      expect(told).toMatch(new RegExp(`^\\[warning ${trust} `));
      expect(told?.replace(/^\[warning .*\]\n(?:\|# [^\n]*\n)?\| /, "")).toBe(says);
    },
  );

  it("S8 recalls, when it goes on, for the message that the run is about", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "time" }]), "Miso, at noon."]);
    const { thread, store, time } = set;
    const memory = issueId("memory", time.at, new Uint8Array(10));
    const said = { content: untrusted("My cat is called Miso"), tags: [], trust: "contact", at: time.at - 1 } as const;
    await store.saveMemory(thread.scope, memoryId(memory), { ...said, kind: "message", session: "old" });
    await set.say(thread, "What is my cat called?");
    await answer(set, thread, await only(set, thread), "noon");
    await run(set, thread);
    const recalled = set.sent.map((request) => JSON.stringify(request.tail).includes("My cat is called Miso"));
    expect(recalled).toEqual([true, true]);
  });

  it("counts limits over the run", async () => {
    const ask = (id: string) => calls([id, "ask_client", { what: id }]);
    const budgets = { ...sampleAgent().budgets, turn: { ...sampleAgent().budgets.turn, modelCalls: 3 } };
    const set = await waiting([ask("c1"), ask("c2"), ask("c3"), "never sent"], { budgets });
    const { thread } = set;
    await set.say(thread, "Ask.");
    for (const text of ["1", "2"]) {
      await answer(set, thread, await only(set, thread), text);
      await run(set, thread);
    }
    // The third request was the run's last: its call is not run, and the run ends.
    const turns = await set.store.turns(thread.scope, thread.id);
    expect(turns.map(({ status }) => status)).toEqual(["waiting", "waiting", "done"]);
    expect(turns.at(-1)?.end).toMatchObject({ stop: "modelCalls" });
  });

  it("counts the limit of a tool over the run, too", async () => {
    const look = calls(["l", "look", { at: "it" }]);
    const asks = calls(["l1", "look", { at: "it" }], ["c1", "ask_client", { what: "x" }]);
    const rules = [{ tool: toolName("look"), calls: 2 }];
    const set = await waiting([asks, look, look, "Enough."], { rules });
    const { thread, counted } = set;
    await set.say(thread, "Ask.");
    await answer(set, thread, await only(set, thread), "yes");
    await run(set, thread);
    expect(counted).toHaveLength(2);
    expect(resultsIn(set.sent.at(-1)?.messages ?? []).at(-1)).toContain("2 times per turn, and that limit is reached");
  });

  it("says on a fork that there is no answer yet, and leaves the parent's call open", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }]), "On the fork."]);
    const { thread, runtime, sent } = set;
    await set.say(thread, "Ask.");
    const fork = await runtime.fork(OPERATOR, thread.id, {});
    await runtime.post(OPERATOR, fork, [message("Go on without it.", set.time.at)]);
    expect((await run(set, fork)).at(-1)).toMatchObject({ type: "done" });
    expect(resultsIn(sent[1]?.messages ?? [])).toEqual([expect.stringContaining("No answer yet")]);
    expect(await open(set, thread)).toMatchObject([{ state: "open" }]);
    expect(await open(set, fork)).toEqual([]);
  });

  it("says to a turn that is answered once more that there is no answer yet, and asks anew where it asked itself", async () => {
    const ask = calls(["c1", "ask_client", { what: "x" }]);
    const set = await waiting([ask, "Noon.", ask, "Not yet, then."]);
    const { thread, runtime, store, sent } = set;
    await set.say(thread, "Ask.");
    await answer(set, thread, await only(set, thread), "noon");
    await run(set, thread);
    const [asking, answered] = await store.turns(thread.scope, thread.id);
    if (asking === undefined || answered === undefined) throw new Error("two turns were expected");
    // On a fork from before it, with its own call.
    expect(types(await collect(runtime.regenerate(OPERATOR, asking.id)))).toEqual(["turn-start", "waiting"]);
    expect((await collect(runtime.regenerate(OPERATOR, answered.id))).at(-1)).toMatchObject({ type: "done" });
    expect(resultsIn(sent[3]?.messages ?? [])).toEqual([expect.stringContaining("No answer yet")]);
    expect(JSON.stringify(sent[3]?.messages.at(-1))).toContain("| noon");
    expect(await problems(store, thread.scope.org)).toEqual([]);
  });

  it("never waits for a recording, which answers or does not", async () => {
    const set = await waiting([
      calls(["c1", "ask_client", { what: "x" }], ["c2", "ask_client", { what: "y" }]),
      "Done.",
    ]);
    const recorded = new Map([["c1", { text: untrusted("noon"), failed: false }]]);
    expect(types(await set.say(set.thread, "Ask.", { recorded }))).toEqual(["turn-start", "done"]);
    expect(resultsIn(set.sent[1]?.messages ?? [])).toEqual([
      expect.stringContaining("| noon"),
      expect.stringContaining("The recording has no answer"),
    ]);
    expect(await open(set, set.thread)).toEqual([]);
  });

  it("is refused in a turn over several senders, and a sender whose thread waits is not part of one", async () => {
    const reply: Script<Request> = ({ messages }) =>
      messages.some(({ role }) => role === "tool") ? "Said." : calls(["c1", "ask_client", { what: "x" }]);
    const agent = sampleAgent({ history: "log", inbox: "batch", tools: [...TOOLS, toolName(REPLY_TOOL)] });
    const tools = toolset([...askingTools({ waitsFor: "client" }), replyTool()]);
    const set = await testRuntime(Array(4).fill(reply), { agent, parts: { tools } });
    const inbox = () => collect(set.runtime.use(INBOX_API).runInbox(OPERATOR, agent.name));
    const post = async (contact: string) =>
      set.runtime.post(OPERATOR, await set.open(contact), [message(`I am ${contact}.`, ++set.time.at)]);
    await post("ann");
    expect(types(await inbox())).toEqual(["turn-start", "waiting"]);
    for (const contact of ["ann", "bob", "cid"]) await post(contact);
    for (const _ of ["ann's", "the others'"]) expect(types(await inbox())).toEqual(["turn-start", "done"]);
    const ended = set.sent.map(({ messages }) => JSON.stringify(messages)).filter((one) => one.includes('"tool"'));
    expect(ended).toHaveLength(2);
    const [anns, others] = ended.toSorted((one) => (one.includes("I am ann.") ? -1 : 1));
    expect(anns).toContain("No answer yet");
    expect(others).toContain("a turn with several senders cannot wait");
    for (const [contact, isThere] of Object.entries({ ann: false, bob: true, cid: true }))
      expect(others?.includes(`I am ${contact}.`)).toBe(isThere);
    expect(await problems(set.store, agent.org)).toEqual([]);
  });

  it("answers a call that nobody has answered in time", async () => {
    const script = [calls(["c1", "ask_client", { what: "x" }]), "Too late."];
    const set = await waiting(script, { later: { waitsFor: "client", seconds: 1 } });
    const { thread, store, agent, sent } = set;
    await set.say(thread, "Ask.");
    const owner = { org: agent.org, agent: agent.name };
    const due = await store.nextOverdue(owner);
    expect(await store.answerOverdue(owner, { now: (due ?? 0) - 1, at: set.time.at })).toEqual([]);
    expect(await store.answerOverdue(owner, { now: due ?? 0, at: set.time.at })).toEqual([thread.id]);
    expect((await run(set, thread)).at(-1)).toMatchObject({ type: "done" });
    expect(resultsIn(sent[1]?.messages ?? [])).toEqual([expect.stringContaining("No answer came in time.")]);
  });

  it("tells a contact whom it waits for, and neither tool nor cost", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }])]);
    const contact = allow(
      { ...OPERATOR, role: "contact", contact: set.thread.scope.contact, agent: set.agent.name },
      "run",
    );
    await set.runtime.post(OPERATOR, set.thread, [message("Ask.", set.time.at)]);
    const { id: _, ...end } = { id: "", ...(await collect(set.runtime.run(contact, set.thread))).at(-1) };
    expect(end).toEqual({
      type: "waiting",
      turn: expect.any(String),
      text: "",
      calls: [{ id: expect.any(String), waitsFor: "client" }],
    });
  });
});

describe("a run that cannot go on", () => {
  /** The same record, after this program was started again with other models. */
  async function restarted(
    set: Awaited<ReturnType<typeof waiting>>,
    script: Parameters<typeof testRuntime>[0],
    parts: Partial<TestRuntime["parts"]> | ((model: Model) => Partial<TestRuntime["parts"]>),
  ) {
    const { model, sent } = scripted(script);
    const own = { tools: asking({ waitsFor: "client" }), modelOf: async () => model };
    const more = typeof parts === "function" ? parts(model) : parts;
    const next = await testRuntime([], { agent: set.agent, store: set.store, parts: { ...own, ...more } });
    return { ...next, sent, thread: set.thread };
  }
  /** The agent's own model is there, and no other by its name. */
  const onlyOwn = (model: Model) => ({
    modelOf: async (agent: Agent) => {
      if (agent.model === undefined) return model;
      throw new StrataError("model_unknown", `there is no model ${agent.model}`);
    },
  });
  const ended = async ({ store, thread }: Awaited<ReturnType<typeof waiting>>) =>
    (await store.turns(thread.scope, thread.id)).map(({ status, run, id }) => `${status} ${run === id}`);

  it("ends with that reason where its model is gone: nothing retries it, and the next message has a run of its own", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }])]);
    const { thread, store } = set;
    await set.say(thread, "Ask.");
    await answer(set, thread, await only(set, thread), "noon");
    const next = await restarted(set, ["Without it, then."], onlyOwn);
    expect((await run(next, thread)).at(-1)).toMatchObject({ type: "failed", error: { code: "model_unknown" } });
    expect(await next.runtime.dueRuns(OPERATOR, set.agent.name)).toEqual([]);
    expect(types(await run(next, thread))).toEqual([]);
    // A repeated message gets the same answer.
    const [asking] = await store.turns(thread.scope, thread.id);
    const [event] = asking?.events ?? [];
    if (event === undefined) throw new Error("a message was expected");
    await expect(next.runtime.ended(OPERATOR, event)).rejects.toMatchObject({ code: "model_unknown" });
    expect((await next.say(thread, "And now?")).at(-1)).toMatchObject({ type: "done" });
    expect(await next.runtime.ended(OPERATOR, event)).toMatchObject({ end: { text: "Without it, then." } });
    // An answer that arrived in the meantime is not lost.
    expect(resultsIn(next.sent[0]?.messages ?? [])).toEqual([expect.stringContaining("| noon")]);
    expect(await ended(set)).toEqual(["waiting true", "failed false", "done true"]);
    expect(await problems(store, thread.scope.org)).toEqual([]);
  });

  it("tells its caller, where it answers the call of another", async () => {
    const later = asked();
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }])], { later });
    const { thread, store } = set;
    await set.say(thread, "Ask.");
    const [called] = await store.calledThreads(thread.scope, thread.id);
    if (called === undefined) throw new Error("nobody is asked");
    // Its own run waits for a client when its model goes.
    const asks = await restarted(set, [calls(["c2", "ask_client", { what: "y" }])], {});
    await collect(asks.runtime.runDue(OPERATOR, called));
    await answer(asks, called, await only(asks, called), "noon");
    const next = await restarted(set, ["It could not say."], onlyOwn);
    await collect(next.runtime.runDue(OPERATOR, called));
    expect(await store.pending(thread.scope, thread.id)).toMatchObject([{ failed: true, trust: "platform" }]);
    expect(await problems(store, thread.scope.org)).toEqual([]);
  });

  it("tells its caller also where it cannot even begin", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }])], { later: asked() });
    const { thread, store } = set;
    await set.say(thread, "Ask.");
    const [called] = await store.calledThreads(thread.scope, thread.id);
    if (called === undefined) throw new Error("nobody is asked");
    const gone = async () => {
      throw new StrataError("model_unknown", "there is no model");
    };
    const next = await restarted(set, [], { modelOf: gone });
    expect((await collect(next.runtime.runDue(OPERATOR, called))).at(-1)).toMatchObject({ type: "failed" });
    expect(await store.pending(thread.scope, thread.id)).toMatchObject([{ failed: true }]);
    expect(await next.runtime.dueRuns(OPERATOR, set.agent.name)).toMatchObject([{ id: thread.id }]);
    expect(await problems(store, thread.scope.org)).toEqual([]);
  });

  it("ends where what it must send does not fit: its answer is not tried again and again", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }])]);
    const { thread, store } = set;
    await set.say(thread, "Ask.");
    await answer(set, thread, await only(set, thread), "noon");
    const contact = allow(
      { ...OPERATOR, role: "contact", contact: thread.scope.contact, agent: set.agent.name },
      "run",
    );
    const small = await restarted(set, [], { cardOf: (ref) => ({ ...cardOf(ref), contextWindow: 60 }) });
    expect((await collect(small.runtime.run(contact, thread))).at(-1)).toMatchObject({
      type: "failed",
      error: { code: "budget_too_small", message: "the message could not be answered, and the operator can see why" },
    });
    expect(await small.runtime.dueRuns(OPERATOR, set.agent.name)).toEqual([]);
    const large = await restarted(set, ["Without it, then."], {});
    expect((await large.say(thread, "And now?")).at(-1)).toMatchObject({ type: "done" });
    expect(await ended(set)).toEqual(["waiting true", "failed false", "done true"]);
    expect(await problems(store, thread.scope.org)).toEqual([]);
  });

  it("keeps waiting where the provider is down, and where the program stops", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }]), new Error("down"), "Noon."]);
    const { thread } = set;
    await set.say(thread, "Ask.");
    await answer(set, thread, await only(set, thread), "noon");
    expect((await run(set, thread)).at(-1)).toMatchObject({ type: "failed", error: { code: "model_failed" } });
    expect((await run(set, thread)).at(-1)).toMatchObject({ type: "done", text: "Noon." });
    expect(await ended(set)).toEqual(["waiting true", "failed false", "done false"]);
  });

  it("tells the model that it is asked for the last time", async () => {
    const budgets = { ...sampleAgent().budgets, turn: { ...sampleAgent().budgets.turn, modelCalls: 2 } };
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }]), "Noon."], { budgets });
    await set.say(set.thread, "Ask.");
    await answer(set, set.thread, await only(set, set.thread), "noon");
    await run(set, set.thread);
    expect(resultsIn(set.sent[1]?.messages ?? [])).toEqual([expect.stringContaining(LAST_REPLY)]);
  });

  it("is over when it is cancelled: the thread may move to another version, and its call has its result there", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }])]);
    const { thread, store, runtime } = set;
    await set.say(thread, "Ask.");
    const agent = sampleAgent({ tools: set.agent.tools, description: "changed", layers: set.agent.layers.slice(1) });
    const next = await testRuntime(["Never mind."], { agent, store, parts: { tools: asking({ waitsFor: "client" }) } });
    await expect(next.runtime.migrate(OPERATOR, thread.id)).rejects.toMatchObject({ code: "thread_busy" });
    expect(await runtime.cancel(OPERATOR, thread.id)).toBe(true);
    await next.runtime.migrate(OPERATOR, thread.id);
    const moved = await next.runtime.thread(OPERATOR, thread.id);
    expect((await next.say(moved, "Forget it.")).at(-1)).toMatchObject({ type: "done" });
    expect(next.sent[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(resultsIn(next.sent[0]?.messages ?? [])).toEqual([expect.stringContaining("Cancelled")]);
    expect(await problems(store, thread.scope.org)).toEqual([]);
  });
});

describe("the end of a message whose run was cancelled while it waited", () => {
  const stored = async ({ store }: TestRuntime, thread: Thread) => {
    const [event] = (await store.turns(thread.scope, thread.id))[0]?.events ?? [];
    if (event === undefined) throw new Error("a message was expected");
    return event;
  };

  it("is that it was cancelled, and never the reply to the next message", async () => {
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }]), "Something else."]);
    const { thread, runtime } = set;
    await set.say(thread, "Ask.");
    const event = await stored(set, thread);
    expect(await runtime.ended(OPERATOR, event)).toMatchObject({ end: { type: "waiting" } });
    await runtime.cancel(OPERATOR, thread.id);
    await expect(runtime.ended(OPERATOR, event)).rejects.toMatchObject({ code: "turn_cancelled" });
    expect((await set.say(thread, "Forget it.")).at(-1)).toMatchObject({ type: "done" });
    await expect(runtime.ended(OPERATOR, event)).rejects.toMatchObject({ code: "turn_cancelled" });
  });

  it("is no open call of the next message's, nor its reply where the run had failed for a while", async () => {
    const down = new StrataError("model_failed", "the model is down");
    const asks = calls(["c1", "ask_client", { what: "x" }]);
    const set = await waiting([asks, down, calls(["c2", "ask_client", { what: "y" }]), "Something else."]);
    const { thread, runtime } = set;
    await set.say(thread, "Ask.");
    const event = await stored(set, thread);
    await answer(set, thread, await only(set, thread), "noon");
    expect((await run(set, thread)).at(-1)).toMatchObject({ type: "failed" });
    await runtime.cancel(OPERATOR, thread.id);
    const failed = { code: "model_failed" };
    expect((await set.say(thread, "Ask anew.")).at(-1)).toMatchObject({ type: "waiting" });
    await expect(runtime.ended(OPERATOR, event)).rejects.toMatchObject(failed);
    await answer(set, thread, await only(set, thread), "noon");
    expect((await run(set, thread)).at(-1)).toMatchObject({ type: "done", text: "Something else." });
    await expect(runtime.ended(OPERATOR, event)).rejects.toMatchObject(failed);
  });
});

describe("an agent that is asked", () => {
  it("answers in a turn of its own, which whoever follows the run drives, and the run goes on with its answer", async () => {
    const script = [calls(["c1", "ask_client", { what: "the time" }]), "Twelve.", "It is twelve."];
    const set = await waiting(script, { later: asked() });
    const { thread, runtime, store, sent } = set;
    await runtime.post(OPERATOR, thread, [message("What time is it?", set.time.at)]);
    const events = await collect(runtime.follow(OPERATOR, thread));
    expect(types(events)).toEqual(["turn-start", "waiting", "turn-start", "done"]);
    expect(events.at(-1)).toMatchObject({ text: "It is twelve." });
    expect(resultsIn(sent[2]?.messages ?? [])).toEqual([expect.stringMatching(/^c1: \[result agent\]\n\| Twelve\.$/)]);
    const called = (await store.threads(thread.scope, 9)).find(({ channel }) => channel === PEER);
    expect(called?.caller).toMatchObject({ thread: thread.id, agent: set.agent.name });
    expect(await problems(store, thread.scope.org)).toEqual([]);
  });

  it("25.25 is written out with what is kept of the contact who asked through another agent", async () => {
    const whom = agentName("other");
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }])], { later: asked(whom) });
    await set.say(set.thread, "Ask.");
    const agents = { ...set.parts.agents, all: [set.agent, sampleAgent({}, whom)] };
    const { runtime } = await testRuntime([], { agent: set.agent, store: set.store, parts: { agents } });
    const kept = [];
    const wanted = { contact: contactId("ann"), agent: set.agent.name };
    for await (const one of runtime.use(CONTACT_API).everything(OPERATOR, wanted)) kept.push(one);
    expect(new Set(kept.map(({ agent }) => agent))).toEqual(new Set([set.agent.name, whom]));
    expect(JSON.stringify(kept.filter(({ agent }) => agent === whom))).toContain("What is the time?");
  });

  it("is erased with the contact who asked through another agent, and erased alone it gives its caller a sentence", async () => {
    const whom = agentName("other");
    const set = await waiting([calls(["c1", "ask_client", { what: "x" }])], { later: asked(whom) });
    const { thread, store, agent, runtime } = set;
    await set.say(thread, "Ask.");
    const scope = { ...thread.scope, agent: whom };
    const [called] = await store.threads(scope, 9);
    if (called === undefined) throw new Error("nobody is asked");
    expect(JSON.stringify(await store.pending(scope, called.id))).toContain("What is the time?");
    await runtime.erase(OPERATOR, { contact: contactId("ann"), agent: agent.name });
    expect(await store.threads(scope, 9)).toEqual([]);
    expect(JSON.stringify(await store.pending(scope, called.id))).not.toContain("What is the time?");
    expect(await problems(store, agent.org)).toEqual([]);

    const other = await waiting([calls(["c1", "ask_client", { what: "x" }])], { later: asked(whom) });
    await other.say(other.thread, "Ask.");
    await other.runtime.erase(OPERATOR, { contact: contactId("ann"), agent: whom });
    expect(await other.store.pending(other.thread.scope, other.thread.id)).toMatchObject([{ failed: true }]);
  });

  it("is asked at most three times: then its caller goes on with the reason", async () => {
    const down = new Error("down");
    const script = [calls(["c1", "ask_client", { what: "the time" }]), down, down, down, "I could not find out."];
    const set = await waiting(script, { later: asked() });
    const { thread, runtime } = set;
    await runtime.post(OPERATOR, thread, [message("What time is it?", set.time.at)]);
    expect((await collect(runtime.follow(OPERATOR, thread))).at(-1)).toMatchObject({ text: "I could not find out." });
    expect(resultsIn(set.sent.at(-1)?.messages ?? [])).toEqual([expect.stringContaining("The turn failed:")]);
  });
});

describe("a run that is killed", () => {
  /** As many runs as the time holds; `checks/waits.ts --loop` runs them by the hundred. */
  async function survive(killing: KillingStore, milliseconds: number): Promise<void> {
    const end = Date.now() + milliseconds;
    let [seed, kills] = [Date.now() % 1_000_000, 0];
    while (Date.now() < end || kills === 0) kills += await surviveKills(killing, seed++);
    expect(await problems(killing.store, OPERATOR.org)).toEqual([]);
    await killing.store.close();
  }
  const ONCE = "law 7 goes on once, wherever its program dies: nothing is lost, doubled or done twice";

  it(ONCE, async () => survive(await killingSqlite(await allParts()), 2_000));

  describe.skipIf(server === undefined)(title("in PostgreSQL"), () => {
    const { make, url } = databases();
    it(ONCE, { timeout: 60_000 }, async () =>
      survive(await killingPostgres(url(await make(await tablesOfToday(await allParts()))), await allParts()), 500),
    );
  });
});
