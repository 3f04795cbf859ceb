import { MESSAGE_API } from "../features/messages/index.ts";
import { type Allowed, agentName, contactId, StrataError, type TurnEvent, untrusted } from "../protocol/index.ts";
import type { Runtime } from "../turn/index.ts";
import { checkGiven, type Wanted } from "./options.ts";

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
   * @throws StrataError what the turn failed of; `thread_busy` where another program holds the conversation for minutes
   */
  reply(): Promise<string>;
}

/** The default channel of programs. */
const CHANNEL = "program";

interface Asking {
  readonly runtime: Runtime;
  readonly actor: Allowed<"post">;
}

/** Asks agents for a program. What is asked in one conversation at the same time is answered one after the other. */
export function openAsk(asking: Asking): (question: Question) => Answer {
  const last = new Map<string, Promise<void>>();
  return (question) => {
    const turn = (): AsyncGenerator<TurnEvent> => inTurn(asking, question, last);
    return { [Symbol.asyncIterator]: turn, reply: () => replyOf(turn()) };
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

const WANTED: Readonly<Record<keyof Question, Wanted>> = {
  agent: { form: "text", next: "the agent's name", required: true },
  contact: { form: "text", next: "who asks: memories and conversations belong to this contact", required: true },
  text: { form: "text", next: "what is asked", required: true },
  conversation: { form: "text", next: "the name of one of the contact's conversations" },
  signal: { form: "object", next: "an AbortSignal" },
};

async function* asked({ runtime, actor }: Asking, question: Question): AsyncGenerator<TurnEvent> {
  checkGiven("ask", { ...question }, WANTED);
  const { agent, contact, text, conversation: key = "main", signal } = question;
  const to = { agent: agentName(agent), contact: contactId(contact), channel: CHANNEL, key };
  const content = [{ type: "text", text: untrusted(text) }] as const;
  const message = { to, content, kind: "message", trust: "contact", follow: "run" } as const;
  let hasFailed = false;
  try {
    for await (const event of runtime.use(MESSAGE_API).sendMessage(actor, message, signal)) {
      if (event.type === "received" || event.type === "busy") continue;
      hasFailed = event.type === "failed";
      yield event;
    }
  } catch (thrown) {
    // Whoever reads the events has heard of it.
    if (!hasFailed) throw thrown;
  }
}

/** @throws StrataError what the turn failed of */
async function replyOf(turn: AsyncIterable<TurnEvent>): Promise<string> {
  let reply: string | undefined;
  // Read to its end, so that the reply counts as delivered.
  for await (const event of turn) {
    if (event.type === "failed") throw event.error;
    if (event.type === "done") reply = event.text;
  }
  if (reply !== undefined) return reply;
  const says = "the agent waits for an answer from outside before it goes on, or another program answers this message";
  throw new StrataError("thread_busy", `${says}; send it again in the same conversation to get the reply`);
}
