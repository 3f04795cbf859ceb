import {
  type Agent,
  frozenIn,
  type Layer,
  type LayerContent,
  type LeftOut,
  type MemoryId,
  type Scope,
} from "../protocol/index.ts";
import type { MemoryHit } from "../stores/index.ts";
import type { GatherContext } from "./context.ts";
import { SPEAKS_FOR_ITSELF, worthShowing } from "./recall-gate.ts";
import { fill, itemsOf } from "./recall-items.ts";
import { type RecallQuery, recallQuery, searchOf } from "./recall-query.ts";
import { searchOnce } from "./search-cache.ts";
import { smallTalk } from "./small-talk.ts";

/** So many hits are looked at: most may stand in the transcript. */
const LOOKED_AT = 100;

/** Tokens of memories in a request where the layer has no budget. */
const TOKENS = 600;

type Recalling = GatherContext & { readonly signal: AbortSignal };

/**
 * The memories that fit what was just written, the best first, of the contact's and of the agent's own. What the model sees
 * anyway is left out: what was said in turns that still stand, and what stands at the start of the transcript.
 */
export async function recall(agent: Agent, layer: Layer, limit: number, context: Recalling): Promise<LayerContent> {
  if (agent.recall === "tools" || agent.recall === "none")
    return empty(`recall is set to ${agent.recall} for this agent`);
  const query = recallQuery(context);
  if (query.newest === "") return empty("no message waits: there is nothing to search for");
  const idle = smallTalk(query.newest);
  if (idle !== undefined) return empty(idle);
  const { unseen, standing, judged } = await find(query, context);
  const fitting = worthShowing(unseen, judged);
  const room = { tokens: layer.budget ?? TOKENS, items: limit };
  const { hits, left } = fill(fitting, room, context.count);
  return contentOf(hits, [
    { because: "stands in the transcript", items: standing },
    { because: "fits too little", items: unseen.length - fitting.length },
    { because: "no room", items: left },
  ]);
}

interface Found {
  /** The best first. */
  readonly unseen: readonly MemoryHit[];
  /** The same for what was just written alone. */
  readonly judged: readonly MemoryHit[];
  /** How many were found that the model sees anyway. */
  readonly standing: number;
}

/** Searches for what was written; where that says too little by itself, for what was written before it as well. */
async function find(query: RecallQuery, context: Recalling): Promise<Found> {
  const { scope, store, signal } = context;
  const scopes: readonly Scope[] = [scope, { ...scope, contact: null }];
  const stands = standingIn(context);
  const search = async (withEarlier: boolean): Promise<Found> => {
    const asked = { ...searchOf(query, withEarlier), limit: LOOKED_AT, signal };
    const hits = await searchOnce(store, scopes, asked);
    const unseen = hits.filter((hit) => !stands(hit));
    return { unseen, judged: unseen, standing: hits.length - unseen.length };
  };
  const alone = await search(false);
  if (query.earlier.length === 0 || mostOf(alone.unseen) >= SPEAKS_FOR_ITSELF) return alone;
  return { ...(await search(true)), judged: alone.unseen };
}

const mostOf = (hits: readonly MemoryHit[]): number => Math.max(0, ...hits.map(({ evidence }) => evidence));

/** Whether the model sees a memory anyway: it came with a turn that still stands, this one too, or stands at the start. */
function standingIn({ epoch, turn, events }: GatherContext): (hit: MemoryHit) => boolean {
  const turns = new Set(epoch?.transcript.map((one) => one.turn) ?? []);
  const own = new Set<string>(events.map(({ id }) => id));
  const frozen = new Set<MemoryId>(frozenIn(epoch));
  return ({ id, turn: from, sources = [] }) =>
    frozen.has(id) ||
    (from !== undefined && (from === turn || turns.has(from))) ||
    sources.some((source) => own.has(source));
}

function contentOf(hits: readonly MemoryHit[], all: readonly LeftOut[]): LayerContent {
  const left = all.filter(({ items }) => items > 0);
  if (hits.length > 0) return { kind: "items", items: itemsOf(hits), ...(left.length > 0 && { left }) };
  const found = left.map(({ because, items }) => `${items} ${because}`).join(", ");
  return empty(found === "" ? "no memory fits the message" : `no memory fits the message (${found})`);
}

function empty(because: string): LayerContent {
  return { kind: "empty", because };
}
