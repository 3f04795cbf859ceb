import { setImmediate } from "node:timers/promises";
import { clean, truncateText } from "../../../guard/index.ts";
import { asksChange } from "../../../memory/index.ts";
import {
  type Agent,
  type Epoch,
  framesOf,
  frozenIn,
  isValidAt,
  type Layer,
  type LayerContent,
  type LeftOut,
  type MemoryQuery,
  type Scope,
  type StoredEvent,
  saidInPart,
  untrusted,
} from "../../../protocol/index.ts";
import type { MemoryHit, Store } from "../../../store/index.ts";
import type { GatherContext } from "../../../turn/sources/index.ts";
import { mayShow, SPEAKS_FOR_ITSELF, withoutOutdated, worthShowing } from "./gate.ts";
import { asPassages, fill, happenedFor, itemsOf, type RecalledMemory, seenIn, standingIn } from "./items.ts";
import { isChatter, smallTalk } from "./small-talk.ts";

/** How many hits are read, since most may already be in the transcript. */
const LOOKED_AT = 100;

/** Tokens of memories in a request if the layer has no budget. */
export const TOKENS = 600;

type Recalling = GatherContext & {
  readonly store: Pick<Store, "searchMemories" | "memoriesBeside" | "memory">;
  readonly signal: AbortSignal;
};

/**
 * The contact's and the agent's own memories that fit the newest message, best first. What the model sees anyway is omitted: messages of
 * turns still in the request, and memories frozen at the start of the transcript.
 */
export async function recall(agent: Agent, layer: Layer, limit: number, context: Recalling): Promise<LayerContent> {
  if (agent.recall === "tools" || agent.recall === "none")
    return empty(`recall is set to ${agent.recall} for this agent`);
  const query = recallQuery(context);
  const idle =
    query.newest === ""
      ? "no message waits: there is nothing to search for"
      : (smallTalk(query.newest) ?? ((await isAnyUnseen(context)) ? undefined : ALL_SEEN));
  const { unseen, standing, judged } = idle === undefined ? await find(query, context) : NOTHING;
  const fitting = await withReplaced(query.newest, worthShowing(query.newest, unseen, judged), context);
  const since = savedSince(context, fitting);
  if (idle !== undefined && since.length === 0) return empty(idle);
  const room = { tokens: layer.budget ?? TOKENS, items: limit };
  const { hits, left } = fill(await asPassages([...fitting, ...since], query.newest), room, context.count);
  return recalledContent(hits, [
    { because: "in the transcript already", items: standing },
    { because: "fitting too little", items: unseen.length - fitting.length },
    { because: "without room", items: left },
  ]);
}

const ALL_SEEN = "nothing was searched: the request shows all that could be found";

/** How many memories are read, one portion after the other, to learn whether the model sees all of them anyway. */
const PORTIONS = [8, 512];

/** Whether a search could find anything that the model does not see anyway; everything else would be dropped. */
async function isAnyUnseen(context: Recalling): Promise<boolean> {
  const { store } = context;
  const [standing, isSeen] = [standingIn(context), seenIn(context)];
  const scopes = scopesOf(context);
  const known = lastUnseen(store);
  const key = JSON.stringify(context.scope);
  // What the model did not see last time it mostly does not see this time either.
  const last = known.get(key);
  const still = last && (await store.memory(last.scope, last.id));
  if (still !== undefined && still.supersededBy === undefined && !isSeen(still)) return true;
  known.delete(key);
  for (const most of PORTIONS) {
    const others = await store.memoriesBeside(scopes, standing, most);
    const found = others.find((one) => !isSeen(one));
    if (found !== undefined) {
      known.set(key, found);
      const [oldest] = known.keys();
      if (known.size > MOST_UNSEEN && oldest !== undefined) known.delete(oldest);
      return true;
    }
    if (others.length < most) return false;
  }
  return true;
}

/** By the contact's scope, a memory that no request showed when it was last asked for. */
const lastUnseen = cachePerStore<Pick<MemoryHit, "id" | "scope">>();
const MOST_UNSEEN = 1_000;

