import {
  type Agent,
  type AgentName,
  type Allowed,
  asStrataError,
  authorize,
  type ContactScope,
  type ErrorCode,
  isCoreError,
  isKept,
  may,
  reaches,
  type Scope,
  type StepRecord,
  type StoredEvent,
  StrataError,
  type ThreadId,
  type TurnEvent,
  type TurnId,
} from "../protocol/index.ts";
import type { AgentOwner, NewOpenCall, Thread, TurnRecord } from "../store/index.ts";
import { endsRun } from "./loop/waits.ts";
import type { Parts } from "./parts.ts";
import type { Conversation, Ended } from "./runtime.ts";

/** Whose data a conversation is. */
export const scopeOf = (actor: Allowed<"view">, { agent, contact }: Conversation): ContactScope => ({
  org: actor.org,
  agent,
  contact,
});

/** The declared agent of that name. @throws StrataError `agent_not_found` */
export function agentNamed({ agents }: Parts, actor: Allowed<"view">, name: AgentName): Agent {
  const known = agents.all.filter((one) => isInReach(actor, one));
  const agent = known.find((one) => one.name === name);
  if (agent !== undefined) return agent;
  const names = known.map((one) => one.name);
  const recorded =
    formerAgent(agents, actor, name) && "; it is no longer declared, and what is stored of it can still be read";
  throw new StrataError(
    "agent_not_found",
    `there is no agent ${JSON.stringify(name)} in ${actor.org}${recorded ?? ""}; the declared ones are: ${names.join(", ") || "none"}`,
    {
      agent: name,
      agents: names,
    },
  );
}

/** The agent of that name, declared or only in the record: for those who look at what is stored. @throws StrataError `agent_not_found` */
export const recordedAgent = (parts: Parts, actor: Allowed<"view">, name: AgentName): Agent =>
  formerAgent(parts.agents, actor, name) ?? agentNamed(parts, actor, name);

const formerAgent = ({ former = [] }: Parts["agents"], actor: Allowed<"view">, name: AgentName): Agent | undefined =>
  former.find((one) => one.name === name && isInReach(actor, one));

/** For a caller limited to one agent, the other agents do not exist. */
const isInReach = (actor: Allowed<"view">, { org, name }: Pick<Agent, "org" | "name">): boolean =>
  actor.org === org && (actor.agent ?? name) === name;

/** The thread, if the actor may see it. Another owner's thread is reported as not found. */
export async function threadOf(parts: Parts, actor: Allowed<"view">, id: ThreadId): Promise<Thread> {
  const thread = await foundIn(parts, actor, (scope) => parts.store.thread(scope, id));
  if (thread === undefined) throw threadNotFound(id);
  return thread;
}

/** The scope of a thread that the caller has: not read from the store, which looks the thread up in this scope anyway. */
export function scopeOfThread(actor: Allowed<"view">, { id, scope }: Pick<Thread, "id" | "scope">): ContactScope {
  if (reaches(actor, scope)) return scope;
  throw threadNotFound(id);
}

const threadNotFound = (id: ThreadId): StrataError =>
  new StrataError(
    "thread_not_found",
    `there is no thread ${id} in your reach; \`strata thread list\` or \`GET /v1/threads\` lists those there are`,
    { thread: id },
  );

export async function turnOf(parts: Parts, actor: Allowed<"view">, id: TurnId): Promise<TurnRecord> {
  const turn = await foundIn(parts, actor, (scope) => parts.store.turn(scope, id));
  if (turn !== undefined) return turn;
  throw new StrataError(
    "turn_not_found",
    `there is no turn ${id} in your reach; \`strata explain THREAD\` or \`GET /v1/threads/THREAD/turns\` lists a thread's`,
    { turn: id },
  );
}

/**
 * The end of the turn that answered an event, as it told it then; or, where its run could not go on, of what that failed, or that it
 * was cancelled.
 * @throws StrataError `turn_not_found`, `record_broken`
 */
