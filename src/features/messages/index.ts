/** Sending a message to an agent: one operation for every door, and the turn that answers it. */

import { z } from "zod";
import { SAMPLING } from "../../agents/index.ts";
import {
  type Actor,
  callId,
  type EventPart,
  MODES,
  OUTSIDE_KINDS,
  StrataError,
  TRUSTS,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, line, list, whole } from "../fields.ts";
import { RUN_STATES } from "../operation.ts";
import { runOperation } from "../run-operation.ts";
import { DONE, EVENT, WAITING } from "../shapes.ts";
import type { NewMessage, SentMessage } from "./api.ts";
import { MESSAGE_API, messageApi } from "./api.ts";

export { MESSAGE_API, type MessageApi, type NewMessage, type Recipient, type SentMessage } from "./api.ts";

const TEXT = z.string().regex(/\S/, "a text that says something").transform(untrusted);

/** Described as any value: the recursive form has no description in OpenAPI. */
const JSON_VALUE = z.unknown().pipe(z.json());

const PART = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: TEXT }),
  z.strictObject({ type: z.literal("payload"), payloadType: z.string(), payload: JSON_VALUE }),
  z.strictObject({ type: z.literal("image"), mediaType: z.string(), data: z.base64() }),
  z.strictObject({ type: z.literal("file"), mediaType: z.string(), data: z.base64(), name: z.string().optional() }),
]);

const ANSWER = z.strictObject({
  call: z.string().transform(callId),
  content: list(PART),
  failed: z.boolean().default(false),
});

const TOOL = z.strictObject({ name: z.string(), description: z.string(), input: JSON_VALUE });

const PARAMETERS = SAMPLING.safeExtend({
  maxTokens: whole(1, 1_000_000)
    .optional()
    .describe("tokens of the reply, with what the model reasons; at most what `budgets.reply` of the agent allows"),
});

/** The fields of a message to any agent. */
export const MESSAGE = z.strictObject({
  text: TEXT.optional().describe(
    "what is said; at most as many characters as the agent's `budgets.message` allows (default 100,000)",
  ),
  content: list(PART)
    .optional()
    .describe(
      "in place of `text`, the parts of the message: `text`, or `payload`, which is JSON of a named type. Parts of the types `image` and `file` are not supported yet",
    ),
  thread: FIELDS.thread
    .optional()
    .describe(
      "an existing thread, thr_…; in place of `contact`, `channel` and `key`, which open a conversation if there is none",
    ),
  contact: FIELDS.contact.optional().describe("who writes to the agent; left out, the contact that the key is for"),
  channel: FIELDS.channel
    .optional()
    .describe("where the conversation takes place; over HTTP, `http` if it is left out"),
  key: FIELDS.key
    .optional()
    .describe("which conversation of the contact on that channel; over HTTP, `main` if it is left out"),
  kind: z
    .enum(OUTSIDE_KINDS)
    .default("message")
    .describe("what happened; only operators, and members where the agent allows it, send instructions"),
  trust: z
    .enum(TRUSTS)
    .optional()
    .describe(
      "who speaks; never higher than the sender's own trust. Default: `contact`; for an instruction or a scheduled event the sender's own",
    ),
  name: line().transform(untrusted).optional().describe("the name that the sender uses; shown to the agent as a claim"),
  number: line()
    .transform(untrusted)
    .optional()
    .describe("where the sender wrote from, such as a telephone number; shown to the agent as a claim"),
  line: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe("the line that the message came to, one of `business.lines`: the reply leaves by it"),
  externalId: line()
    .optional()
    .describe(
      "the sender's own id for the message: sent twice, it is stored once, and the second gets the same answer",
    ),
  signature: z
    .string()
    .max(2_000)
    .optional()
    .describe(
      "for agents with `senders: ethereum`: the sender's personal signature (EIP-191), 0x and hexadecimal digits, of `Strata message to ORGANIZATION/AGENT`, a line `id: ` and the `externalId`, an empty line and the text",
    ),
  settings: z
    .record(z.string().min(1).max(64), z.string().max(20_000).nullable())
    .default({})
    .describe(
      "settings of the conversation that are set with the message, by name, such as the thinking level; null resets one to its default",
    ),
  mode: z
    .enum(MODES)
    .optional()
    .describe("how much of the prompt is sent in the turn that answers; default: the agent's own mode"),
  follow: z
    .enum(["queue", "turn", "run"])
    .default("run")
    .describe(
      "how far the message is followed. `queue`: it is stored, and the background work of a server answers it; `turn`: to the end of one turn; `run`: to the final answer",
    ),
  seconds: whole(1, 3_600)
    .optional()
    .describe(
      "after so many seconds the state is returned, and the run goes on; send the message again with the same `externalId` to get its answer",
    ),
  answers: list(ANSWER)
    .default([])
    .meta({ title: "call=text" })
    .describe(
      "results of calls that the conversation waits for, by the call's id, cal_…; a message beside them may be left out. The contact or an operator answers, each call once",
    ),
  tools: z
    .array(z.union([z.string().max(64), TOOL], "the name of a tool, or a map with its `name`"))
    .max(128)
    .readonly()
    .optional()
    .describe(
      "names of the agent's tools: only these may be called for this message. An object is a tool that the sender runs itself, which is not supported yet",
    ),
  parameters: PARAMETERS.optional().describe(
    "how the model is asked to answer this message, instead of the agent's own `parameters`; what its API refuses is left out",
  ),
});

const TAKES = MESSAGE.extend({ agent: FIELDS.agent });