const scopesOf = ({ scope }: Pick<Recalling, "scope">): readonly Scope[] => [scope, { ...scope, contact: null }];

/** Adds a replaced memory after its replacement, if the message asks about the change. */
async function withReplaced(
  newest: string,
  hits: readonly MemoryHit[],
  { store }: Recalling,
): Promise<readonly MemoryHit[]> {
  if (!asksChange(newest)) return hits;
  const all: MemoryHit[] = [];
  for (const hit of hits) {
    const old = hit.supersedes && (await store.memory(hit.scope, hit.supersedes));
    all.push(hit, ...(old ? [{ ...hit, ...old }] : []));
  }
  return all;
}

interface RecallResult {
  /** The best first. */
  readonly unseen: readonly MemoryHit[];
  /** The same for the newest message alone. */
  readonly judged: readonly MemoryHit[];
  /** How many were found that the model sees anyway. */
  readonly standing: number;
}

const NOTHING: RecallResult = { unseen: [], judged: [], standing: 0 };

/** Memories saved since the others were frozen, newest first. Those that did not fit there are searched for like any other. */
function savedSince(context: Recalling, found: readonly MemoryHit[]): readonly RecalledMemory[] {
  const { scope, saved = [] } = context;
  if (saved.length === 0) return [];
  const isSeen = seenIn(context);
  const known = new Set(found.map(({ id }) => id));
  const frozen = new Set(context.frozen ?? frozenIn(context.epoch));
  const newest = saved.find(({ id }) => frozen.has(id))?.at ?? Number.POSITIVE_INFINITY;
  return saved
    .filter((one) => one.at >= newest && !known.has(one.id) && !isSeen(one) && isValidAt(one, context.at))
    .map((one) => ({ ...one, scope, session: one.id, place: 0 }));
}

/** Searches for the newest message; if that says too little by itself, for the earlier messages as well. */
async function find(query: RecallQuery, context: Recalling): Promise<RecallResult> {
  const { store, signal, at } = context;
  const scopes = scopesOf(context);
  const isSeen = seenIn(context);
  const happened = happenedFor(context);
  const search = async (withEarlier: boolean): Promise<RecallResult> => {
    const asked = { ...searchOf(query, withEarlier), at: dayOf(at), limit: LOOKED_AT, signal };
    const all = await searchOnce(store, scopes, asked);
    await setImmediate();
    const hits = withoutChatter(all.filter((hit) => isValidAt(hit, at) && happened(hit)));
    const unseen = hits.filter((hit) => !isSeen(hit));
    const standing = hits.length - unseen.length;
    const valid = new Set(withoutOutdated(query.newest, hits, isSeen));
    const left = unseen.filter((hit) => valid.has(hit));
    return { unseen: left, judged: left, standing };
  };
  const alone = await search(false);
  if (query.earlier.length === 0 || mostOf(alone.unseen) >= SPEAKS_FOR_ITSELF) return alone;
  // Only what fits this message alone opens the gate: whatever else was found, nothing would be shown.
  if (!mayShow(query.newest, alone.unseen)) return alone;
  return { ...(await search(true)), judged: alone.unseen };
}

/** The same search twice in a day is one search. */
const dayOf = (at: number): number => at - (at % 86_400_000);

/** Removes greetings, thanks and similar messages that stand alone; beside another hit of the same talk they are kept. */
function withoutChatter(hits: readonly MemoryHit[]): readonly MemoryHit[] {
  const placeOf = ({ scope, session }: MemoryHit, place: number): string => `${scope.contact}/${session}/${place}`;
  const chatter = new Set(hits.filter(isChatter));
  const telling = new Set(hits.flatMap((hit) => (chatter.has(hit) ? [] : [placeOf(hit, hit.place)])));
  const isBeside = (hit: MemoryHit): boolean => [-1, 1].some((step) => telling.has(placeOf(hit, hit.place + step)));
  return hits.filter((hit) => !chatter.has(hit) || isBeside(hit));
}

const mostOf = (hits: readonly MemoryHit[]): number => Math.max(0, ...hits.map(({ evidence }) => evidence));

