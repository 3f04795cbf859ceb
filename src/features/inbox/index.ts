/** What waits for an agent: the messages of all its senders, and the turns that handle them. */
import { z } from "zod";
import { count, minute, oneLine, printable, type Style, setIn } from "../../print/index.ts";
import { type StoredEvent, StrataError, untrusted } from "../../protocol/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, given, list } from "../fields.ts";
import { operation, turnOperation, type World } from "../operation.ts";
import { EVENT } from "../shapes.ts";

export { inboxDoors } from "./run.ts";

const OF_AGENT = z.strictObject({ agent: FIELDS.agent });

const WAITING = z
  .object({
    contact: z.string(),
    event: EVENT,
    status: z.enum(["waiting", "staged"]).describe("`staged`: a turn handles it now"),
  })
  .meta({ id: "InboxMessage" });

const waiting = operation({
  name: "inbox.list",
  does: "List what waits for an agent, the oldest first; what a turn handles now is staged. The look is recorded.",
  may: "read",
  at: "GET /v1/agents/{agent}/inbox",
  takes: OF_AGENT.extend({ limit: FIELDS.limit }),
  gives: z.object({ messages: list(WAITING) }),
  list: "messages",
  command: { examples: ["inbox list sovereign"], opens: "record" },
  run: async ({ runtime }, { agent, limit }, { actor }) => ({ messages: await runtime.inbox(actor, agent, limit) }),
  show: ({ messages }, { style, given: { agent } }) =>
    messages.length === 0
      ? [`Nothing waits for ${agent}.`]
      : [...messages.flatMap((one) => waitingLines(one, style)), style.dim(count(messages.length, "message"))],
});

/** The channel of `strata chat`, and the name of its first conversation. */
const CHAT = "chat";

const post = operation({
  name: "inbox.post",
  does: "Let a message wait for an agent, in the sender's conversation of `strata chat`; nothing runs yet.",
  may: "post",
  at: "POST /v1/agents/{agent}/inbox",
  takes: OF_AGENT.extend({
    text: z
      .string()
      .regex(/\S/, "a message that says something")
      .describe("the message (default, and with -: all of stdin)")
      .transform(untrusted),
    contact: FIELDS.contact.describe("who writes"),
    externalId: z
      .string()
      .optional()
      .describe("the message's own id: posted again with the same text, it is stored once"),
  }),
  gives: EVENT,
  command: {
    words: ["text"],
    stdin: "text",
    contact: "me",
    names: { externalId: "id" },
    examples: ["inbox post 'Please deliver the bread.' --as ann --id m-1", "inbox post - sovereign < letter.txt"],
    opens: "everything",
  },
  run: async ({ runtime, clock }, { agent, text, contact: named, externalId }, { actor }) => {
    const { org } = runtime.agent(actor, agent);
    const contact = await runtime.contact(actor, agent, named);
    const known = await runtime.threads(actor, { org, agent, contact }, 1_000);
    const newest = known.find(({ channel, forkedFrom }) => channel === CHAT && forkedFrom === undefined);
    const thread = await runtime.open(actor, { agent, contact, channel: CHAT, key: newest?.key ?? CHAT });
    const [event] = await runtime.post(actor, thread, [
      {
        kind: "message",
        trust: "contact",
        channel: thread.channel,
        content: [{ type: "text", text }],
        at: clock(),
        ...given("externalId", externalId),
      },
    ]);
    if (event !== undefined) return event;
    throw new StrataError("store_failed", "the store gave back no message; post it again");
  },
  show: (event, { given: { agent } }) => [postedLine(event, agent)],
  hints: ({ status }, { agentWords }) =>
    status === "pending" ? [`\`strata inbox run${agentWords}\` handles what waits for longest.`] : [],
});

function postedLine({ id, thread, status, turn }: StoredEvent, agent: string): string {
  if (status === "pending") return `${id} waits for ${agent} on ${thread}.`;
  const where = turn === undefined ? "" : `: \`strata explain ${turn}\` shows how`;
  return `${id} came before and was handled${where}.`;
}

const run = turnOperation({
  name: "inbox.run",
  does: "Run one turn over what waits for longest: of one sender, or of several with `inbox: batch`.",
  may: "run",
  at: "POST /v1/agents/{agent}/inbox/run",
  takes: OF_AGENT,
  command: { examples: ["inbox run sovereign"], opens: "everything" },
  turn: ({ runtime }, { agent }, { actor, signal }) => runtime.runInbox(actor, agent, { signal }),
  idle: ({ agent }) => `Nothing waits for ${agent}.`,
});

export const FEATURE: Feature = { name: "inbox", operations: [waiting, post, run] };

type Waiting = Awaited<ReturnType<World["runtime"]["inbox"]>>[number];

/** So much of a message is shown; `--json` has all of it. */
const BEGINNING = 200;

function waitingLines({ contact, event, status }: Waiting, style: Style): readonly string[] {
  const { id, kind, at, trust, proof, content } = event;
  const more = [
    ...(kind === "message" ? [] : [kind]),
    ...(trust === "contact" ? [] : [`by the ${trust}`]),
    ...(proof === undefined ? [] : [proof]),
  ];
  const text = content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join(" ");
  return [
    `${style.cyan(printable(contact))} ${style.dim(`· ${minute(at)} ·`)} ${status}`,
    ...setIn(oneLine(text, BEGINNING), "  ", style),
    style.dim(`  ${[`${id} on ${event.thread}`, ...more].join(" · ")}`),
  ];
}
