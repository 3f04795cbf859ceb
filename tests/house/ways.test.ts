import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readFiles } from "../../checks/files.ts";
import { vaultOf } from "../../src/agents/index.ts";
import { allToolFamilies } from "../../src/app/entry/features.ts";
import { APPROVAL_API, FEATURE as APPROVALS, ESCALATION_API } from "../../src/features/approvals/index.ts";
import { FEATURE as CALLS } from "../../src/features/calls/index.ts";
import { signedHeaders } from "../../src/features/deliveries/index.ts";
import { HOOK_API } from "../../src/features/hooks/index.ts";
import { FEATURE as INBOX, INBOX_API } from "../../src/features/inbox/index.ts";
import { LIFE_API } from "../../src/features/life/index.ts";
import { MESSAGE_API, type NewMessage } from "../../src/features/messages/index.ts";
import { SCHEDULE_API } from "../../src/features/schedules/index.ts";
import { FEATURE as SUBAGENTS } from "../../src/features/subagents/index.ts";
import {
  approvalId,
  contactId,
  eventId,
  issueId,
  type Tool,
  TRUSTS,
  type Trust,
  toolName,
  trusted,
  untrusted,
} from "../../src/protocol/index.ts";
import type { Thread } from "../../src/store/index.ts";
import {
  collect,
  message,
  OPERATOR,
  sampleAgent,
  type TestRuntime,
  testRuntime,
} from "../../src/turn/index.contract.ts";
import { answersLater, REPLAY } from "../../src/turn/index.ts";
import { defineTool, toolset } from "../../src/turn/tools/index.ts";
import { cardOf } from "../../src/wire/index.ts";
import type { Job } from "../../src/work/index.ts";

/** The ways into a turn, as a person has reviewed them. */
const REVIEWED = readFiles((path) => path === "tests/house/ways.txt")
  .flatMap(({ text }) => text.split("\n"))
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.trim().split(/\s+/).join(" "));

const NOTHING = z.strictObject({});

/** A tool that is refused in a tainted turn, one whose call waits for a person, and one that asks whoever talks with the agent. */
const TOOLS: readonly Tool[] = [
  defineTool({
    name: "wipe",
    description: "Wipes.",
    input: NOTHING,
    effect: "none",
    trust: "platform",
    tainted: "refuse",
    run: () => "wiped",
  }),
  defineTool({
    name: "pay",
    description: "Pays.",
    input: NOTHING,
    effect: "external",
    trust: "contact",
    needsApproval: true,
    run: () => "paid",
  }),
  defineTool({
    name: "ask_client",
    description: "Asks.",
    input: NOTHING,
    effect: "none",
    trust: "contact",
    run: (_, context) => answersLater(context, { waitsFor: "client" }),
  }),
];

/** In no part of it is the mode the default one, so that whatever reaches a turn has come from its declaration. */
const AGENT = sampleAgent({
  mode: "compact",
  history: "log",
  life: { tick: 60 },
  hooks: { sms: { signing: "sms" } },
  tools: ["wipe", "pay", "ask_client", "call_subagent", "escalate", "ask_helper"].map(toolName),
  // It asks itself, waits for a second, and may be told something meanwhile.
  peers: [
    {
      name: "helper",
      description: "Helps.",
      payload: { type: "Text", schema: { type: "object" } },
      seconds: 1,
      updates: true,
    },
  ],
  schedules: [
    { name: "digest", cron: "0 * * * *", timezone: "UTC", text: "Sum up the day.", missed: "once", mode: "full" },
  ],
  subagents: {
    defined: [{ name: "Reviewer", description: "Reviews.", text: trusted("Be strict."), mode: "full" }],
    ...{ fromFiles: false, depth: 1, limits: { modelCalls: 4, toolCalls: 8, seconds: 60 } },
  },
});

interface Stage extends TestRuntime {
  readonly thread: Thread;
  readonly send: (given: Partial<NewMessage>) => Promise<unknown>;
}

