import { MESSAGE_API } from "../features/messages/index.ts";
import { PEER_API, payloadContent } from "../features/peers/index.ts";
import {
  type AgentName,
  type Allowed,
  agentName,
  contactId,
  type JsonObject,
  StrataError,
  type TurnEvent,
  untrusted,
} from "../protocol/index.ts";
import type { Runtime } from "../turn/index.ts";
import { checkGiven, type Wanted } from "./options.ts";

/** One message: words for an agent, or a payload, whose type decides who takes it if no agent is named. */
export type Question = Asker & (Words | PayloadFor);

interface Words {
  readonly agent: string;
  readonly text: string;
}

interface PayloadFor {
  readonly agent?: string;
  readonly payloadType: string;
  readonly payload: JsonObject;
}

interface Asker {
  /** The sender. Memories and conversations belong to this contact only. */
  readonly contact: string;
  /** Which of their conversations continues, or begins; by default the one they have. */
  readonly conversation?: string;
  /** Stops the turn. */
  readonly signal?: AbortSignal;
}

/** A turn that begins when it is read, as events or only as the reply. It can be read once. */
export interface Answer extends AsyncIterable<TurnEvent> {
  /**
   * The whole reply, once it is committed.
   * @throws StrataError the turn's error; `thread_busy` if another program holds the conversation for minutes
   */
  reply(): Promise<string>;
}

/** The default channel of programs. */
const CHANNEL = "program";

interface Caller {
  readonly runtime: Runtime;
  readonly actor: Allowed<"post">;
}

/** Asks agents for a program. Questions asked in one conversation at the same time are answered one after the other. */
export function openAsk(asking: Caller): (question: Question) => Answer {
  const last = new Map<string, Promise<void>>();
  return (question) => {
    const turn = (): AsyncGenerator<TurnEvent> => inTurn(asking, question, last);
    return { [Symbol.asyncIterator]: turn, reply: () => replyOf(turn()) };
  };
}

async function* inTurn(
  asking: Caller,
  question: Question,
  last: Map<string, Promise<void>>,
): AsyncGenerator<TurnEvent> {
  const agent = resolveAgent(asking, question);
  const { contact, conversation } = question;
  const key = JSON.stringify([agent, contact, conversation]);
  const before = last.get(key);
  const ended = Promise.withResolvers<void>();
  last.set(key, ended.promise);
  try {
    await before;
    yield* askAgent(asking, question, agent);
  } finally {
    ended.resolve();
    if (last.get(key) === ended.promise) last.delete(key);
  }
}

const WANTED: Readonly<Record<keyof (Asker & Words & PayloadFor), Wanted>> = {
  agent: { form: "text", next: "the agent's name" },
  contact: { form: "text", next: "who asks: memories and conversations belong to this contact", required: true },
  text: { form: "text", next: "what is asked" },
  payloadType: { form: "text", next: "the type of the `payload`" },
  payload: { form: "object", next: "JSON of the type `payloadType`" },
  conversation: { form: "text", next: "the name of one of the contact's conversations" },
  signal: { form: "object", next: "an AbortSignal" },
};

/** @throws StrataError `invalid_input`; `no_listener` if a payload names no agent */
function resolveAgent({ runtime, actor }: Caller, question: Question): AgentName {
  checkGiven("ask", { ...question }, WANTED);
  const { agent } = question;
  const isPayload = "payload" in question && "payloadType" in question;
  if (isPayload === "text" in question || (agent === undefined && !isPayload)) {
    const sentence = "ask wants `agent` and `text`, or `payloadType` and `payload`, with which `agent` may be left out";
    throw new StrataError("invalid_input", sentence);
  }
  if (agent !== undefined) return agentName(agent);
  return runtime.use(PEER_API).listenerFor(actor, "payloadType" in question ? question.payloadType : "");
}

async function* askAgent({ runtime, actor }: Caller, question: Question, agent: AgentName): AsyncGenerator<TurnEvent> {
  const { contact, conversation: key = "main", signal } = question;
  const to = { agent, contact: contactId(contact), channel: CHANNEL, key };
  const content =
    "text" in question
      ? ([{ type: "text", text: untrusted(question.text) }] as const)
      : payloadContent(question.payloadType, question.payload);
  const message = { to, content, kind: "message", trust: "contact", follow: "run" } as const;
  let hasFailed = false;
  try {
    for await (const event of runtime.use(MESSAGE_API).sendMessage(actor, message, signal)) {
      if (event.type === "received" || event.type === "busy") continue;
      hasFailed = event.type === "failed";
      yield event;
    }
  } catch (thrown) {
    // A reader of the events has already seen it.
    if (!hasFailed) throw thrown;
  }
}

/** @throws StrataError the turn's error */
async function replyOf(turn: AsyncIterable<TurnEvent>): Promise<string> {
  let reply: string | undefined;
  // Read to its end, so that the reply counts as delivered.
  for await (const event of turn) {
    if (event.type === "failed") throw event.error;
    if (event.type === "done") reply = event.text;
  }
  if (reply !== undefined) return reply;
  const sentence =
    "the agent waits for an answer from outside before it goes on, or another program answers this message";
  throw new StrataError("thread_busy", `${sentence}; send it again in the same conversation to get the reply`);
}
