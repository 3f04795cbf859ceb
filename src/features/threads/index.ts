/** Conversations: open, list, read and fork them, move one to another version of its agent, cancel its turn. */
import { z } from "zod";
import {
  type AwaitedCall,
  ago,
  count,
  minute,
  number,
  printable,
  type Style,
  setIn,
  shortVersion,
  table,
  waitingMessagesSays,
  waitingSays,
} from "../../print/index.ts";
import { type Allowed, isAllowed } from "../../protocol/index.ts";
import { awaitedCalls } from "../../turn/index.ts";
import { COLUMNS, type Columns, cellsOf, withColumns } from "../column.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, given, list, NEXT, nextAfter, PAGE } from "../fields.ts";
import { type Operation, type OperationContext, operation, type Thread, turnOperation } from "../operation.ts";
import { SCHEDULE } from "../schedules/index.ts";
import { AWAITED, EVENT, SLOT, THREAD, TURN } from "../shapes.ts";
import { PEER } from "../subagents/index.ts";
import { EXPORT } from "./export.ts";

export { recordingOf } from "./export.ts";

const ONE = z.strictObject({ id: FIELDS.thread });
const ID = "thr_01jd8k3v5x9m2q7r4t6w8y0zab";

const open = operation({
  name: "thread.open",
  does: "Open a conversation: returns its thread, and creates one if there is none.",
  may: "post",
  at: "POST /v1/threads",
  takes: z.strictObject({
    agent: FIELDS.agent,
    contact: FIELDS.contact,
    channel: FIELDS.channel
      .default("http")
      .describe(
        "where the conversation takes place; not `replay` or `consolidation`, which hold recordings and summaries",
      ),
    key: FIELDS.key
      .default("main")
      .describe("which conversation of the contact on that channel; another key is another thread"),
  }),
  gives: THREAD,
  run: async ({ runtime }, conversation, { actor }) => viewFor(actor, await runtime.open(actor, conversation)),
  show: (thread) => [thread.id],
});

/** The thread with what features add to it, where the actor may read that. */
async function withFields(
  { runtime, clock }: Pick<OperationContext, "runtime" | "clock">,
  actor: Allowed<"view">,
  thread: Thread,
): Promise<Thread> {
  if (!isAllowed(actor, "read")) return thread;
  const [whole = thread] = await withColumns(runtime.use(COLUMNS).threads, { runtime, actor, clock }, [thread]);
  return whole;
}

/** What features add to a thread, each on a line. */
export const fieldLines = (columns: Columns["threads"], thread: object): readonly string[] =>
  cellsOf(columns, thread).flatMap((cell, i) => (cell === "" ? [] : [`${columns[i]?.name}: ${printable(cell)}`]));

/** A contact learns who talks and when, but nothing about the agent's declaration or an operator's actions on the thread. */
/** The calls that are open, as the actor may know them: a contact does not learn the agent's tools. */
const awaitedFor = (
  actor: Allowed<"view">,
  calls: Awaited<ReturnType<OperationContext["runtime"]["openCalls"]>>,
): readonly AwaitedCall[] =>
  awaitedCalls(calls.filter(({ state }) => state === "open")).map((call) =>
    isAllowed(actor, "read") ? call : { id: call.id, waitsFor: call.waitsFor },
  );

function viewFor(actor: Allowed<"view">, thread: Thread): ThreadView {
  const { version: _, forkedFrom: __, caller: ___, parties: ____, ...rest } = thread;
  return isAllowed(actor, "read") ? thread : rest;
}

