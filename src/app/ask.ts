import {
  type Allowed,
  agentName,
  type Clock,
  contactId,
  StrataError,
  type TurnEvent,
  untrusted,
} from "../protocol/index.ts";
import type { Runtime } from "../turn/index.ts";

/** One message to an agent, in plain texts. */
export interface Question {
  readonly agent: string;
  /** Who asks. Memories and conversations belong to this contact only. */
  readonly contact: string;
  readonly text: string;
  /** Which of their conversations continues, or begins; left out, the one they have. */
  readonly conversation?: string;
  /** Stops the turn. */
  readonly signal?: AbortSignal;
}

/** A turn that begins when it is read, as events or only as the reply. It can be read once. */
export interface Answer extends AsyncIterable<TurnEvent> {
  /**
   * The whole reply, once it is committed.
   * @throws StrataError what the turn failed of; `thread_busy` where another program answers the message
   */
  reply(): Promise<string>;
}

/** The default channel of programs. */
const CHANNEL = "program";

interface Asking {
  readonly runtime: Runtime;
  readonly actor: Allowed<"post">;
  readonly clock: Clock;
}

/** Asks agents for a program. What is asked in one conversation at the same time is answered one after the other. */
export function openAsk(asking: Asking): (question: Question) => Answer {
  const last = new Map<string, Promise<void>>();
  return (question) => {
    const turn = (): AsyncGenerator<TurnEvent> => inTurn(asking, question, last);
    return { [Symbol.asyncIterator]: turn, reply: () => replyOf(turn(), question) };
  };
}

async function* inTurn(
  asking: Asking,
  question: Question,
  last: Map<string, Promise<void>>,
): AsyncGenerator<TurnEvent> {
  const { agent, contact, conversation } = question;
  const key = JSON.stringify([agent, contact, conversation]);
  const before = last.get(key);
  const ended = Promise.withResolvers<void>();
  last.set(key, ended.promise);
  try {
    await before;
    yield* asked(asking, question);
  } finally {
    ended.resolve();
    if (last.get(key) === ended.promise) last.delete(key);
  }
}

async function* asked({ runtime, actor, clock }: Asking, question: Question): AsyncGenerator<TurnEvent> {
  const { text, conversation: key = "main", signal } = question;
  const agent = agentName(question.agent);
  const contact = await runtime.contact(actor, agent, contactId(question.contact));
  const content = [{ type: "text", text: untrusted(text) }] as const;
  const said = [{ kind: "message", trust: "contact", channel: CHANNEL, content, at: clock.recorded() }] as const;
  const { thread } = await runtime.openAndPost(actor, { agent, contact, channel: CHANNEL, key }, said);
  yield* runtime.run(actor, thread, signal === undefined ? {} : { signal });
}

async function replyOf(turn: AsyncIterable<TurnEvent>, { agent }: Question): Promise<string> {
  let reply: string | undefined;
  // Read to its end, so that the reply counts as delivered.
  for await (const event of turn) {
    if (event.type === "failed") throw event.error;
    if (event.type === "done") reply = event.text;
  }
  if (reply !== undefined) return reply;
  throw new StrataError(
    "thread_busy",
    `another program is answering this message to ${agent}; try again when it is done`,
  );
}