function recalledContent(hits: readonly RecalledMemory[], all: readonly LeftOut[]): LayerContent {
  const left = all.filter(({ items }) => items > 0);
  if (hits.length > 0) return { kind: "items", items: itemsOf(hits), ...(left.length > 0 && { left }) };
  const found = left.map(({ because, items }) => `${items} ${because}`).join(", ");
  return empty(found === "" ? "no memory fits the message" : `no memory fits the message (${found})`);
}

function empty(because: string): LayerContent {
  return { kind: "empty", because };
}

/** How much of a message is searched for; a longer one rarely has its best part beyond this. */
const LONGEST = 4_000;
const LONGEST_EARLIER = 1_000;

/** How many earlier messages are part of the query, and the weight of each. */
const EARLIER = 3;
const EARLIER_WEIGHT = 0.6;

/** A turn's query to its memories. */
interface RecallQuery {
  /** The newest message; empty if the turn has none. */
  readonly newest: string;
  /** The same contact's earlier messages, newest first, as far as they are still in the transcript. */
  readonly earlier: readonly string[];
  readonly asker: string;
}

/**
 * Law 12: only messages, from this turn's events and from the transcript; recalled memories, reminders and the prompt are never part of the
 * query.
 */
function recallQuery({ scope, events, epoch }: Pick<GatherContext, "scope" | "events" | "epoch">): RecallQuery {
  const messages = events.filter(({ kind }) => kind === "message");
  const name = messages.findLast((one) => one.name !== undefined)?.name;
  return {
    newest: cleaned(joinMessageTexts(messages), LONGEST),
    earlier: earlierOf(epoch).map((text) => cleaned(text, LONGEST_EARLIER)),
    asker: name ?? scope.contact,
  };
}

/** The search for the newest message, alone or with earlier ones. */
function searchOf({ newest, earlier, asker }: RecallQuery, withEarlier: boolean): Omit<MemoryQuery, "limit"> {
  const before = withEarlier ? earlier.map((text) => ({ text, weight: EARLIER_WEIGHT })) : [];
  return { texts: [{ text: newest, weight: 1 }, ...before], asker };
}

const joinMessageTexts = (messages: readonly StoredEvent[]): string =>
  messages.flatMap(({ content }) => content.flatMap(saidInPart)).join("\n");

// Cut first, so that the text to clean is never large.
const cleaned = (text: string, longest: number): string => clean(untrusted(truncateText(text, longest, ""))).trim();

function earlierOf(epoch: Epoch | undefined): readonly string[] {
  const found: string[] = [];
  for (const { message, turn } of epoch?.transcript.toReversed() ?? []) {
    if (turn === null || message.role !== "user") continue;
    const frames = message.parts.flatMap((part) => (part.type === "text" ? framesOf(part) : []));
    for (const { kind, text } of frames.toReversed()) {
      if (kind === "message" && text.trim() !== "" && found.push(text) === EARLIER) return found;
    }
  }
  return found;
}

/** Searches that are kept: a turn that is run again, or composed and then sent, asks the same. */
const MOST = 64;

const searched = cachePerStore<readonly MemoryHit[]>();

/** Searches, or gives the earlier result of the same search as long as nothing in its scopes has changed. */
async function searchOnce(
  store: Pick<Store, "searchMemories">,
  scopes: readonly Scope[],
  query: MemoryQuery,
): Promise<readonly MemoryHit[]> {
  const { signal, ...asked } = query;
  signal?.throwIfAborted();
  const known = searched(store);
  let key = "";
  const found = await store.searchMemories(scopes, query, (revisions) => {
    key = JSON.stringify([scopes, revisions, asked]);
    return known.get(key);
  });
  known.set(key, found);
  const [oldest] = known.keys();
  if (known.size > MOST && oldest !== undefined) known.delete(oldest);
  return found;
}

/** A separate map for each store. */
function cachePerStore<V>(): (store: object) => Map<string, V> {
  const all = new WeakMap<object, Map<string, V>>();
  return (store) => {
    const known = all.get(store) ?? new Map<string, V>();
    all.set(store, known);
    return known;
  };
}