const call = (tool: string, input: object = {}) => ({ parts: [{ call: tool, id: "c1", input: { ...input } }] });

const NO_DEPS = { store: (await testRuntime([])).store, agentOf: () => AGENT, files: "" };

async function staged(script: Parameters<typeof testRuntime>[0]): Promise<Stage> {
  const subagents = SUBAGENTS.tools?.(NO_DEPS) ?? [];
  const parts = {
    tools: toolset([...TOOLS, ...subagents, ...(APPROVALS.tools?.(NO_DEPS) ?? [])], await allToolFamilies()),
    vault: { ...vaultOf([]), secret: () => "secret" },
    cardOf: () => cardOf("anthropic:claude-sonnet-4-5"),
  };
  const on = await testRuntime([...script, "Done.", "Done.", "Done."], { agent: AGENT, parts });
  const to = { agent: AGENT.name, contact: contactId("ann"), channel: "test", key: "main" };
  const content = [{ type: "text", text: untrusted("Please begin.") }] as const;
  const send = (given: Partial<NewMessage>) =>
    collect(
      on.runtime.use(MESSAGE_API).sendMessage(OPERATOR, { to, content, kind: "message", follow: "turn", ...given }),
    );
  return { ...on, thread: await on.open(), send };
}

/** All that is due of a job is done, as by the dispatcher: a minute later, for messages are left to whoever posted them for a while. */
async function dispatched({ runtime }: Stage, jobs: readonly Job[] | undefined, name: string): Promise<void> {
  const world = { runtime, operator: OPERATOR, clock: { real: () => Date.now() + 60_000 }, isWanted: async () => true };
  const tasks = (await jobs?.find((job) => job.name === name)?.due(world))?.tasks ?? [];
  for (const task of tasks) await collect(task.run(new AbortController().signal));
}

const post = ({ runtime, thread, time }: Stage) => runtime.post(OPERATOR, thread, [message("Please.", time.at)]);

/** Each way into a turn: what the models say, what is done before, and what then begins the turn. */
interface Way {
  readonly message?: Parameters<typeof testRuntime>[0];
  readonly before?: (on: Stage) => Promise<unknown>;
  readonly begin: (on: Stage) => Promise<unknown>;
  /** Only turns on threads of this channel; left out, all. */
  readonly channel?: string;
}

const INSTRUCTION = { kind: "instruction" } as const;
const ASKING = call("call_subagent", { name: "Reviewer", task: "Look at it." });

/** What a peer tells its caller, whose call is closed by then: it begins a turn of its own. */
const TOLD = {
  message: [
    call("ask_helper", { text: "Well?" }),
    "It is late.",
    // It waits for an answer itself: only what it told arrives.
    { parts: [...call("enqueue_parent", { text: "Soon." }).parts, { call: "ask_client", id: "c2", input: {} }] },
  ],
  before: async ({ send, store, time, thread, runtime }: Stage, given: Partial<NewMessage>) => {
    await send(given);
    const now = (await store.nextOverdue(thread.scope)) ?? 0;
    await store.answerOverdue(thread.scope, { now, at: time.at });
    await collect(runtime.runDue(OPERATOR, thread));
    const [asked] = await runtime.dueRuns(OPERATOR, AGENT.name);
    if (asked === undefined) throw new Error("nobody was asked");
    await collect(runtime.runDue(OPERATOR, asked));
  },
  begin: ({ runtime, thread }: Stage) => collect(runtime.runDue(OPERATOR, thread)),
  channel: "test",
} as const;