const threads = operation({
  name: "thread.list",
  does: "List threads, most recently active first: of all agents, of one agent, or of one of its contacts.",
  may: "read",
  at: "GET /v1/threads",
  takes: z.strictObject({
    agent: FIELDS.agent.optional(),
    contact: FIELDS.contact.optional(),
    channel: FIELDS.channel
      .optional()
      .describe(
        "only threads on this channel; default: all but runs of schedules (`schedule`) and questions to sub-agents (`peer`)",
      ),
    ...PAGE,
  }),
  gives: z.object({ threads: list(THREAD), ...NEXT }),
  list: "threads",
  columns: "threads",
  command: { examples: ["thread list companion --as ann", "thread list --channel schedule"], opens: "record" },
  run: async ({ runtime, clock }, wish, { actor }) => {
    const on = wish.channel === undefined ? { except: [SCHEDULE.name, PEER.name] } : {};
    const found = await runtime.newestThreads(actor, { ...wish, ...on });
    const threads = await withColumns(runtime.use(COLUMNS).threads, { runtime, actor, clock }, found);
    return { threads, ...nextAfter(threads, wish.limit, ({ lastActivity: at, id }) => ({ at, id })) };
  },
  show: ({ threads: found }, { style, world }) =>
    threadLines(found, world.clock.real(), style, world.runtime.use(COLUMNS).threads),
});

const one = operation({
  name: "thread.get",
  does: "Show one thread.",
  may: "view",
  at: "GET /v1/threads/{id}",
  takes: ONE,
  gives: THREAD,
  columns: "threads",
  run: async (world, { id }, { actor }) => withFields(world, actor, await world.runtime.thread(actor, id)),
  show: (thread, { style, world }) => threadLines([thread], world.clock.real(), style),
});

const showThread = operation({
  name: "thread.show",
  does: "Show what was said on a thread, without any prompt; `strata explain` shows what was sent.",
  may: "view",
  at: "GET /v1/threads/{id}/slots",
  takes: ONE.extend({ ...PAGE, limit: FIELDS.limit.default(1_000) }),
  gives: z.object({
    thread: THREAD,
    slots: list(SLOT),
    waiting: z.number().describe("messages that wait for an answer"),
    calls: list(AWAITED).describe("calls that the conversation waits for"),
    ...NEXT,
  }),
  columns: "threads",
  command: { words: ["id"], examples: [`thread show ${ID}`], opens: "record" },
  run: async (world, { id, ...page }, { actor }) => {
    const { runtime } = world;
    const thread = await withFields(world, actor, await runtime.thread(actor, id));
    const waiting = (await runtime.pending(actor, thread)).length;
    const slots = await runtime.slots(actor, id, page);
    return {
      thread: viewFor(actor, thread),
      slots,
      waiting,
      calls: awaitedFor(actor, await runtime.openCalls(actor, id)),
      ...nextAfter(slots, page.limit, ({ index }) => ({ at: index })),
    };
  },
  show: ({ thread, slots, waiting, calls }, { style, world: { runtime } }) => [
    ...conversationLines(thread, slots, style),
    ...fieldLines(runtime.use(COLUMNS).threads, thread),
    ...(calls.length === 0 ? [] : [`This conversation is ${waitingSays(calls)}.`]),
    ...(waiting === 0 ? [] : [waitingMessagesSays(waiting, thread.id)]),
  ],
});

const listTurns = operation({
  name: "thread.turns",
  does: "List a thread's recorded turns, oldest first.",
  may: "explain",
  at: "GET /v1/threads/{id}/turns",
  takes: ONE.extend(PAGE),
  gives: z.object({ turns: list(TURN), ...NEXT }),
  list: "turns",
  run: async ({ runtime }, { id, ...page }, { actor }) => {
    const found = await runtime.turns(actor, id, page);
    return { turns: found, ...nextAfter(found, page.limit, ({ seq }) => ({ at: seq })) };
  },
  show: ({ turns: found }) => found.map((turn) => turn.id),
});

