import { setImmediate } from "node:timers/promises";
import { asksChange } from "../../memory/index.ts";
import {
  type Agent,
  isValidAt,
  type Layer,
  type LayerContent,
  type LeftOut,
  type Scope,
} from "../../protocol/index.ts";
import type { MemoryHit } from "../../store/index.ts";
import type { GatherContext } from "./context.ts";
import { SPEAKS_FOR_ITSELF, withoutOutdated, worthShowing } from "./recall-gate.ts";
import { asPassages, fill, itemsOf, type Shown } from "./recall-items.ts";
import { type RecallQuery, recallQuery, searchOf } from "./recall-query.ts";
import { searchOnce } from "./search-cache.ts";
import { happenedFor, seenIn } from "./seen.ts";
import { isChatter, smallTalk } from "./small-talk.ts";

/** So many hits are looked at: most may stand in the transcript. */
const LOOKED_AT = 100;

/** Tokens of memories in a request where the layer has no budget. */
export const TOKENS = 600;

type Recalling = GatherContext & { readonly signal: AbortSignal };

/**
 * The memories that fit what was just written, the best first, of the contact's and of the agent's own. What the model sees
 * anyway is left out: what was said in turns that still stand, and what stands at the start of the transcript.
 */
export async function recall(agent: Agent, layer: Layer, limit: number, context: Recalling): Promise<LayerContent> {
  if (agent.recall === "tools" || agent.recall === "none")
    return empty(`recall is set to ${agent.recall} for this agent`);
  const query = recallQuery(context);
  const idle = query.newest === "" ? "no message waits: there is nothing to search for" : smallTalk(query.newest);
  const { unseen, standing, judged } = idle === undefined ? await find(query, context) : NOTHING;
  const fitting = await withReplaced(query.newest, worthShowing(query.newest, unseen, judged), context);
  const since = savedSince(context, fitting);
  if (idle !== undefined && since.length === 0) return empty(idle);
  const room = { tokens: layer.budget ?? TOKENS, items: limit };
  const { hits, left } = fill(await asPassages([...fitting, ...since], query.newest), room, context.count);
  return contentOf(hits, [
    { because: "in the transcript already", items: standing },
    { because: "fitting too little", items: unseen.length - fitting.length },
    { because: "without room", items: left },
  ]);
}

/** Behind what took the place of another memory that one, where the message asks about the change. */
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

interface Found {
  /** The best first. */
  readonly unseen: readonly MemoryHit[];
  /** The same for what was just written alone. */
  readonly judged: readonly MemoryHit[];
  /** How many were found that the model sees anyway. */
  readonly standing: number;
}

const NOTHING: Found = { unseen: [], judged: [], standing: 0 };

/** What was saved since the rest was frozen, where anything is: with it all that was saved is known. The newest first. */
function savedSince(context: Recalling, found: readonly MemoryHit[]): readonly Shown[] {
  const { scope, saved = [] } = context;
  if (saved.length === 0) return [];
  const isSeen = seenIn(context);
  const known = new Set(found.map(({ id }) => id));
  return saved
    .filter((one) => !known.has(one.id) && !isSeen(one) && isValidAt(one, context.at))
    .map((one) => ({ ...one, scope, session: one.id, place: 0 }));
}

/** Searches for what was written; where that says too little by itself, for what was written before it as well. */
async function find(query: RecallQuery, context: Recalling): Promise<Found> {
  const { scope, store, signal, at } = context;
  const scopes: readonly Scope[] = [scope, { ...scope, contact: null }];
  const isSeen = seenIn(context);
  const happened = happenedFor(context);
  const search = async (withEarlier: boolean): Promise<Found> => {
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
  return { ...(await search(true)), judged: alone.unseen };
}

/** What is searched for twice in a day is the same search. */
const dayOf = (at: number): number => at - (at % 86_400_000);

/** Without greetings, thanks and the like that stand alone: beside something found, they are a word of the same talk. */
function withoutChatter(hits: readonly MemoryHit[]): readonly MemoryHit[] {
  const placeOf = ({ scope, session }: MemoryHit, place: number): string => `${scope.contact}/${session}/${place}`;
  const chatter = new Set(hits.filter(isChatter));
  const telling = new Set(hits.flatMap((hit) => (chatter.has(hit) ? [] : [placeOf(hit, hit.place)])));
  const isBeside = (hit: MemoryHit): boolean => [-1, 1].some((step) => telling.has(placeOf(hit, hit.place + step)));
  return hits.filter((hit) => !chatter.has(hit) || isBeside(hit));
}

const mostOf = (hits: readonly MemoryHit[]): number => Math.max(0, ...hits.map(({ evidence }) => evidence));

function contentOf(hits: readonly Shown[], all: readonly LeftOut[]): LayerContent {
  const left = all.filter(({ items }) => items > 0);
  if (hits.length > 0) return { kind: "items", items: itemsOf(hits), ...(left.length > 0 && { left }) };
  const found = left.map(({ because, items }) => `${items} ${because}`).join(", ");
  return empty(found === "" ? "no memory fits the message" : `no memory fits the message (${found})`);
}

function empty(because: string): LayerContent {
  return { kind: "empty", because };
}
