import {
  type Allowed,
  eventId,
  isBatch,
  isKept,
  isReserved,
  issueId,
  isUntaken,
  StrataError,
  type ThreadId,
  type TurnEvent,
  type TurnId,
  threadId,
} from "../../protocol/index.ts";
import type { Thread, TurnRecord } from "../../store/index.ts";
import { threadOf, turnOf } from "../access.ts";
import { follow } from "../intake/follow.ts";
import { checkTalk } from "../intake/own-channels.ts";
import { broughtUpToDate, setupOf } from "../loop/setup.ts";
import type { TurnParts } from "../loop/steps.ts";
import { runTurn } from "../loop/turn.ts";
import type { Parts } from "../parts.ts";
import { checkRecorded, REPLAY } from "../recording/recording.ts";
import type { ForkOptions, RegenerateOptions, Run, RunOptions } from "../runtime.ts";
import { meantBy } from "../tools/index.ts";

/** Where a thread branches off: after a turn, or before its first one. */
type Point = NonNullable<Thread["forkedFrom"]>;

/** A thread that continues where a turn of another ended. The parent is only read. */
export async function fork(parts: Parts, actor: Allowed<"view">, id: ThreadId, options: ForkOptions): Promise<Thread> {
  const { turn, key = ownName(parts, "fork") } = options;
  const parent = await threadOf(parts, actor, id);
  const turns = await parts.store.turns(parent.scope, id);
  const point = turn === undefined ? lastDone(parent, turns) : after(parent, turns, turn);
  return branch(parts, parent, point, { key, channel: channelOf(parts, parent, options) });
}

/** The channel on which a recording is continued unless the caller names one: on its own channel nothing is delivered. */
const LIVE_CHANNEL = "chat";

/** @throws StrataError `invalid_input` for a channel that takes no messages */
function channelOf(parts: Parts, parent: Thread, { channel }: ForkOptions): string {
  if (channel === undefined) return parent.channel === REPLAY ? LIVE_CHANNEL : parent.channel;
  checkTalk(parts, { channel });
  checkRecorded({ channel });
  return channel;
}

/** Sends the same messages again, on a fork from before the turn. */
export async function* regenerate(
  parts: TurnParts,
  actor: Allowed<"view">,
  id: TurnId,
  options: RegenerateOptions,
): AsyncGenerator<TurnEvent> {
  const turn = await turnOf(parts, actor, id);
  const parent = await broughtUpToDate(parts, await threadOf(parts, actor, turn.thread));
  if (turn.events.length === 0) {
    const why = turn.status === "running" ? "it still runs" : "it has no messages";
    throw new StrataError("invalid_input", `${id} cannot be answered again: ${why}; name a turn that ended`, {
      turn: id,
    });
  }
  checkActsOnce(parts, turn, options);
  // If the turn may not begin, that is said before anything is stored.
  const { agent } = await setupOf(parts, parent, options);
  const isSent = parent.channel !== REPLAY && sendsAgain(parts, turn, options);
  await parts.steps.checkStart(parts, { agent, waits: async () => true, recorded: options.recorded });
  const turns = await parts.store.turns(parent.scope, parent.id);
  // A recording's turn is answered again on the recording's channel: nothing of it is to be delivered today.
  const beside = { key: ownName(parts, "again"), channel: parent.channel };
  const thread = await branch(parts, parent, before(parent, turns, turn), beside);
  const events = turn.events.map(({ kind, trust, channel, name, number, line, proof, content, at }) => {
    // Without the external id: the message is known by it already and would not be stored again.
    const from = {
      ...(name !== undefined && { name }),
      ...(number !== undefined && { number }),
      ...(line && { line }),
    };
    const said = { kind, trust, channel, content, at, ...from, ...(proof && { proof }) };
    return { ...said, id: eventId(issueId("event", parts.clock.real(), parts.random(10))) };
  });
  await parts.store.receive(thread.scope, thread.id, events);
  const run: Run = (of, { goesOn = false, ...how }) =>
    parts.queue.inPlace({ ...of.scope, goesOn }, how.signal, () => runTurn(parts, of, how));
  const how: RunOptions = isSent ? { ...options, replyTo: "outbox" } : options;
  yield* options.alone === true ? run(thread, how) : follow(parts, run, thread, how);
}

