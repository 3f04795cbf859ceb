import { clean, longestFitting, shorten } from "../../guard/index.ts";
import {
  type ContactId,
  type ContactScope,
  type ContentItem,
  type CountTokens,
  isoSecond,
  type LayerContent,
  type Source,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import { type GatherContext, sendersOf } from "../../turn/sources/index.ts";
import type { Exchange, SenderLog } from "./store.ts";

/** Access to the logs. */
export interface Logs {
  readonly log: (scope: ContactScope) => Promise<SenderLog | undefined>;
}

/** The average tokens of one exchange's text; its sender's frame, the days and the speakers' names are added to that. */
const TOKENS_EACH = 50;

/** The same for the newest: it is shown whole up to about what the log keeps of it, in compact mode up to an ordinary length. */
const NEWEST = { full: 375, compact: 150 } as const;

/** Bytes of a side that are enough to be understood: sixty letters, or twenty signs of a script that needs fewer. */
const ENOUGH = 60;

/** Over the frames of the senders. */
export const WORDING = {
  earlier: "Earlier exchanges with each sender, oldest first, shortened; `you` = your replies:",
  earlierSigned:
    "Earlier exchanges with each sender, oldest first, shortened; `you` = your replies, `proven` = what they signed:",
} as const;

/** The last exchanges with each sender of the turn, and no one else's. */
export async function conversation(
  { entries, compact }: Extract<Source, { kind: "conversation" }>,
  context: GatherContext & { readonly logs: Logs },
): Promise<LayerContent> {
  const { undone, count } = context;
  const isFull = (context.mode ?? "full") === "full";
  const most = isFull ? entries : compact;
  const senders = sendersOf(context);
  if (senders.length === 0) return { kind: "empty", because: "nobody writes in this turn" };
  const logs = await Promise.all(senders.map((contact) => context.logs.log({ ...context.scope, contact })));
  const newest = Math.max(TOKENS_EACH, NEWEST[isFull ? "full" : "compact"] / senders.length);
  const said = senders.flatMap((contact, i) => {
    const kept = logs[i]?.entries.filter(({ turn }) => !undone?.has(turn)) ?? [];
    const last = kept.slice(-most).filter(({ body, reply }) => body !== "" || reply !== "");
    return last.length === 0 ? [] : [{ contact, last, shown: shownOf(last, { most, newest, count }) }];
  });
  if (said.length === 0) return { kind: "empty", because: "nothing was said with the sender before" };
  const intro = said.some(({ last }) => last.some(({ proof }) => proof !== undefined))
    ? WORDING.earlierSigned
    : WORDING.earlier;
  const left = said.reduce((sum, { last, shown }) => sum + last.length - shown.length, 0);
  return {
    kind: "items",
    intro: trusted(intro),
    items: said.map(({ contact, shown }) => exchangesItem(contact, shown)),
    ...(left > 0 && {
      left: [{ because: left === 1 ? "exchange without room" : "exchanges without room", items: left }],
    }),
  };
}

/** One exchange as shown, each side on its own line. */
interface ShownExchange extends Pick<Exchange, "at"> {
  readonly sides: readonly Side[];
}

interface Side {
  readonly who: string;
  readonly text: string;
}

interface Room {
  /** The number of exchanges shown, and the tokens of the newest. */
  readonly most: number;
  readonly newest: number;
  readonly count: CountTokens;
}

/**
 * The newest exchange gets its room first. All earlier ones share the rest: a long side is shortened before a short one, and if too little
 * would be left of each, the oldest is not shown.
 */
function shownOf(exchanges: readonly Exchange[], { most, newest, count }: Room): readonly ShownExchange[] {
  const all = exchanges.map((one, i) => ({ at: one.at, sides: sidesOf(one, exchanges[i + 1]) }));
  const last = cutWithin(all.slice(-1), newest, count);
  const rest = Math.max((most - 1) * TOKENS_EACH, most * TOKENS_EACH - tokensOf(last.shown, count));
  for (let first = 0; first < all.length - 1; first++) {
    const earlier = cutWithin(all.slice(first, -1), rest, count);
    if (earlier.isEnough) return [...earlier.shown, ...last.shown];
  }
  return last.shown;
}

function sidesOf({ body, reply, turn, proof }: Exchange, next: Exchange | undefined): readonly Side[] {
  const them = { who: `them${proof === undefined ? "" : ` (${proof})`}`, text: onOneLine(body) };
  // One answer may have been to several messages.
  const you = { who: "you", text: next?.turn === turn ? "" : onOneLine(reply) };
  return [them, you].filter(({ text }) => text !== "");
}

const onOneLine = (text: string): string => clean(untrusted(text)).replace(/\s+/gu, " ").trim();

/** All of these with their sides cut to one length, the longest that fits; and whether that is enough. */
function cutWithin(
  exchanges: readonly ShownExchange[],
  tokens: number,
  count: CountTokens,
): { readonly shown: readonly ShownExchange[]; readonly isEnough: boolean } {
  const texts = exchanges.flatMap(({ sides }) => sides.map(({ text }) => text));
  const cut = (length: number): readonly ShownExchange[] =>
    exchanges.map(({ at, sides }) => ({
      at,
      sides: sides.map(({ who, text }) => ({ who, text: shorten(text, length) })),
    }));
  const longest = Math.max(1, ...texts.map(({ length }) => length));
  const length = longestFitting(longest, (one) => tokensOf(cut(one), count) <= tokens);
  const isEnough = texts.every((text) => text.length <= length || Buffer.byteLength(text.slice(0, length)) >= ENOUGH);
  return { shown: cut(length), isEnough };
}

const tokensOf = (exchanges: readonly ShownExchange[], count: CountTokens): number =>
  exchanges.reduce((sum, { sides }) => sum + sides.reduce((some, { text }) => some + count(text), 0), 0);

/** All of one sender in one frame. The agent's replies are framed with the messages they answer, so they are trusted no more than those. */
function exchangesItem(contact: ContactId, exchanges: readonly ShownExchange[]): ContentItem {
  const at = exchanges.at(-1)?.at ?? 0;
  return { kind: "data", trust: "contact", at, name: untrusted(contact), text: untrusted(renderExchanges(exchanges)) };
}

/**
 * Each side is on its own line, under its day, and begins with the platform's words: no message can pose as the other side, or as signed.
 */
function renderExchanges(exchanges: readonly ShownExchange[]): string {
  const lines: string[] = [];
  let day = "";
  for (const { at, sides } of exchanges) {
    const today = isoSecond(at).slice(0, 10);
    if (today !== day) lines.push(today);
    day = today;
    lines.push(...sides.map(({ who, text }) => `${who}: ${text}`));
  }
  return lines.join("\n");
}
