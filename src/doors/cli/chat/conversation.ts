import type { App, Thread } from "../../../app.ts";
import type { Recipient } from "../../../features/messages/index.ts";
import { MESSAGE_API } from "../../../features/messages/index.ts";
import { PEER_API } from "../../../features/peers/index.ts";
import {
  type Agent,
  asStrataError,
  type ContactId,
  contactId,
  type Mode,
  type StrataError,
  type TurnId,
  untrusted,
} from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { shortVersion } from "../shell/session.ts";
import type { Teller } from "../shell/teller.ts";

/** The agent and the contact of a conversation. */
export interface Talkers {
  readonly app: App;
  readonly agent: Agent;
  readonly contact: ContactId;
  /** How much of the prompt is sent; by default the agent's own mode. */
  readonly mode?: Mode | undefined;
}

/** The person at this machine: their name, and their id if senders are addresses. */
const ME = { named: "me", address: `0x${"1".padStart(40, "0")}` } as const;

/**
 * The contact who writes to the agent: the named one, otherwise the person at this machine.
 * @throws StrataError `invalid_id` if the name is not an address but senders are addresses
 */
export function senderOf({ runtime, operator }: App, agent: Agent, named?: string): Promise<ContactId> {
  return runtime.contact(operator, agent.name, contactNamed(agent, named));
}

/** The named contact, or else the person at this machine, before the runtime looks up the contact's id. */
export const contactNamed = ({ senders }: Agent, named?: string): ContactId =>
  contactId(named ?? (senders === "ethereum" ? ME.address : ME.named));

/** A conversation that continues, or that begins with the first message. */
export interface Talk extends Talkers {
  /** Undefined before the first message of a new conversation, so that a chat without messages stores nothing. */
  readonly thread: () => Thread | undefined;
  /** The thread, opened if there is none yet. */
  readonly open: () => Promise<Thread>;
  /** The destination of the next message. */
  readonly to: () => Promise<Recipient>;
  /** The thread that a message has opened. */
  readonly continueOn: (thread: Thread) => void;
  /** Leaves the conversation unchanged: the next message begins another. */
  readonly beginAnew: () => void;
  /** The thread was named: it is not left unless somebody says so. */
  readonly isNamed: () => boolean;
}

/** The chat's channel: its newest thread with a contact, not counting forks, is the one that continues. */
const CHANNEL = "chat";

/** The thread of a chat: this one, a new one, or the newest that is not a fork. */
export type ConversationChoice = { readonly thread: Thread } | { readonly anew: boolean };

/** The talk that a chat continues with. */
export async function talkWith(talkers: Talkers, wanted: ConversationChoice): Promise<Talk> {
  const { runtime, operator } = talkers.app;
  let anew = "anew" in wanted && wanted.anew;
  let isNamed = "thread" in wanted;
  let thread = "thread" in wanted ? wanted.thread : anew ? undefined : await newestChat(talkers);
  const open = async (): Promise<Thread> => {
    thread ??= await runtime.open(operator, await chatConversation(talkers, anew));
    return thread;
  };
  const to = async (): Promise<Recipient> =>
    thread === undefined ? chatConversation(talkers, anew) : { thread: thread.id, agent: talkers.agent.name };
  const continueOn = (opened: Thread): void => {
    thread = opened;
  };
  const beginAnew = (): void => {
    thread = undefined;
    anew = true;
    isNamed = false;
  };
  return { ...talkers, thread: () => thread, open, to, continueOn, beginAnew, isNamed: () => isNamed };
}

/** The conversation that a chat with this contact continues; `again` begins a new one even if there is one. */
export async function chatConversation(talkers: Talkers, anew = false) {
  const named = { agent: talkers.agent.name, contact: talkers.contact, channel: CHANNEL };
  const newest = await newestChat(talkers);
  if (newest !== undefined && !anew) return { ...named, key: newest.key };
  return {
    ...named,
    key: newest === undefined ? CHANNEL : `${CHANNEL} ${new Date(talkers.app.clock.real()).toISOString()}`,
  };
}

/** The conversation that a chat with this contact continues. */
export async function newestChat({ app, agent, contact }: Talkers): Promise<Thread | undefined> {
  const threads = await app.runtime.threads(app.operator, { org: agent.org, agent: agent.name, contact }, 1_000);
  return threads.find(({ channel, forkedFrom }) => channel === CHANNEL && forkedFrom === undefined);
}

/** A conversation that an agent was declared differently for, and what begins another. */
interface Begun {
  readonly thread: Thread;
  readonly anew: string;
}