const fork = operation({
  name: "thread.fork",
  does: "Fork a thread: a new thread continues after one of its turns, and this one does not change.",
  may: "operate",
  at: "POST /v1/threads/{id}/fork",
  takes: ONE.extend({
    turn: FIELDS.turn.optional().describe("after which turn (default: the last one that is done)"),
    key: FIELDS.key
      .optional()
      .describe("the new conversation's name; the same name returns the same fork (default: a new name)"),
    channel: FIELDS.channel.optional().describe("where it takes place (default: as this one; for a recording, `chat`)"),
  }),
  gives: THREAD,
  command: { words: ["id"], examples: [`thread fork ${ID} --key other-way`], opens: "record" },
  run: ({ runtime }, { id, turn, key, channel }, { actor }) =>
    runtime.fork(actor, id, { ...given("turn", turn), ...given("key", key), ...given("channel", channel) }),
  show: (made, { style }) => [`${style.bold(made.id)} ${fromWhere(made)}`],
  hints: (made) => [chatOn(made)],
});

/** How a chat continues with a fork: left to itself, it continues with the thread that was forked. */
export const chatOn = ({ id, scope: { agent } }: Pick<Thread, "id" | "scope">): string =>
  `\`strata chat ${agent} --thread ${id}\` continues it; without --thread, a chat never continues a fork.`;

const migrateThread = operation({
  name: "thread.migrate",
  does: "Move a thread to its agent's current layers and tools; the conversation continues. Its next turn starts a new epoch: the prompt is built and cached again.",
  may: "operate",
  at: "POST /v1/threads/{id}/migrate",
  takes: ONE,
  gives: z.object({
    thread: THREAD,
    from: z.string().describe("the version that it was pinned to"),
    changes: list(z.string()).describe("what changed, in sentences"),
  }),
  command: { words: ["id"], examples: [`thread migrate ${ID}`], opens: "record to run" },
  run: ({ runtime }, { id }, { actor }) => runtime.migrate(actor, id),
  show: ({ thread, from, changes }) => {
    const { id, version, scope } = thread;
    if (from === version) return [`${id} already has the declared version of ${scope.agent}.`];
    const names = `version ${shortVersion(version)} of ${scope.agent}, no longer ${shortVersion(from)}`;
    return [`The next turn of ${id} uses ${names}.`, ...changes.map((change) => `  ${change}`)];
  },
});

const runThread = turnOperation({
  name: "thread.run",
  does: "Run a turn for the messages that wait on a thread, and the turns of the agents that it asks.",
  may: "run",
  at: "POST /v1/threads/{id}/run",
  takes: ONE.extend({ mode: FIELDS.mode.optional() }),
  command: {
    words: ["id"],
    examples: [`thread run ${ID}`, `thread run ${ID} --mode minimal`],
    opens: "everything",
  },
  turn: async function* ({ runtime }, { id, mode }, { actor, signal }) {
    yield* runtime.follow(actor, await runtime.thread(actor, id), { signal, ...given("mode", mode) });
  },
  idle: ({ id }) => `Nothing waits on ${id}.`,
});

const cancel = operation({
  name: "thread.cancel",
  does: "Cancel the turn that runs on a thread, even in another program, which stops within seconds, or its wait for an answer; its messages keep waiting.",
  may: "run",
  at: "POST /v1/threads/{id}/cancel",
  takes: ONE,
  gives: z.object({ cancelled: z.boolean().describe("false if none was running") }),
  command: { words: ["id"], examples: [`thread cancel ${ID}`], opens: "record" },
  run: async ({ runtime }, { id }, { actor }) => ({ cancelled: await runtime.cancel(actor, id) }),
  show: ({ cancelled }, { given: { id } }) => [
    cancelled ? `The turn on ${id} is being cancelled; it ends within seconds.` : `No turn runs on ${id}.`,
  ],
});

const withdraw = operation({
  name: "thread.withdraw",
  does: "Withdraw the messages that wait on a thread; no turn will handle them.",
  may: "operate",
  at: "POST /v1/threads/{id}/withdraw",
  takes: ONE,
  gives: z.object({ withdrawn: list(EVENT) }),
  command: { words: ["id"], examples: [`thread withdraw ${ID}`], opens: "record" },
  run: async ({ runtime }, { id }, { actor }) => ({ withdrawn: await runtime.withdraw(actor, id) }),
  show: ({ withdrawn }, { given: { id } }) => [
    withdrawn.length === 0 ? `No message waits on ${id}.` : `${count(withdrawn.length, "message")} taken back.`,
  ],
});

