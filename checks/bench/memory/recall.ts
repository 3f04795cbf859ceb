import { blueprintFolder } from "../../../src/agents/index.ts";
import { loadProject } from "../../../src/app/entry/agents.ts";
import { memorySources } from "../../../src/features/memories/index.ts";
import { tokenCounter } from "../../../src/models/index.ts";
import {
  type Agent,
  type ContentItem,
  type CountTokens,
  eventId,
  type Layer,
  type StoredEvent,
  threadId,
  untrusted,
} from "../../../src/protocol/index.ts";
import { gather } from "../../../src/turn/sources/index.ts";
import type { Conversation, Remembered } from "../conversations.ts";
import { table } from "../table.ts";
import type { Tell } from "./measure.ts";
import { dice, type Noise } from "./noise.ts";
import { alone } from "./settings.ts";
import { type FilledStore, filledStore, growingStore, scopeOf } from "./strata.ts";

/** How often the companion's recall puts memories into a request, for messages of one sort. */
export interface RecallRow {
  readonly data: string;
  /** Questions that something answers, that nothing answers, and what strangers say to each other. */
  readonly asked: "answered" | "unanswered" | "other talk";
  readonly messages: number;
  /** Share of them with which memories were sent, and with which none was. */
  readonly some: number;
  readonly none: number;
  /** Of those that something answers: with which an answer was sent. */
  readonly answer?: number;
  /** Memories and their tokens, where any were sent. */
  readonly memories: number;
  readonly tokens: number;
}

/** One message of a sort, in whose conversation, and what would answer it. */
interface Message {
  readonly conversation: string;
  readonly text: string;
  readonly relevant: readonly string[];
  /** Who writes, and when, where that is known. */
  readonly asker?: string;
  readonly at?: number;
}

interface Sent {
  /** As the data calls them. */
  readonly ids: readonly string[];
  readonly tokens: number;
  readonly items: readonly ContentItem[];
}

/** So many messages of strangers to each conversation. */
const TALK = 120;

/** What recall sends with each question, each conversation being all that is remembered of it. */
export async function measureRecall(
  conversations: readonly Conversation[],
  { data, noise, tell }: { readonly data: string; readonly noise: Noise; readonly tell: Tell },
): Promise<readonly RecallRow[]> {
  const kinds = messagesOf(conversations, noise);
  const count = await tokenCounter({ factor: 1 });
  const filled = await filledStore(alone(conversations).scopes);
  const recalling = companion();
  const rows: RecallRow[] = [];
  for (const [asked, messages] of kinds) {
    if (messages.length === 0) continue;
    tell(`${data}: recall for ${messages.length} messages (${asked})`);
    const sent: Sent[] = [];
    for (const message of messages) sent.push(await sentWith({ ...filled, ...recalling, count }, message));
    rows.push({ data, asked, ...summed(messages, sent), ...(asked === "answered" && answering(messages, sent)) });
  }
  await filled.close();
  return rows;
}

function messagesOf(
  conversations: readonly Conversation[],
  noise: Noise,
): readonly (readonly [RecallRow["asked"], readonly Message[]])[] {
  const questions = (of: "questions" | "adversarial"): readonly Message[] =>
    conversations.flatMap((one) =>
      one[of].map(({ text, relevant, asker, at }) => ({
        ...{ conversation: one.name, text, relevant },
        ...(asker !== undefined && { asker }),
        ...(at !== undefined && { at }),
      })),
    );
  // As many as there are questions, where only a few are asked.
  const talk = conversations.flatMap(({ name, questions: { length } }) =>
    noise.take(Math.min(TALK, length)).map((text) => ({ conversation: name, text, relevant: [] })),
  );
  return [
    ["answered", questions("questions")],
    ["unanswered", questions("adversarial")],
    ["other talk", talk],
  ];
}