/** What the next turn does not know yet, if its agent's declaration has changed since the conversation's version. */
export async function versionLines(
  { runtime, operator }: App,
  { name, version }: Agent,
  { thread, anew }: Begun,
): Promise<string[]> {
  if (thread.version === version) return [];
  const next = await runtime.nextRun(operator, thread.id);
  const [old, now] = [thread.version, version].map(shortVersion);
  if (next.version === version)
    return [`${name} has changed since the last turn: the next turn uses version ${now} instead of ${old}.`];
  const changes = await runtime.changes(operator, thread.id);
  if (changes.length === 0) return [];
  return [
    `${name} has changed since this conversation began, which continues with the old version: ${changes.join("; ")}.`,
    `${anew} begins a conversation with the new version; \`strata thread migrate ${thread.id}\` moves this one.`,
  ];
}

/** How the turn of one message is printed, and how it can be cancelled. */
export interface Saying {
  readonly tell: Teller;
  readonly signal: AbortSignal;
  readonly onFailure: (error: StrataError) => void;
  /** Reports messages that a failed turn left waiting, and what can be done with them. */
  readonly onWaiting: (messages: number, thread: Thread) => void;
}

/**
 * The addressee of a message: `@critic Is it good?` goes to that agent, in the conversation that the same person has with it. A name
 * without an agent is an ordinary word.
 */
async function addressed(talk: Talk, text: string): Promise<{ readonly to: Talk; readonly words: string }> {
  const { app, agent, contact } = talk;
  const [, name, words = ""] = /^@([a-z0-9][\w.-]*)\s+(\S[\s\S]*)$/.exec(text) ?? [];
  const named = name === undefined ? undefined : app.runtime.agents(app.operator).find((one) => one.name === name);
  if (named === undefined) return { to: talk, words: text };
  if (named.name === agent.name) return { to: talk, words };
  const talkers = { app, agent: named, contact: await senderOf(app, named, contact), mode: talk.mode };
  return { to: await talkWith(talkers, { anew: false }), words };
}

/** Begins another conversation if this one was closed, and says so: also one that was closed while the chat was open. */
export async function leaveClosed({ note }: Pick<Context, "note">, talk: Talk): Promise<void> {
  const { runtime, operator } = talk.app;
  const thread = talk.thread();
  if (thread === undefined || talk.isNamed()) return;
  const [closed] = await runtime.use(PEER_API).closed(operator, [thread]);
  if (closed === undefined) return;
  talk.beginAnew();
  note(`${closed} was closed because nothing happened on it; your next message begins a new conversation.`);
}

/** Sends one message and follows it to its answer. Returns the turn, or undefined if none began here. Never throws. */
export async function speak(context: Context, own: Talk, text: string, saying: Saying): Promise<TurnId | undefined> {
  const { runtime, operator } = own.app;
  const { tell, signal, onFailure, onWaiting } = saying;
  const { to: talk, words } = await addressed(own, text);
  const content = [{ type: "text", text: untrusted(words) }] as const;
  await leaveClosed(context, talk);
  const how = { content, kind: "message", follow: "run", ...(talk.mode !== undefined && { mode: talk.mode }) } as const;
  let turn: TurnId | undefined;
  try {
    for await (const event of runtime.use(MESSAGE_API).sendMessage(operator, { to: await talk.to(), ...how }, signal)) {
      if (event.type === "received") talk.continueOn(await runtime.thread(operator, event.event.thread));
      else if (event.type === "busy")
        context.note("Another program is running a turn in this conversation; your message waits for its end.");
      else if (event.type === "done" && turn === undefined)
        context.note("Another program handled this message in its own turn; `strata explain` shows it.");
      else tell(event);
      if (event.type === "turn-start") turn = event.turn;
    }
  } catch (thrown) {
    // After Ctrl-C, the chat does not wait for another program's turn: the message keeps waiting.
    if (turn === undefined && signal.aborted) return undefined;
    onFailure(asStrataError(thrown));
    const thread = talk.thread();
    if (turn === undefined || thread === undefined) return turn;
    const { length } = await runtime.pending(operator, thread);
    if (length > 0) onWaiting(length, thread);
  }
  return turn;
}

/** Runs a turn for the messages without an answer. Returns the turn, or undefined if nothing waits. Never throws. */
export async function retry(context: Context, talk: Talk, saying: Saying): Promise<TurnId | undefined> {
  const { runtime, operator } = talk.app;
  const { tell, signal, onFailure, onWaiting } = saying;
  const thread = talk.thread();
  let turn: TurnId | undefined;
  try {
    if (thread !== undefined)
      for await (const event of runtime.follow(operator, thread, {
        signal,
        ...(talk.mode !== undefined && { mode: talk.mode }),
      })) {
        tell(event);
        if (event.type === "turn-start") turn = event.turn;
        if (event.type !== "failed") continue;
        onFailure(event.error);
        const { length } = await runtime.pending(operator, thread);
        if (length > 0) onWaiting(length, thread);
      }
    if (turn === undefined) context.note("No message waits without an answer.");
  } catch (thrown) {
    onFailure(asStrataError(thrown));
  }
  return turn;
}