const WAYS: Readonly<Record<string, Way>> = {
  "approvals decided": {
    message: [call("pay"), "It waits."],
    before: ({ send }) => send(INSTRUCTION),
    begin: async ({ runtime, thread }) => {
      const { newestApprovals, decide } = runtime.use(APPROVAL_API);
      const [waits] = await newestApprovals(OPERATOR, { agent: AGENT.name, limit: 1 });
      if (waits === undefined) throw new Error("nothing waits for a person");
      await decide(OPERATOR, waits.id, { verdict: "approved" });
      await collect(runtime.follow(OPERATOR, thread));
    },
  },
  "approvals answered": {
    message: [call("escalate", { question: "May I?" }), "I am asking."],
    before: ({ send }) => send(INSTRUCTION),
    begin: async ({ runtime, thread }) => {
      const { newestEscalations, answer } = runtime.use(ESCALATION_API);
      const [open] = await newestEscalations(OPERATOR, { agent: AGENT.name, limit: 1 });
      await answer(OPERATOR, approvalId(open?.id ?? ""), untrusted("You may."));
      await collect(runtime.follow(OPERATOR, thread));
    },
  },
  "calls answered": {
    message: [call("ask_client")],
    before: ({ send }) => send({ ...INSTRUCTION, mode: "minimal" }),
    begin: async (on) => {
      const [open] = await on.store.openCalls(on.thread.scope, on.thread.id);
      if (open === undefined) throw new Error("no call is open");
      const answers = [{ call: open.id, content: [{ type: "text", text: untrusted("noon") }], failed: false }] as const;
      await on.send({ content: [], answers, follow: "queue" });
      await dispatched(on, CALLS.jobs, "calls.runs");
    },
  },
  "hooks received": {
    begin: async (on) => {
      const text = JSON.stringify({ contact: "ann", text: "Please." });
      const [id, timestamp] = ["msg_1", Math.floor(Date.now() / 1_000)];
      const signature = signedHeaders("secret", { id, timestamp, body: text })["webhook-signature"];
      const request = { id, timestamp: `${timestamp}`, signature, text, value: JSON.parse(text) };
      await on.runtime.use(HOOK_API).receive(AGENT.name, "sms", request);
      await dispatched(on, INBOX.jobs, "inbox.messages");
    },
  },
  "inbox job": { before: post, begin: (on) => dispatched(on, INBOX.jobs, "inbox.messages") },
  "inbox run": { before: post, begin: ({ runtime }) => collect(runtime.use(INBOX_API).runInbox(OPERATOR, AGENT.name)) },
  "life due": { begin: ({ runtime }) => collect(runtime.use(LIFE_API).tickDue(OPERATOR, AGENT.name)) },
  "life tick": { begin: ({ runtime }) => collect(runtime.use(LIFE_API).tick(OPERATOR, AGENT.name)) },
  "messages instruction": { begin: ({ send }) => send(INSTRUCTION) },
  "messages sent": { begin: ({ send }) => send({}) },
  "messages sent-with-mode": { begin: ({ send }) => send({ mode: "minimal" }) },
  "messages sent-with-run": { begin: ({ send }) => send({ follow: "run" }) },
  "peers told-by-contact": { ...TOLD, before: (on) => TOLD.before(on, {}) },
  "peers told-by-operator": { ...TOLD, before: (on) => TOLD.before(on, INSTRUCTION) },
  "runtime follow": { before: post, begin: ({ runtime, thread }) => collect(runtime.follow(OPERATOR, thread)) },
  "runtime regenerate": {
    before: ({ send }) => send({ mode: "minimal" }),
    begin: async ({ runtime, thread }) => {
      const [turn] = await runtime.turns(OPERATOR, thread.id);
      if (turn === undefined) throw new Error("there is no turn");
      await collect(runtime.regenerate(OPERATOR, turn.id));
    },
  },
  "runtime replay": {
    begin: async ({ runtime, time }) => {
      const conversation = { agent: AGENT.name, contact: contactId("ann"), channel: REPLAY, key: "book:1" };
      const thread = await runtime.open(OPERATOR, { ...conversation, recorded: true });
      await runtime.post(OPERATOR, thread, [{ ...message("Please.", time.at, "book:1:1"), channel: REPLAY }]);
      await collect(runtime.run(OPERATOR, thread, { replyTo: "nobody", recorded: new Map() }));
    },
  },
  "runtime run": { before: post, begin: ({ runtime, thread }) => collect(runtime.run(OPERATOR, thread)) },
  "schedules by-hand": {
    begin: ({ runtime }) => collect(runtime.use(SCHEDULE_API).runSchedule(OPERATOR, AGENT.name, "digest")),
  },
  "schedules due": {
    before: ({ runtime }) => collect(runtime.use(SCHEDULE_API).runDueSchedule(OPERATOR, AGENT.name, "digest")),
    begin: ({ runtime, time }) => {
      time.at += 3_600_000;
      return collect(runtime.use(SCHEDULE_API).runDueSchedule(OPERATOR, AGENT.name, "digest"));
    },
  },
  "subagents asked-by-contact": { message: [ASKING], begin: ({ send }) => send({ follow: "run" }), channel: "peer" },
  "subagents asked-by-operator": {
    message: [ASKING],
    begin: ({ send }) => send({ ...INSTRUCTION, follow: "run" }),
    channel: "peer",
  },
};