export async function recordedEnd(
  parts: Parts,
  scope: ContactScope,
  stored: StoredEvent,
): Promise<Ended | StrataError> {
  const { store } = parts;
  const { id, thread, turn } = stored;
  // Most turns answer at once: then the thread's other turns need not be read.
  const only = turn === undefined ? undefined : await store.turn(scope, turn);
  const said = only?.events.find((one) => one.id === id);
  if (only !== undefined && said !== undefined && hasStopped(only)) return { event: said, end: doneOf(only) };
  const turns = await store.turns(scope, thread);
  const took = turns.findLast((one) => isKept(one) && (one.id === turn || one.events.some((event) => event.id === id)));
  const event = took?.events.find((one) => one.id === id);
  if (took === undefined || event === undefined) {
    const message = `${id} no longer waits, and no turn of ${thread} handled it; post it again`;
    throw new StrataError("turn_not_found", message, { event: id, thread });
  }
  // If it waited, the answer is at the end of its run.
  const own = turns.filter(({ run }) => run === took.run);
  const last = own.find(hasStopped) ?? own.findLast(isKept) ?? took;
  if (last.end?.status !== "waiting") return { event, end: doneOf(last) };
  const open = await store.openCalls(scope, thread);
  if (open.some(({ turn: left, state }) => left === last.id && state !== "cancelled")) {
    const { end: waits, totals } = last;
    const calls = awaitedCalls(waits.calls);
    return {
      event,
      end: { type: "waiting", turn: last.id, text: waits.reply ?? "", calls, ...(totals && { totals }) },
    };
  }
  // That its calls are not open says that the run is over, unless a turn has ended between the two reads.
  if (statesOf(await store.turns(scope, thread)) !== statesOf(turns)) return recordedEnd(parts, scope, stored);
  const why = own.at(-1);
  if (why?.end?.status !== "failed") {
    const message = `the run of ${id} was cancelled while it waited for an answer; ask again in a new message`;
    return new StrataError("turn_cancelled", message, { event: id, thread });
  }
  // Where the run could not go on, the next turn did, without the answers. What failed for a while may have been cancelled since.
  const { seq, end: failed } = why;
  const next = endsRun(failed.code) ? turns.find((one) => one.seq > seq && hasStopped(one)) : undefined;
  if (next !== undefined) return { event, end: doneOf(next) };
  const code = isCoreError(failed.code) ? failed.code : "unexpected";
  return new StrataError(code, failed.message, { turn: why.id, thread });
}

const statesOf = (turns: readonly TurnRecord[]): string => turns.map(({ id, status }) => `${id} ${status}`).join();

const hasStopped = ({ end }: TurnRecord): boolean => end !== undefined && "stop" in end;

function doneOf({ id, end, totals, steps }: TurnRecord): Extract<TurnEvent, { type: "done" }> {
  if (end === undefined || !("stop" in end) || totals === undefined) {
    const message = `${id} took an event and is not recorded as done; run \`strata verify\` where the data is`;
    throw new StrataError("record_broken", message, { turn: id });
  }
  const unsent = unsentOf(steps ?? {});
  const left = end.reply !== null ? {} : unsent.withheld === undefined ? { unanswered: 1 } : unsent;
  return { type: "done", turn: id, text: end.reply ?? "", because: end.stop, ...left, totals };
}

/** Why what the agent said was not sent, and whether a person decides about it: empty if no step withheld it. */
export function unsentOf({ outgoing = [] }: Pick<StepRecord, "outgoing">): UnsentReply {
  const step = outgoing.find(({ did }) => did === "withheld");
  if (step?.because === undefined) return {};
  return { withheld: step.because, ...(step.drafted && { drafted: true }) };
}

type UnsentReply = Pick<Extract<TurnEvent, { type: "done" }>, "withheld" | "drafted">;

/** The calls that a turn waits for, as its end names them. */
export const awaitedCalls = (calls: readonly NewOpenCall[]): Extract<TurnEvent, { type: "waiting" }>["calls"] =>
  calls.map(({ id, waitsFor, tool, due }) => ({ id, waitsFor, tool, ...(due !== undefined && { due }) }));

/** The result if the actor may access it; undefined if it belongs to another owner. */
export async function foundIn<Found extends { readonly scope: Scope }>(
  parts: Parts,
  actor: Allowed<"view">,
  find: (scope: Scope) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for await (const scope of accessibleScopes(parts, actor)) {
    const found = await find(scope);
    if (found !== undefined && reaches(actor, found.scope)) return found;
  }
  return undefined;
}

/**
 * Where an actor may look, one agent at a time: no read covers more than one agent. Declared agents come first; the record is asked for
 * agents that are no longer declared only if nothing was found before.
 */
async function* accessibleScopes({ agents, store }: Parts, actor: Allowed<"view">): AsyncGenerator<Scope> {
  const scopeIn = (agent: AgentName): Scope => ({ org: actor.org, agent, contact: actor.contact ?? null });
  if (actor.agent !== undefined) return yield scopeIn(actor.agent);
  const declared = new Set(agents.all.filter(({ org }) => org === actor.org).map(({ name }) => name));
  for (const name of declared) yield scopeIn(name);
  for (const name of await store.agents(actor.org)) if (!declared.has(name)) yield scopeIn(name);
}

/**
 * The agent that was named, or that the actor is limited to; otherwise all with a record, declared or not.
 * @throws StrataError `agent_not_found` for a name that is neither declared nor in the record
 */
export async function recordedAgents(
  parts: Parts,
  actor: Allowed<"view">,
  agent: AgentName | undefined,
): Promise<readonly AgentName[]> {
  const recorded = await parts.store.agents(actor.org);
  if (agent !== undefined && !(recorded.includes(agent) && isInReach(actor, { org: actor.org, name: agent })))
    agentNamed(parts, actor, agent);
  const one = agent ?? actor.agent;
  return one === undefined ? recorded : [one];
}

/** The context of one caller's work on one agent: the caller, the declared agent, and whose data it is. */
export interface AgentAccess {
  readonly parts: Parts;
  readonly actor: Allowed<"view">;
  readonly agent: Agent;
  readonly owner: AgentOwner;
}