/** The fork does not know what the turn did: waiting messages would be answered twice, and external tools would act again. */
function checkActsOnce(
  { tools }: Parts,
  { id, thread, events, requests, batch }: TurnRecord,
  options: RegenerateOptions,
): void {
  if (events.some(isUntaken)) {
    const message = `${id} failed, and its messages still wait on ${thread}: \`/retry\` in the chat or \`POST /v1/threads/${thread}/run\` answers them`;
    throw new StrataError("invalid_input", message, { turn: id, thread });
  }
  if (options.again === true) return;
  if (batch !== undefined) {
    const message = `${id} was a part of the turn on ${batch} over the messages of several senders, which acted outside and may do so again; allow this with --again, or \`{"again": true}\` over HTTP`;
    throw new StrataError("invalid_input", message, { turn: id, batch });
  }
  const calls = requests.flatMap(({ reply }) => reply?.parts.filter((part) => part.type === "call") ?? []);
  const names = new Set(calls.map((call) => meantBy(tools, call).tool));
  const outside = [...names].filter((name) => tools.get(name)?.effect === "external");
  if (outside.length === 0) return;
  const message = `${id} called ${outside.join(", ")}, which acts outside and may act again; allow this with --again, or \`{"again": true}\` over HTTP`;
  throw new StrataError("invalid_input", message, { turn: id, tools: outside });
}

/** Whether today's declaration delivers the reply: the sender gets a second one then, which the caller must allow. */
function sendsAgain({ agents }: Parts, { id, end, scope }: TurnRecord, { again, replyTo }: RegenerateOptions): boolean {
  const declared = agents.all.find(({ org, name }) => org === scope.org && name === scope.agent);
  if (declared?.deliver === undefined || replyTo === "nobody" || isReserved(scope.contact)) return false;
  if (end === undefined || !isKept(end) || end.reply === null) return false;
  if (again) return true;
  const message = `${id} was answered, and a second reply would be sent to ${scope.contact}; allow this with --again, or \`{"again": true}\` over HTTP`;
  throw new StrataError("invalid_input", message, { turn: id });
}

/** A key that no other conversation has. */
const ownName = (parts: Parts, what: string): string => `${what} ${Buffer.from(parts.random(10)).toString("hex")}`;

async function branch(
  parts: Parts,
  parent: Thread,
  forkedFrom: Point,
  { key, channel }: Pick<Thread, "key" | "channel">,
): Promise<Thread> {
  const { scope, version } = parent;
  checkTalk(parts, parent);
  checkOne(parent);
  // Stores nothing, but throws if the thread is closed.
  await parts.store.receive(scope, parent.id, []);
  const id = threadId(issueId("thread", parts.clock.real(), parts.random(10)));
  const opened = await parts.store.openThread(scope, {
    id,
    channel,
    key,
    version,
    at: parts.clock.recorded(),
    forkedFrom,
  });
  const { thread, turn } = opened.forkedFrom ?? { thread: undefined, turn: undefined };
  if (thread === forkedFrom.thread && turn === forkedFrom.turn) return opened;
  const message = `the conversation ${JSON.stringify(key)} is already thread ${opened.id}, which is not a fork from there`;
  throw new StrataError("invalid_input", `${message}; choose another key`, { key, thread: opened.id });
}

/** A turn of several senders does not belong to one conversation. */
function checkOne({ id, scope }: Thread): void {
  if (!isBatch(scope)) return;
  const message = `${id} holds a turn over the messages of several senders; name the thread of one of them`;
  throw new StrataError("invalid_input", message, { thread: id });
}

/** At most this many of a thread's newest turns are searched for one that is closed. */
const SEARCHED = 200;

/**
 * Where a call may branch off from its caller: after the last turn that left no call open. The call itself comes after it, and so does
 * everything its run has said.
 */
export async function closedPoint({ store }: Parts, thread: Thread): Promise<Point> {
  const { scope, id, turns } = thread;
  const found = await store.turns(scope, id, { limit: SEARCHED, after: { at: Math.max(0, turns - SEARCHED), id: "" } });
  const last = found.findLast((turn) => isKept(turn) && turn.status !== "waiting" && turn.batch === undefined);
  return last === undefined ? start(thread) : { thread: id, turn: last.id };
}

/** A fork that has no turns yet is at the point that it was made from. */
const start = (thread: Thread): Point => thread.forkedFrom ?? { thread: thread.id, turn: null };

function lastDone(thread: Thread, turns: readonly TurnRecord[]): Point {
  const last = turns.findLast(isKept);
  return last === undefined ? start(thread) : { thread: thread.id, turn: last.id };
}

function after(thread: Thread, turns: readonly TurnRecord[], id: TurnId): Point {
  const turn = turns.find((one) => one.id === id);
  if (turn === undefined) {
    const message = `${id} is not a turn of ${thread.id}; \`strata explain ${thread.id}\` or \`GET /v1/threads/${thread.id}/turns\` lists its turns`;
    throw new StrataError("turn_not_found", message, { turn: id, thread: thread.id });
  }
  if (turn.status !== "running") return { thread: thread.id, turn: id };
  throw new StrataError("invalid_input", `${id} is still running; wait for its end, or name an earlier turn`, {
    turn: id,
  });
}

function before(thread: Thread, turns: readonly TurnRecord[], turn: TurnRecord): Point {
  const last = turns.findLast(({ seq, status }) => seq < turn.seq && status !== "running");
  return last === undefined ? start(thread) : { thread: thread.id, turn: last.id };
}
