import {
  type Agent,
  type AgentName,
  type Allowed,
  ANSWER_KIND,
  allow,
  asStrataError,
  authorize,
  type CallId,
  type ContactId,
  type ContactScope,
  didYouMean,
  type EventPart,
  isAllowed,
  type Mode,
  type OutsideKind,
  type SignedEvent,
  type StoredEvent,
  StrataError,
  suggestion,
  type ThreadId,
  type ToolName,
  type Trust,
  trustOf,
  type Untrusted,
} from "../../protocol/index.ts";
import type { Posted, Thread } from "../../store/index.ts";
import {
  agentAt,
  agentNamed,
  awaitedCalls,
  type CallParameters,
  type Conversation,
  endedFor,
  featureApi,
  type Parts,
  type Run,
  threadOf,
  upToDate,
} from "../../turn/index.ts";
import type { RunEvent } from "../operation.ts";
import { settingChanges } from "../settings/index.ts";
import {
  type Arriving,
  beginWith,
  type Done,
  type Following,
  followMessage,
  type Ports,
  type WaitingEnd,
} from "./follow.ts";

/** The destination of a message: an existing thread, or a conversation, which is opened if it does not exist yet. */
export type Recipient =
  | { readonly thread: ThreadId; readonly agent: AgentName }
  | (Pick<Conversation, "agent" | "channel" | "key"> & { readonly contact: ContactId });

/** The result of a call that waits for the program or person who talks with the agent. */
export interface CallAnswer {
  readonly call: CallId;
  readonly content: readonly EventPart[];
  readonly failed: boolean;
}

/** A message to an agent. */
export interface NewMessage {
  readonly to: Recipient;
  /** Empty if only calls are answered. */
  readonly content: readonly EventPart[];
  /** Results of calls that the conversation waits for, stored together with the message. Sent twice, one is stored once. */
  readonly answers?: readonly CallAnswer[];
  readonly kind: OutsideKind;
  /** By default: for an instruction or a scheduled event the sender's own, otherwise `contact`. */
  readonly trust?: Trust | undefined;
  readonly name?: Untrusted | undefined;
  readonly number?: Untrusted | undefined;
  readonly line?: string | undefined;
  readonly externalId?: string | undefined;
  readonly signature?: string | undefined;
  /** Set of the conversation in the same transaction; null takes one back to its default. */
  readonly settings?: Readonly<Record<string, string | null>>;
  readonly mode?: Mode | undefined;
  readonly parameters?: CallParameters | undefined;
  /** `queue`: another process answers; `turn` and `run`: followed to the end. A run ends when it waits for a program or a person. */
  readonly follow: "queue" | "turn" | "run";
}

/** The result of sending a message. */
export type SentMessage =
  | { readonly event: StoredEvent; readonly state: "queued" | "running" }
  | { readonly event: StoredEvent; readonly state: "waiting"; readonly waiting?: WaitingEnd }
  | { readonly event: StoredEvent; readonly state: "done"; readonly done: Done };

export interface MessageApi {
  /**
   * Stores a message, and follows it to the turn that answers it: a new one or, if another turn already took the message, that one's end
   * from the record. So a message may be sent again until its sender gets the answer. The events omit what the actor may not see.
   * @throws StrataError before the first event: if the message is invalid; after `failed`: the turn's error
   */
  sendMessage(actor: Allowed<"post">, message: NewMessage, signal?: AbortSignal): AsyncGenerator<RunEvent, SentMessage>;
}

/** The functions of messages, as `runtime.use` gives them. */
export const MESSAGE_API = featureApi<MessageApi>("messages");

export function messageApi(parts: Parts, runtime: Ports["runtime"], run: Run): MessageApi {
  const ports = { parts, runtime, run };
  return {
    async *sendMessage(actor, message, signal = new AbortController().signal) {
      const { follow, mode, parameters } = message;
      const coming = await checked(ports, actor, message);
      const how = { mode, parameters, signal, isRun: follow === "run" };
      const begun = coming.arriving && (await beginWith(ports, actor, { ...coming.arriving, ...how }));
      try {
        const { event, thread } = await coming.stored();
        const isNext = event.status === "pending" && follow !== "queue" && begun === undefined;
        const place = isNext ? runtime.place(thread.scope) : 0;
        yield { type: "received", event, ...(place > 0 && { place }) };
        // For a later answer, the sender sends the message again, or follows the run that it waits for.
        if (event.status === "held" && follow !== "run")
          return { event, state: "waiting", ...(await waitingNow(ports, actor, event, thread)) };
        // Nobody waits for the answer any more: the agent reads it with the next message.
        const isQueued = event.status === "along" || (follow === "queue" && event.status === "pending");
        if (isQueued) return { event, state: "queued" };
        yield* ofOldVersion(ports, actor, thread);
        return yield* followed(ports, actor, { event, thread, ...how, begun });
      } finally {
        await begun?.turn.return(undefined);
      }
    },
  };
}

