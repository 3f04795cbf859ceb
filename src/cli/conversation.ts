import type { App, Thread } from "../app.ts";
import {
  type Agent,
  asStrataError,
  type ContactId,
  type StrataError,
  type TurnId,
  untrusted,
} from "../protocol/index.ts";
import type { Context } from "./context.ts";
import type { Teller } from "./teller.ts";

/** Who talks to whom. */
export interface Talkers {
  readonly app: App;
  readonly agent: Agent;
  readonly contact: ContactId;
}

/** An opened conversation. */
export interface Talk extends Talkers {
  readonly thread: Thread;
}

/** The chat's channel: its newest thread with a contact is the one that goes on. */
export const CHANNEL = "chat";

/** Which conversation a chat with this contact goes on with; `anew` begins one even where there is one. */
export async function chatConversation({ app, agent, contact }: Talkers, anew = false) {
  const named = { agent: agent.name, contact, channel: CHANNEL };
  const threads = await app.runtime.threads(app.operator, { org: agent.org, agent: agent.name, contact }, 1_000);
  const newest = threads.find((thread) => thread.channel === CHANNEL);
  if (newest !== undefined && !anew) return { ...named, key: newest.key };
  return { ...named, key: newest === undefined ? CHANNEL : `${CHANNEL} ${new Date().toISOString()}` };
}

/** How one message is told, and how it can be stopped. */
export interface Saying {
  readonly tell: Teller;
  readonly signal: AbortSignal;
  readonly onFailure: (error: StrataError) => void;
}

/** Says one message and runs its turn to the end. Gives the turn; none where it could not begin. Never throws. */
export async function speak(context: Context, talk: Talk, text: string, saying: Saying): Promise<TurnId | undefined> {
  const { app, thread } = talk;
  try {
    await app.runtime.post(app.operator, thread, [messageOf(thread, text)]);
  } catch (thrown) {
    saying.onFailure(asStrataError(thrown));
    return undefined;
  }
  const turn = await runWaiting(talk, saying);
  if (turn === null) context.note("Another program took this message into its own turn; `strata explain` shows it.");
  return turn ?? undefined;
}

/** Runs a turn over the messages that wait without an answer. Gives the turn; none where nothing waits. Never throws. */
export async function retry(context: Context, talk: Talk, saying: Saying): Promise<TurnId | undefined> {
  const turn = await runWaiting(talk, saying);
  if (turn === null) context.note("No message waits without an answer.");
  return turn ?? undefined;
}

/** Gives the turn; null where nothing waited, nothing where it could not begin, which was told then. */
async function runWaiting(
  { app: { runtime, operator }, thread }: Talk,
  { tell, signal, onFailure }: Saying,
): Promise<TurnId | null | undefined> {
  let turn: TurnId | null = null;
  try {
    for await (const event of runtime.run(operator, thread, { signal })) {
      tell(event);
      if (event.type === "turn-start") turn = event.turn;
      if (event.type === "failed") onFailure(event.error);
    }
  } catch (thrown) {
    onFailure(asStrataError(thrown));
    return turn ?? undefined;
  }
  return turn;
}

const messageOf = ({ channel }: Thread, text: string) =>
  ({
    kind: "message",
    trust: "contact",
    channel,
    content: [{ type: "text", text: untrusted(text) }],
    at: Date.now(),
  }) as const;