/** The result. */
export const SENT = z.object({
  event: EVENT.describe("the message as it is stored"),
  state: z
    .enum(RUN_STATES)
    .describe(
      "`queued`: it waits for a turn of somebody else; `running`: `seconds` have passed, and its turn goes on; `waiting`: for something from outside; `done`",
    ),
  waiting: WAITING.optional().describe("what the turn waits for; only with the state `waiting`"),
  done: DONE.optional().describe("the end of the turn that answered; only with the state `done`"),
});

const sendMessage = runOperation({
  name: "message.send",
  does: "Send a message to an agent and get its answer, or leave it to the background work of a server.",
  may: "post",
  at: "POST /v1/agents/{agent}/messages",
  takes: TAKES,
  gives: SENT,
  command: {
    words: ["text"],
    stdin: "text",
    contact: "me",
    names: { externalId: "id" },
    usual: { channel: "chat", key: "chat" },
    pairs: { answers: (call, text) => ({ call, content: [{ type: "text", text }] }) },
    instead: { content: ["text"], thread: ["contact", "channel", "key"] },
    without: ["seconds"],
    alias: "ask",
    examples: [
      "message send 'What is my cat called?' --as ann",
      "ask 'Please deliver the bread.' --follow queue --id m-1",
      "ask --answer 'cal_01jd8k3v5x9m2q7r4t6w8y0zab=The bread is there.'",
      `message send --as ann --content '{"type": "payload", "payloadType": "Order", "payload": {"bread": 2}}'`,
      `ask 'And now?' --thread thr_01jd8k3v5x9m2q7r4t6w8y0zab --tool memory_search --parameters '{"temperature": 0}'`,
    ],
    opens: "everything",
  },
  run: ({ runtime }, given, { actor, signal }) =>
    runtime.use(MESSAGE_API).sendMessage(actor, messageOf(forContact(given, actor)), signal),
  seconds: ({ seconds }) => seconds,
  soFar: (event): SentMessage => ({ event, state: "running" }),
  show: ({ state, event }, { given: { agent } }) =>
    state === "queued" ? [`${event.id} waits for ${agent} on ${event.thread}.`] : [],
});

type Given = z.output<typeof TAKES>;

/** An actor limited to one contact need not name it. */
export function forContact<
  Given extends Partial<Pick<z.output<typeof MESSAGE>, "thread" | "contact" | "channel" | "line" | "number">>,
>(given: Given, { role, contact }: Pick<Actor, "role" | "contact">): Given {
  const { thread, channel, line: at, number } = given;
  // Which way a message came is the word of the program in between: delivery, signature and line follow from it.
  if (role === "contact" && ((channel ?? "http") !== "http" || at !== undefined || number !== undefined))
    throw new StrataError(
      "not_allowed",
      "a contact writes over `http` alone: leave out `channel`, `line` and `number`, which a program with a key of its own says of its contacts",
    );
  return thread === undefined && given.contact === undefined && contact !== undefined ? { ...given, contact } : given;
}

function messageOf(given: Given): NewMessage {
  const { kind, trust, name, number, line: at, externalId, signature, settings, mode, follow } = given;
  refuseMissing(given);
  const answers = given.answers.map((one) => ({ ...one, content: eventParts(one.content) }));
  const said = { content: messageParts(given), answers, kind, trust, name, number, externalId, signature, settings };
  return { to: recipientOf(given), ...said, line: at, mode, parameters: parametersIn(given), follow };
}

/** An empty one says nothing. */
function parametersIn({ tools, parameters: { maxTokens, temperature, topP } = {} }: Given): NewMessage["parameters"] {
  if ([tools, maxTokens, temperature, topP].every((one) => one === undefined)) return undefined;
  return {
    ...(tools && { tools: tools.flatMap((one) => (typeof one === "string" ? [toolName(one)] : [])) }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
  };
}

/** The operation already describes them, but they do not exist yet. */
function refuseMissing({ tools = [] }: Given): void {
  if (tools.some((one) => typeof one !== "string"))
    throw invalidInput(
      "tools that the sender runs are not supported yet; declare the tools of the agent in strata.yaml",
    );
}

function messageParts({ text, content, answers }: Given): readonly EventPart[] {
  if (text === undefined && content === undefined && answers.length > 0) return [];
  if ((text === undefined) === (content === undefined))
    throw invalidInput("a message has either a `text` or `content`; give one of them");
  if (text !== undefined) return [{ type: "text", text }];
  return eventParts(content ?? []);
}

function eventParts(content: readonly z.output<typeof PART>[]): readonly EventPart[] {
  return content.map((part) => {
    if (part.type === "text" || part.type === "payload") return part;
    throw invalidInput(`a message cannot hold a part of type \`${part.type}\` yet; send a \`text\` or a \`payload\``);
  });
}

function recipientOf({ agent, thread, contact, channel, key }: Given): NewMessage["to"] {
  if (thread === undefined) {
    if (contact !== undefined) return { agent, contact, channel: channel ?? "http", key: key ?? "main" };
    throw invalidInput("nobody is named: give the `contact` who writes, or the `thread` of a conversation");
  }
  const other = Object.entries({ contact, channel, key }).find(([, value]) => value !== undefined);
  if (other === undefined) return { agent, thread };
  throw invalidInput(`\`thread\` already names the conversation; leave \`${other[0]}\` out`);
}

const invalidInput = (message: string): StrataError => new StrataError("invalid_input", message);

export const FEATURE: Feature = {
  name: "messages",
  needs: ["deliveries", "settings"],
  operations: [sendMessage],
  open: () => ({ api: ({ parts, runtime, run }) => MESSAGE_API.open(messageApi(parts, runtime, run)) }),
};