/** The turns on all threads of the agent, as the record has them. */
async function recorded({ store }: Stage, channel: string | undefined) {
  const threads = await store.threads({ org: AGENT.org, agent: AGENT.name, contact: null }, 100);
  const wanted = threads.filter((one) => channel === undefined || one.channel === channel);
  return (await Promise.all(wanted.map(({ scope, id }) => store.turns(scope, id)))).flat();
}

/** The mode of each turn that begins so, the lowest trust of what it was sent, and the events that it took. */
async function rowsOf(
  name: string,
  { message: sentence = [], before, begin, channel }: Way,
): Promise<readonly string[]> {
  const on = await staged(sentence);
  await before?.(on);
  const known = new Set((await recorded(on, channel)).map(({ id }) => id));
  await begin(on);
  return (await recorded(on, channel))
    .filter(({ id }) => !known.has(id))
    .map(({ mode, requests, events }) => {
      const took = events.map(({ kind, trust }) => `${kind}/${trust}`).join(",");
      return `${name} ${mode} ${requests.at(-1)?.taint} ${took}`;
    });
}

/** What becomes of a call that is refused in a tainted turn, where a text of this trust began the turn. */
async function calledAfter(trust: Trust): Promise<string> {
  const { store, thread, runtime, time } = await staged([call("wipe")]);
  const content = [{ type: "text", text: untrusted("Wipe it.") }] as const;
  const id = eventId(issueId("event", time.at, randomBytes(10)));
  const event = { id, kind: "instruction", trust, channel: "test", content, at: time.at } as const;
  await store.receive(thread.scope, thread.id, [event]);
  const events = await collect(runtime.run(OPERATOR, thread));
  const end = events.find((one) => one.type === "tool-end");
  return `turn taint ${trust} ${end?.type === "tool-end" && !end.failed ? "runs" : "tainted"}`;
}

describe("a way into a turn", () => {
  it.each(Object.entries(WAYS))("%s: mode, trust and events are those that were reviewed", async (name, way) => {
    const reviewed = REVIEWED.filter((row) => row.startsWith(`${name} `));
    expect(reviewed, `say in tests/house/ways.txt what reaches a turn by ${name}`).not.toEqual([]);
    expect(await rowsOf(name, way)).toEqual(reviewed);
  });

  it("taints the turn where its text is that of an outsider, and else it does not", async () => {
    const rows = await Promise.all(TRUSTS.map(calledAfter));
    expect(rows).toEqual(REVIEWED.filter((row) => row.startsWith("turn taint ")));
  });

  it("is there for each reviewed row", () => {
    const names = [...Object.keys(WAYS), "turn taint"];
    expect(REVIEWED.filter((row) => !names.includes(row.split(" ").slice(0, 2).join(" ")))).toEqual([]);
  });
});