interface Recalling extends Pick<FilledStore, "store" | "names"> {
  readonly agent: Agent;
  readonly layer: Layer;
  readonly count: CountTokens;
}

async function sentWith({ store, names, agent, layer, count }: Recalling, message: Message): Promise<Sent> {
  const { contents, notes } = await gather(agent, [layer], {
    scope: scopeOf(message.conversation),
    events: [eventOf(message)],
    at: message.at ?? AT,
    count,
    live: memorySources(store, agent),
    // A busy machine shall not look like a recall that found nothing.
    timer: () => () => {},
  });
  const [late] = notes;
  if (late) throw new Error(`recall failed: ${late.message}`);
  const content = contents.get(layer.id);
  const items: readonly ContentItem[] = content?.kind === "items" ? content.items : [];
  const ids = items.flatMap(({ id, ids: all }) => all ?? (id === undefined ? [] : [id]));
  return {
    items,
    ids: ids.map((id) => names.get(id) ?? id),
    tokens: items.reduce((sum, { text }) => sum + count(text), 0),
  };
}

const AT = Date.UTC(2026, 10, 21, 9, 30);
const NO_CHANCE = "0".repeat(26);

/** What a person who begins to use Strata gets. */
function companion(): { readonly agent: Agent; readonly layer: Layer } {
  for (const agent of loadProject(blueprintFolder("companion"), { env: {} }).agents.values()) {
    const layer = agent.layers.find(({ source }) => source.kind === "recall");
    if (layer) return { agent, layer };
  }
  throw new Error("the companion has no layer that recalls");
}

function eventOf({ text, asker, at = AT }: Message): StoredEvent {
  return {
    id: eventId(`evt_${NO_CHANCE}`),
    thread: threadId(`thr_${NO_CHANCE}`),
    seq: 1,
    status: "pending",
    kind: "message",
    trust: "contact",
    channel: "bench",
    content: [{ type: "text", text: untrusted(text) }],
    at,
    ...(asker !== undefined && { name: untrusted(asker) }),
  };
}

function summed(
  messages: readonly Message[],
  sent: readonly Sent[],
): Pick<RecallRow, "messages" | "some" | "none" | "memories" | "tokens"> {
  const some = sent.filter(({ ids }) => ids.length > 0);
  const mean = (of: (one: Sent) => number): number => some.reduce((sum, one) => sum + of(one), 0) / (some.length || 1);
  const share = some.length / messages.length;
  return {
    messages: messages.length,
    ...{ some: share, none: 1 - share },
    ...{ memories: mean(({ ids }) => ids.length), tokens: mean(({ tokens }) => tokens) },
  };
}

function answering(messages: readonly Message[], sent: readonly Sent[]): Pick<RecallRow, "answer"> {
  const answered = messages.filter(({ relevant }, i) => sent[i]?.ids.some((id) => relevant.includes(id)));
  return { answer: answered.length / messages.length };
}

/** So many messages of the same stretch of talk are taken to stand in the transcript still. */
const STANDING = 20;

/** So many messages are drawn at a time, until there are recalls enough. */
const ROUND = 200;

/** A message of a talk as it went. */
interface Drawn {
  readonly talk: Conversation;
  /** Which of its messages. */
  readonly at: number;
}

/**
 * Messages chosen at random from talks as they went, and what recall sends with each: all that was said before it is remembered,
 * but for what stands in the transcript. As many of each folder as there is room for, those alone with which something is sent.
 */