const OPERATIONS: readonly Operation[] = [
  open,
  threads,
  one,
  showThread,
  listTurns,
  fork,
  migrateThread,
  runThread,
  cancel,
  withdraw,
  EXPORT,
];

export const FEATURE: Feature = { name: "threads", needs: ["schedules", "subagents"], operations: OPERATIONS };

/** A thread as far as the actor may know it. */
type ThreadView = Omit<Thread, "version"> & Partial<Pick<Thread, "version">>;

type Slot = Awaited<ReturnType<OperationContext["runtime"]["slots"]>>[number];

const HEADS = [
  { head: "thread" },
  { head: "agent" },
  { head: "contact" },
  { head: "channel" },
  { head: "turns", right: true },
  { head: "active" },
] as const;

const NO_THREAD =
  "There is no such thread yet; `strata chat AGENT` begins one. `--channel schedule` lists runs of schedules, `--channel peer` those of peers and sub-agents.";

/** The list of threads, and how to begin if there are none. */
export function threadLines(
  found: readonly Thread[],
  now: number,
  style: Style,
  columns: Columns["threads"] = [],
): readonly string[] {
  if (found.length === 0) return [NO_THREAD];
  const rows = found.map((thread) => [
    thread.id,
    thread.scope.agent,
    printable(thread.scope.contact),
    printable(thread.channel),
    number(thread.turns),
    ago(now - thread.lastActivity),
    ...cellsOf(columns, thread).map(printable),
  ]);
  return table([...HEADS, ...columns.map(({ name }) => ({ head: name }))], rows, style);
}

function fromWhere({ forkedFrom }: Pick<Thread, "forkedFrom">): string {
  if (forkedFrom === undefined) return "is no fork";
  const { thread, turn } = forkedFrom;
  return turn === null ? `begins like ${thread} before its first turn` : `continues after ${turn} of ${thread}`;
}

/** The conversation between an agent and its sub-agent, in records from before threads named their caller. */
const WHAT: Readonly<Record<string, string>> = { peer: "asks its sub-agent", reply: "as the sub-agent" };

/** An answer is shown only if it came too late to be a result. */
const LABELS: Readonly<Record<string, string>> = { peer: "another agent", answer: "late answer" };

function conversationLines(thread: ThreadView, slots: readonly Slot[], style: Style): readonly string[] {
  const { id, scope, channel, forkedFrom, parties } = thread;
  // There, an agent talks with a version of itself that has the sub-agent's instructions.
  const isCalled = channel === PEER.name;
  const asked = parties === undefined ? `${scope.agent}'s sub-agent` : `${parties.initiator} asks ${parties.target}`;
  const who = `${isCalled ? `${asked}, for` : `${scope.agent} with`} ${scope.contact} · channel ${channel}`;
  return [
    ...setIn(who, { first: `${style.bold(id)} · `, more: "  " }, style),
    ...(forkedFrom === undefined ? [] : [style.dim(fromWhere(thread))]),
    ...slots.flatMap(({ at, from, kind, text }) => {
      const isPlain = kind === "message" || (kind === "reply" && (!isCalled || parties !== undefined));
      const what = isPlain ? "" : ` (${(isCalled && parties === undefined ? WHAT[kind] : LABELS[kind]) ?? kind})`;
      return ["", `${style.dim(minute(at))}  ${style.cyan(printable(from))}${what}`, ...setIn(text, "  ", style)];
    }),
    "",
    style.dim(slots.length === 0 ? "Nothing was said yet." : `${count(slots.length, "message")}, times in UTC`),
  ];
}
