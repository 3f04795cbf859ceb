import { frame } from "../../../guard/index.ts";
import {
  type Agent,
  type ContactScope,
  type ContentItem,
  type CountTokens,
  type Epoch,
  type FrozenMemory,
  frozenIn,
  isValidAt,
  type Layer,
  type Memory,
  type Scope,
} from "../../../protocol/index.ts";
import type { Store } from "../../../store/index.ts";
import { happenedFor } from "./items.ts";
import { TOKENS } from "./recall.ts";

/**
 * How many memories of a scope are read: beyond that, only the newest and the most often saved, since the budget has no room for others.
 */
const MOST = 1_000;

/** What a turn must know about saved memories before anything is recalled. */
export interface SavedMemory {
  /** What would be frozen at the start of an epoch that the turn opens. If absent, there is nothing to choose. */
  readonly frozen?: FrozenMemory;
  /** The saved memories, newest first; only a part if there are very many. */
  readonly saved: readonly Memory[];
  /**
   * A memory frozen in the running epoch was forgotten: it must not be sent again. The same holds for memories shown later in the epoch,
   * which are looked up once the transcript is known.
   */
  readonly forgotten: boolean;
}

interface SavedContext {
  readonly scope: ContactScope;
  readonly epoch: Epoch | undefined;
  readonly store: Pick<Store, "savedMemories" | "memory">;
  readonly count: CountTokens;
  /** The price of a token read from the provider's cache, relative to an uncached one at 1. */
  readonly read: number;
  /** Tokens that may be sent. */
  readonly limit: number;
  /** The thread's time: memories not valid then are not shown. */
  readonly at: number;
  /** Sources that do not exist on the thread because it forked off earlier. */
  readonly undone?: ReadonlySet<string>;
}

/** Reads the saved memories of the contact's and the agent's own scope, and decides whether they are frozen or recalled. */
export async function savedMemory(agent: Agent, context: SavedContext): Promise<SavedMemory> {
  const layer = agent.layers.find(({ source }) => source.kind === "recall");
  if (layer === undefined || (agent.recall !== "auto" && agent.recall !== "frozen")) return NOTHING;
  const scopes: readonly Scope[] = [context.scope, { ...context.scope, contact: null }];
  const { saved: all, more } = await context.store.savedMemories(scopes, MOST);
  const happened = happenedFor(context);
  const valid = all.filter((one) => isValidAt(one, context.at) && happened(one));
  const saved = valid.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  const forgotten = await isForgotten(scopes, saved, context);
  if (saved.length === 0) return { saved, forgotten };
  return { saved, forgotten, frozen: frozenOf(agent, layer, { ...context, saved, more }) };
}

const NOTHING: SavedMemory = { saved: [], forgotten: false };

/** Deleted, or replaced by another memory: otherwise both would appear to be true. */
async function isForgotten(
  scopes: readonly Scope[],
  saved: readonly Memory[],
  { epoch, store }: SavedContext,
): Promise<boolean> {
  const there = new Set(saved.map(({ id }) => id));
  for (const id of frozenIn(epoch)) {
    if (there.has(id)) continue;
    const found = await Promise.all(scopes.map((scope) => store.memory(scope, id)));
    if (found.every((one) => one === undefined || one.supersededBy !== undefined)) return true;
  }
  return false;
}

function frozenOf(
  agent: Agent,
  layer: Layer,
  { saved, more, count, ...context }: SavedContext & { readonly saved: readonly Memory[]; readonly more: number },
): FrozenMemory {
  const sized = saved.map((memory) => {
    const { kind, trust, at, text } = itemOf(memory);
    return { memory, tokens: count(frame({ kind, trust, at }, text)) };
  });
  const stored = sized.reduce((sum, { tokens }) => sum + tokens, 0);
  const shown = Math.min(layer.source.kind === "recall" ? layer.source.limit : 0, saved.length);
  const perTurn = Math.min(layer.budget ?? TOKENS, Math.ceil((stored / saved.length) * shown));
  // Without a cache, frozen memories are paid for in each turn: then they may cost no more than recall would send.
  const isCached = agent.recall === "frozen" || context.read < 1;
  const budget = Math.min(MOST_FROZEN, Math.floor(context.limit * LARGEST_SHARE), isCached ? MOST_FROZEN : perTurn);
  const chosen = freezeChoice(sized, budget);
  const tokens = chosen.reduce((sum, one) => sum + one.tokens, 0);
  const rest = saved.length + more - chosen.length;
  const because = `${chosen.length} of ${saved.length + more} saved memories, ${tokens} of ${budget} tokens${rest === 0 ? "" : "; the others are searched for"}`;
  // In the order in which they were saved, the newest first.
  const items = sized.filter((one) => chosen.includes(one)).map(({ memory }) => itemOf(memory));
  return { layer, items, because, ...(rest > 0 && { others: rest }) };
}

/** A saved memory as it appears in a request. */
export const itemOf = ({ id, content, trust, at }: Memory): ContentItem & Pick<Memory, "id"> => ({
  id,
  kind: "memory",
  text: content,
  trust,
  at,
});

/** The most tokens of saved memories at the start of a conversation. */
const MOST_FROZEN = 3_000;
/** Of what may be sent, at most so much is spent on memories that the message may have nothing to do with. */
const LARGEST_SHARE = 1 / 8;

/** A saved memory and its tokens in the request. */
interface SizedMemory {
  readonly memory: Pick<Memory, "at" | "support">;
  readonly tokens: number;
}

/**
 * Which saved memories are frozen: those saved most often first, then the newest, as long as they fit a budget of tokens. Their number does
 * not matter: one more never disables the others. Pure.
 */
export function freezeChoice<T extends SizedMemory>(sized: readonly T[], budget: number): readonly T[] {
  let left = budget;
  return sized
    .toSorted(({ memory: a }, { memory: b }) => b.support - a.support || b.at - a.at)
    .filter(({ tokens }) => {
      if (tokens > left) return false;
      left -= tokens;
      return true;
    });
}