export async function sampleRecall(
  folders: readonly (readonly Conversation[])[],
  { size, seed, tell }: { readonly size: number; readonly seed: number; readonly tell: Tell },
): Promise<string> {
  const chance = dice(seed);
  const recalling = { ...companion(), count: await tokenCounter({ factor: 1 }) };
  const found: string[] = [];
  for (const talks of folders) {
    const drawn = ownMessages(talks)
      .map((one) => ({ one, order: chance() }))
      .sort((a, b) => a.order - b.order)
      .map(({ one }) => one);
    const kept: string[] = [];
    let tried = 0;
    while (kept.length < size / folders.length && tried < drawn.length) {
      for (const [one, text] of await recallsOf(drawn.slice(tried, tried + ROUND), recalling)) {
        if (kept.length >= size / folders.length) break;
        tried = drawn.indexOf(one) + 1;
        if (text !== undefined) kept.push(text);
      }
    }
    found.push(...kept);
    tell(`${kept.length} recalls of ${tried} messages`);
  }
  return found.join("\n\n");
}

/** What the first speaker of each talk says in it. */
const ownMessages = (talks: readonly Conversation[]): readonly Drawn[] =>
  talks.flatMap((talk) =>
    talk.memories.flatMap(({ speaker }, at) => (speaker === talk.memories[0]?.speaker ? [{ talk, at }] : [])),
  );

/** What is sent with each message, to be read; nothing where nothing is. */
async function recallsOf(
  drawn: readonly Drawn[],
  recalling: Omit<Recalling, "store" | "names">,
): Promise<readonly (readonly [Drawn, string | undefined])[]> {
  const sent = new Map<Drawn, readonly ContentItem[]>();
  for (const [talk, own] of Map.groupBy(drawn, (one) => one.talk)) {
    const growing = await growingStore();
    let known = 0;
    for (const one of own.toSorted((a, b) => a.at - b.at)) {
      const message = talk.memories[one.at];
      if (message === undefined) continue;
      const { id: _, ...asked } = { ...message, asker: message.speaker, conversation: talk.name, relevant: [] };
      const until = beginsStanding(talk.memories, one.at);
      await growing.add(talk.name, talk.memories.slice(known, until));
      known = Math.max(known, until);
      sent.set(one, (await sentWith({ ...growing, ...recalling }, asked)).items);
    }
    await growing.close();
  }
  return drawn.map((one) => [one, textOf(one, sent.get(one) ?? [])]);
}

/** Which of the messages before one stand in the transcript: those from here on. */
function beginsStanding(memories: readonly Remembered[], at: number): number {
  let from = at;
  while (from > Math.max(0, at - STANDING) && memories[from - 1]?.session === memories[at]?.session) from -= 1;
  return from;
}

function textOf({ talk, at }: Drawn, items: readonly ContentItem[]): string | undefined {
  const message = talk.memories[at];
  const answered = talk.memories[at - 1];
  if (items.length === 0 || message === undefined) return undefined;
  return [
    `## ${message.id}, ${dayOf(message.at)}`,
    `after ${answered?.speaker}: ${answered?.text.slice(-300)}`,
    `**${message.speaker}: ${message.text}**`,
    ...items.map(({ at: said, name, text }) => `  - ${dayOf(said)} ${name ?? ""}: ${text}`.trimEnd()),
  ].join("\n");
}

const dayOf = (at: number | undefined): string => (at === undefined ? "" : new Date(at).toISOString().slice(0, 10));

const HEAD = ["recall sends", "messages", "some", "none", "an answer", "memories", "tokens"];
const NAMES: Readonly<Record<RecallRow["asked"], string>> = {
  answered: "asked for what was said",
  unanswered: "asked for what nobody said",
  "other talk": "talk of strangers",
};

/** A table for each data. */
export function recallText(rows: readonly RecallRow[]): string {
  const share = (value: number): string => value.toFixed(3);
  return [...Map.groupBy(rows, ({ data }) => data)]
    .map(([data, own]) => {
      const cells = own.map((row) => [
        ...[NAMES[row.asked], String(row.messages), share(row.some), share(row.none)],
        ...[row.answer === undefined ? "–" : share(row.answer), row.memories.toFixed(1), row.tokens.toFixed(0)],
      ]);
      return `${data}, the companion's recall\n\n${table(HEAD, cells)}`;
    })
    .join("\n\n");
}