/** The message's end, as its sender gets it. */
async function* followed(
  ports: Ports,
  actor: Allowed<"post">,
  following: Following,
): AsyncGenerator<RunEvent, SentMessage> {
  const { event, thread } = following;
  const end = yield* followMessage(ports, actor, following);
  if (end === undefined) return { event, state: "waiting", ...(await waitingNow(ports, actor, event, thread)) };
  const taken = { ...event, status: "consumed", turn: end.turn } as const;
  return end.type === "done"
    ? { event: taken, state: "done", done: end }
    : { event: taken, state: "waiting", waiting: end };
}

/** Says where the conversation continues if the agent's declaration has changed, such as a corrected handler. */
async function* ofOldVersion({ parts, runtime }: Ports, actor: Allowed<"post">, of: Thread): AsyncGenerator<RunEvent> {
  const { id, scope } = of;
  if (!isAllowed(actor, "explain") || !isAllowed(actor, "read")) return;
  const declared = parts.agents.all.find(({ org, name }) => org === scope.org && name === scope.agent);
  const changes = declared?.version === of.version ? [] : await runtime.changes(actor, id);
  if (changes.length === 0) return;
  const sentence = `this conversation goes on with its agent as it was when it began, and since then ${changes.join("; ")}: another \`key\` begins one with what is declared now, \`strata thread migrate ${id}\` moves this one`;
  const data = { thread: id, changes: [...changes] };
  yield { type: "report", what: "version", message: sentence, data, isInternal: true };
}

/** The end of the turn whose calls the thread still waits for. */
async function waitingNow(
  { parts }: Ports,
  actor: Allowed<"post">,
  event: StoredEvent,
  { scope, id }: Thread,
): Promise<{ readonly waiting?: WaitingEnd }> {
  const open = (await parts.store.openCalls(scope, id)).filter(({ state }) => state === "open");
  const [first] = open;
  const left = first && (await parts.store.turn(scope, first.turn));
  if (left?.end?.status !== "waiting") return {};
  const calls = awaitedCalls(open);
  const { id: turn, totals, end: was } = left;
  const waiting = { type: "waiting", turn, text: was.reply ?? "", calls, ...(totals && { totals }) } as const;
  const { end } = endedFor(actor, { event, end: waiting });
  return end.type === "waiting" ? { waiting: end } : {};
}

/** With `follow: queue`, another process runs the turn. */
const inQueue = (given: string): string =>
  `\`${given}\` is about the turn that is run now, and with \`follow: queue\` none is: leave one of them out, or follow the message`;

function checkTools({ name, tools }: Agent, wanted: readonly ToolName[]): void {
  const unknown = wanted.find((one) => !tools.includes(one));
  if (unknown === undefined) return;
  const sentence = `${name} has no tool ${JSON.stringify(unknown)}: it has ${tools.join(", ") || "none"}${didYouMean(unknown, tools)}`;
  throw new StrataError("invalid_input", sentence, { tool: unknown });
}

function checkLine({ name, business }: Agent, line: string): void {
  const lines = Object.keys(business?.lines ?? {});
  if (lines.includes(line)) return;
  const known = lines.length === 0 ? "; `business` of strata.yaml declares none" : suggestion(line, lines);
  const sentence = `${name} has no line ${JSON.stringify(line)}${known || `; its lines are ${lines.join(", ")}`}`;
  throw new StrataError("invalid_input", sentence, { line });
}

/** A stored message and its thread. */
interface OnThread {
  readonly event: StoredEvent;
  readonly thread: Thread;
}

/** A message that was checked and is not stored yet. */
interface CheckedMessage {
  /** Stores it with its thread and its settings, all or nothing, unless a turn has begun with it. */
  readonly stored: () => Promise<OnThread>;
  /** Left out where no turn can begin with it. */
  readonly arriving?: Arriving;
}

