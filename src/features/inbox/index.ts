/** The inbox of an agent: the waiting messages of all its senders, and the turns that handle them. */

import { z } from "zod";
import { clean, shorten } from "../../guard/index.ts";
import { count, minute, oneLine, printable, type Style, setIn, unansweredLine } from "../../print/index.ts";
import {
  type Agent,
  asStrataError,
  type ContactId,
  type ContentItem,
  type EventPart,
  isMedia,
  type LayerContent,
  partText,
  SELF,
  type StoredEvent,
  type TurnEvent,
  trusted,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { type GatherContext, type LiveSources, senderOf } from "../../turn/sources/index.ts";
import type { Due, Job, Notice, Task } from "../../work/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, LIST_OF_AGENT, list, NEXT, nextAfter, OF_AGENT } from "../fields.ts";
import { MESSAGE_API } from "../messages/index.ts";
import { operation, turnOperation } from "../operation.ts";
import { EVENT } from "../shapes.ts";
import { INBOX_API, type InboxApi, inboxApi } from "./api.ts";
import { KEYS } from "./config.ts";
import { replyTool } from "./tools.ts";
import { messagesWait, NOTHING_WAITS, ONE_WAITS, stillWaiting, waitElsewhere } from "./wording.ts";

export { INBOX_API, type InboxApi } from "./api.ts";
export { replyTool } from "./tools.ts";

const WAITING = z
  .object({
    contact: z.string(),
    event: EVENT,
    status: z.enum(["waiting", "running"]).describe("`running`: a turn is handling it now"),
  })
  .meta({ id: "InboxMessage" });

const listInbox = operation({
  name: "inbox.list",
  does: "List the messages that wait for an agent, oldest first; `running` means that a turn is handling it now. This access is recorded.",
  may: "read",
  at: "GET /v1/agents/{agent}/inbox",
  takes: LIST_OF_AGENT,
  gives: z.object({ messages: list(WAITING), ...NEXT }),
  list: "messages",
  command: { examples: ["inbox list sovereign"], opens: "record" },
  run: async ({ runtime }, { agent, limit, after }, { actor }) => {
    const messages = await runtime.use(INBOX_API).inbox(actor, agent, limit, after);
    return { messages, ...nextAfter(messages, limit, ({ event: { at, id } }) => ({ at, id })) };
  },
  show: ({ messages }, { style, given: { agent } }) =>
    messages.length === 0
      ? [`Nothing waits for ${agent}.`]
      : [...messages.flatMap((one) => waitingLines(one, style)), style.dim(count(messages.length, "message"))],
});

/** The channel of `strata chat`, and the name of its first conversation. */
const CHAT = "chat";

const post = operation({
  name: "inbox.post",
  does: "Put a message into an agent's inbox, in the sender's conversation of `strata chat`; a running server answers it.",
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
      .describe("the message's own id: if it is posted again with the same text, it is stored once"),
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
  run: async ({ runtime }, { agent, text, contact: named, externalId }, { actor }) => {
    const { org } = runtime.agent(actor, agent);
    const contact = await runtime.contact(actor, agent, named);
    const known = await runtime.threads(actor, { org, agent, contact }, 1_000);
    const newest = known.find(({ channel, forkedFrom }) => channel === CHAT && forkedFrom === undefined);
    const to = { agent, contact, channel: CHAT, key: newest?.key ?? CHAT };
    const content = [{ type: "text", text }] as const;
    const message = { to, content, kind: "message", trust: "contact", externalId, follow: "queue" } as const;
    const sending = runtime.use(MESSAGE_API).sendMessage(actor, message);
    for (let next = await sending.next(); ; next = await sending.next())
      if (next.done === true) return next.value.event;
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

const runInbox = turnOperation({
  name: "inbox.run",
  does: "Run one turn for the messages that have waited longest: of one sender, or of several with `inbox: batch`.",
  may: "operate",
  at: "POST /v1/agents/{agent}/inbox/run",
  takes: OF_AGENT,
  command: { examples: ["inbox run sovereign"], opens: "everything" },
  turn: ({ runtime }, { agent }, { actor, signal }) => runtime.use(INBOX_API).runInbox(actor, agent, { signal }),
  idle: ({ agent }) => `Nothing waits for ${agent}.`,
});

/** How long a message is left to the program that posted it, which usually answers it, in milliseconds. */
const LEFT = 30_000;

/** Messages that wait for any agent: each sender's conversation separately, or with `inbox: batch` several in one turn. */
const messages: Job = {
  name: "inbox.messages",
  due: async (world) => {
    const found = await Promise.all(world.runtime.agents(world.operator).map((agent) => dueOf(world, agent)));
    const times = found.flatMap(({ next }) => next ?? []);
    return { tasks: found.flatMap(({ tasks }) => tasks), next: times.length === 0 ? undefined : Math.min(...times) };
  },
};

async function dueOf({ runtime, operator, clock }: Parameters<Job["due"]>[0], { name, inbox }: Agent): Promise<Due> {
  const waits = await runtime.use(INBOX_API).waiting(operator, name);
  const task = (key: string, turn: (signal: AbortSignal) => AsyncIterable<TurnEvent>, contact?: ContactId): Task => ({
    agent: name,
    ...(contact !== undefined && { contact }),
    key,
    trouble: `Messages for ${name} were not handled`,
    run: (signal) => handled(turn(signal), signal),
  });
  if (inbox === "batch") {
    const all = task(`inbox of ${name}`, (signal) =>
      runtime.use(INBOX_API).runInbox(operator, name, { signal, waited: 0 }),
    );
    return { tasks: waits.length === 0 ? [] : [all] };
  }
  const isDue = ({ since, isHanded }: (typeof waits)[number]): boolean => isHanded || since + LEFT <= clock.real();
  const tasks = waits.filter(isDue).map(({ thread: id, contact }) => {
    const turn = async function* (signal: AbortSignal): AsyncGenerator<TurnEvent> {
      const thread = await runtime.thread(operator, id);
      // Without a listener, the reply stays in the outbox until it is fetched, or for the agent's `deliver`.
      yield* runtime.run(operator, thread, { signal, replyTo: "outbox" });
    };
    return task(id, turn, contact);
  });
  const later = waits.filter((one) => !isDue(one)).map(({ since }) => since + LEFT);
  return { tasks, next: later.length === 0 ? undefined : Math.min(...later) };
}

/** Another program handles them, or a person has stopped the turn. */
const NO_TROUBLE: readonly string[] = ["thread_busy", "turn_cancelled"];

/** Reports what an operator should know about a turn they did not request. @throws StrataError the turn's error */
async function* handled(turn: AsyncIterable<TurnEvent>, signal: AbortSignal): AsyncGenerator<Notice> {
  try {
    for await (const event of turn) {
      if (event.type === "unanswered") yield { message: unansweredLine(event) };
      if (event.type === "failed") throw event.error;
    }
  } catch (thrown) {
    const { code, traits } = asStrataError(thrown);
    if (!signal.aborted && !traits.isPause && !NO_TROUBLE.includes(code)) throw thrown;
  }
}

/** Fills layers with `source: obligations`. */
export const inboxSources = (
  { store }: { readonly store: Pick<Store, "inboxCount"> },
  { org, name }: Agent,
): LiveSources => ({
  obligations: async (_, context) => {
    // An agent that acts by itself must know that messages wait, but reads no word of them: that needs a turn about them.
    const waiting = context.scope.contact === SELF ? await store.inboxCount({ org, agent: name }) : 0;
    return waiting > 0 ? { kind: "text", text: trusted(waitElsewhere(waiting)) } : obligations(context);
  },
});

export const FEATURE: Feature = {
  name: "inbox",
  needs: ["messages"],
  keys: KEYS,
  steps: { sources: inboxSources, restated: inboxSources },
  tools: () => [replyTool()],
  operations: [listInbox, post, runInbox],
  jobs: [messages],
  open: () => ({ api: ({ turnParts, run }) => INBOX_API.open(inboxApi(turnParts, run)) }),
};

type InboxEntry = Awaited<ReturnType<InboxApi["inbox"]>>[number];

/** How many characters of a message are shown; `--json` has all of it. */
const BEGINNING = 200;

function waitingLines({ contact, event, status }: InboxEntry, style: Style): readonly string[] {
  const { id, kind, at, trust, proof, content } = event;
  const more = [
    ...(kind === "message" ? [] : [kind]),
    ...(trust === "contact" ? [] : [`by the ${trust}`]),
    ...(proof === undefined ? [] : [proof]),
  ];
  const text = content.map((part) => (isMedia(part) ? `(${part.type})` : partText(part))).join(" ");
  return [
    `${style.cyan(printable(contact))} ${style.dim(`· ${minute(at)} ·`)} ${status}`,
    ...setIn(oneLine(text, BEGINNING), "  ", style),
    style.dim(`  ${[`${id} on ${event.thread}`, ...more].join(" · ")}`),
  ];
}

/** Characters of a message that are shown as its beginning, and how many messages are. */
const PREVIEW = 100;
const SHOWN = 20;

/** What the turn has to answer: how many messages, and each one's sender and beginning. Only the turn's own events. */
function obligations(context: GatherContext): LayerContent {
  const { answered } = context.progress ?? {};
  const waiting = context.events.filter(
    (event) => event.kind !== "scheduled" && answered?.has(senderOf(event, context)) !== true,
  );
  if (waiting.length === 0 && answered !== undefined) return { kind: "text", text: trusted(stillWaiting([])) };
  if (waiting.length === 0) return { kind: "text", text: trusted(NOTHING_WAITS) };
  // It is not repeated.
  if (waiting.length === 1 && context.events.length === 1) return { kind: "text", text: trusted(ONE_WAITS) };
  const senders = new Set(waiting.map((event) => senderOf(event, context))).size;
  const intro = messagesWait(waiting.length, senders, Math.min(SHOWN, waiting.length));
  const items = waiting.slice(0, SHOWN).map((event) => eventItem(event, context));
  return { kind: "items", intro: trusted(intro), items };
}

function eventItem(event: StoredEvent, context: GatherContext): ContentItem {
  const { trust, proof, at } = event;
  const name = senderName(event, context);
  return {
    kind: "data",
    ...(name !== undefined && { name }),
    text: untrusted(beginning(event.content)),
    trust,
    ...(proof !== undefined && { proof }),
    at,
  };
}

/** A contact is named as its channel does, whatever it calls itself. */
function senderName(event: StoredEvent, context: GatherContext): Untrusted | undefined {
  return event.trust === "contact" ? untrusted(senderOf(event, context)) : event.name;
}

function beginning(content: readonly EventPart[]): string {
  const said = content.map((part) => (isMedia(part) ? `(${part.type})` : partText(part))).join(" ");
  return shorten(clean(untrusted(said)).replace(/\s+/gu, " ").trim(), PREVIEW);
}