/** Whoever has access to all of the agent's data, and in their own organization; also to that of an agent no longer declared. @throws StrataError `not_allowed`, `agent_not_found` */
export function accessTo(parts: Parts, actor: Allowed<"view">, name: AgentName): AgentAccess {
  authorize(actor, { org: actor.org, agent: name, contact: null });
  return { parts, actor, agent: recordedAgent(parts, actor, name), owner: { org: actor.org, agent: name } };
}

/** The same for the agent that was named, else for each in the actor's reach. @throws StrataError as `accessTo` */
export function accessToEach(
  parts: Parts,
  actor: Allowed<"view">,
  name: AgentName | undefined,
): readonly AgentAccess[] {
  const one = name ?? actor.agent;
  if (one !== undefined) return [accessTo(parts, actor, one)];
  return parts.agents.all.filter(({ org }) => org === actor.org).map((agent) => accessTo(parts, actor, agent.name));
}

/** Records an act and its target, without anyone's text or name. */
export function recordAct({ parts, owner, actor }: AgentAccess, what: string, about: string): Promise<void> {
  return parts.store.noteAct(owner, { actor, what, about, at: parts.clock.recorded() });
}

type Kind = TurnEvent["type"];

/** Deny by default: the events for a caller who may not read the record. Reasoning is excluded because it may quote the prompt. */
const TO_CONTACTS: readonly Kind[] = ["turn-start", "text-delta", "unanswered", "done", "waiting", "failed"];

/** The events that name layers or show the ledger: for callers who may have a request explained. */
const EXPLAINS: readonly Kind[] = ["note", "compiled", "refused", "reasoning-delta", "withheld"];

const explains = (event: TurnEvent): boolean =>
  EXPLAINS.includes(event.type) || (event.type === "report" && event.isInternal === true);

/** Errors that a contact may read word for word: they say nothing about the inside. */
const OPEN: readonly ErrorCode[] = ["thread_busy", "thread_not_found", "not_allowed", "turn_cancelled"];

/** The events of a turn that the actor may see: an operator all, a member all but the ledger, and a contact only what is said to it. */
export function eventsFor(actor: Allowed<"view">, events: AsyncGenerator<TurnEvent>): AsyncGenerator<TurnEvent> {
  return may(actor, "explain") ? events : cutFor(actor, events);
}

async function* cutFor(actor: Allowed<"view">, turn: AsyncIterable<TurnEvent>): AsyncGenerator<TurnEvent> {
  const events = onceSent(turn);
  if (may(actor, "read")) {
    for await (const event of events) if (!explains(event)) yield event;
    return;
  }
  try {
    for await (const event of events) if (TO_CONTACTS.includes(event.type)) yield withoutInside(event);
  } catch (thrown) {
    throw withoutReason(asStrataError(thrown));
  }
}

/** Where words may be changed or withheld before they go out, they come in one piece, once they are committed. */
async function* onceSent(events: AsyncIterable<TurnEvent>): AsyncGenerator<TurnEvent> {
  let isHeld = false;
  for await (const event of events) {
    if (event.type === "turn-start") isHeld = event.held === true;
    if (isHeld && event.type === "text-delta") continue;
    if (isHeld && (event.type === "done" || event.type === "waiting") && event.text !== "")
      yield { type: "text-delta", text: event.text };
    yield event;
  }
}

/** The same of a turn that ended before. @throws StrataError the one that ended its run */
export function endedFor(actor: Allowed<"view">, ended: Ended | StrataError): Ended {
  const isReader = may(actor, "read");
  if (ended instanceof StrataError) throw isReader ? ended : withoutReason(ended, true);
  return isReader ? ended : { event: ended.event, end: withoutInner(ended.end) };
}

/** An end as a contact may read it: without what it cost, and without the tools. */
function withoutInner({ totals: _, ...end }: Ended["end"]): Ended["end"] {
  if (end.type === "done") {
    const { withheld: __, ...done } = end;
    return done;
  }
  return { ...end, calls: end.calls.map(({ id, waitsFor }) => ({ id, waitsFor })) };
}

function withoutInside(event: TurnEvent): TurnEvent {
  switch (event.type) {
    case "turn-start": {
      const { model: _, ...rest } = event;
      return rest;
    }
    case "done":
    case "waiting":
      return withoutInner(event);
    case "failed":
      return { type: "failed", turn: event.turn, error: withoutReason(event.error, event.isOver) };
    default:
      return event;
  }
}

/** The code says enough to try again or not; the sentence is for whoever runs the agent, who finds it in the record. */
function withoutReason(error: StrataError, isOver = false): StrataError {
  if (OPEN.includes(error.code)) return error;
  const { until, retryAfter } = error.details;
  return new StrataError(
    error.traits,
    `the message could not be answered${isOver ? "" : "; it keeps waiting"}, and the operator can see why`,
    { ...(until !== undefined && { until }), ...(retryAfter !== undefined && { retryAfter }) },
  );
}