async function checked(
  { parts, runtime }: Ports,
  actor: Allowed<"post">,
  message: NewMessage,
): Promise<CheckedMessage> {
  const { follow, settings = {} } = message;
  const to = await resolveDestination({ parts, runtime }, actor, message);
  const now = (["mode", "parameters"] as const).find((field) => message[field] !== undefined);
  if (now !== undefined && follow === "queue") throw new StrataError("invalid_input", inQueue(now), { field: now });
  if (follow !== "queue") await runtime.checkRoom(allow(actor, "run"), to.scope);
  // Contacts must not choose how much of the prompt is sent, or how the model answers.
  if (now !== undefined) allow(actor, "operate");
  if (message.line !== undefined) checkLine(await agentToRun(parts, actor, to), message.line);
  if (message.parameters?.tools !== undefined) checkTools(await agentToRun(parts, actor, to), message.parameters.tools);
  const also =
    Object.keys(settings).length === 0
      ? undefined
      : settingChanges(parts, actor, await agentToRun(parts, actor, to), settings);
  const how = { handed: follow === "queue", also };
  // An assistant's conversation is a member's own: only that member writes there, under their own name.
  const isMembers = parts.agents.all.some(({ name, assistant }) => name === to.scope.agent && assistant !== undefined);
  const said = { ...message, trust: message.trust ?? (isMembers ? trustOf(actor) : undefined) };
  const events = eventsOf(actor, said, { channel: to.channel, at: parts.clock.recorded() });
  const posted = async ({ thread, events }: Posted): Promise<OnThread> => {
    // The message itself is the last, behind the answers.
    const event = events.at(-1);
    // A known message may have come in on another thread of the contact: it is answered there.
    if (event?.thread === thread.id) return { event, thread };
    if (event !== undefined) return { event, thread: await threadOf(parts, actor, event.thread) };
    throw new StrataError("store_failed", "the store gave back nothing for the message; send it again");
  };
  const named = { ...to.scope, channel: to.channel, key: to.key };
  const alone = async (): Promise<OnThread> =>
    posted(
      to.thread === undefined
        ? await runtime.openAndPost(actor, named, events, how)
        : { thread: to.thread, events: await runtime.post(actor, to.thread, events, how) },
    );
  const thread = to.thread ?? parts.store.knownThread(to.scope, named);
  // What is set or answered changes how the turn begins.
  if (thread === undefined || follow === "queue" || also !== undefined || message.answers !== undefined)
    return { stored: alone };
  const arrival = await runtime.arrival(actor, thread, events);
  return {
    stored: async () => {
      try {
        return await posted({ thread, events: await arrival.stored() });
      } catch (thrown) {
        const isGone = to.thread === undefined && asStrataError(thrown).code === "thread_not_found";
        if (!isGone) throw thrown;
        return alone();
      }
    },
    arriving: { thread, arrival },
  };
}

/** The answers first, then the message. */
function eventsOf(
  actor: Allowed<"post">,
  message: NewMessage,
  at: Pick<SignedEvent, "channel" | "at">,
): readonly SignedEvent[] {
  const { answers = [], content, trust = "contact", name } = message;
  const answering = answers.map(
    ({ call, content: said, failed }): SignedEvent => ({
      kind: ANSWER_KIND,
      trust,
      content: said,
      answers: call,
      // A call has one answer from outside, however often it is sent.
      externalId: `answer ${call}`,
      ...at,
      ...(failed && { failed }),
      ...(name !== undefined && { name }),
    }),
  );
  return content.length === 0 && answers.length > 0 ? answering : [...answering, eventOf(actor, message, at)];
}

function eventOf(
  actor: Allowed<"post">,
  { kind, trust, content, name, number, line, externalId, signature }: NewMessage,
  { channel, at }: Pick<SignedEvent, "channel" | "at">,
): SignedEvent {
  const isOwn = kind === "instruction" || kind === "scheduled";
  return {
    kind,
    trust: trust ?? (isOwn ? trustOf(actor) : "contact"),
    channel,
    content,
    at,
    ...(name !== undefined && { name }),
    ...(number !== undefined && { number }),
    ...(line !== undefined && { line }),
    ...(externalId !== undefined && { externalId }),
    ...(signature !== undefined && { signature }),
  };
}

/** The destination of a message: the named thread, or the conversation with the contact as the agent knows them. */
interface Destination extends Pick<Conversation, "channel" | "key"> {
  readonly scope: ContactScope;
  readonly thread?: Thread;
}

async function resolveDestination(
  { parts, runtime }: Omit<Ports, "run">,
  actor: Allowed<"post">,
  { to, answers: [answer] = [] }: NewMessage,
): Promise<Destination> {
  if ("thread" in to) {
    const thread = await threadOf(parts, actor, to.thread);
    const { scope, channel, key } = thread;
    if (scope.agent === to.agent) return { thread, scope, channel, key };
    const message = `${thread.id} is a thread of ${scope.agent}, not of ${to.agent}; name that agent`;
    throw new StrataError("invalid_input", message, { thread: thread.id, agent: to.agent });
  }
  const { agent, channel, key } = to;
  authorize(actor, { org: actor.org, agent, contact: to.contact });
  const contact = await runtime.contact(actor, agent, to.contact);
  const place = { scope: { org: actor.org, agent, contact }, channel, key };
  if (answer === undefined) return place;
  const thread = await knownThread(parts, place);
  if (thread !== undefined) return { ...place, thread };
  const sentence = `${contact} has no conversation ${JSON.stringify(key)} on ${channel} in which ${answer.call} could wait; name the \`thread\` of the call`;
  throw new StrataError("call_not_found", sentence, { call: answer.call });
}

const knownThread = async (parts: Parts, { scope, channel, key }: Destination): Promise<Thread | undefined> =>
  (await parts.store.threads(scope, 1, { channel, key }))[0];

/** The version of the agent that the next turn runs there, which declares the settings. */
async function agentToRun(parts: Parts, actor: Allowed<"post">, place: Destination): Promise<Agent> {
  const known = place.thread ?? (await knownThread(parts, place));
  return known === undefined
    ? agentNamed(parts, actor, place.scope.agent)
    : agentAt(parts, await upToDate(parts, known));
}
