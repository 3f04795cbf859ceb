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

/** More than so many are never frozen, and not read. */
const MOST = 1_000;

/** What is to be known of the turn's saved memories before anything is recalled. */
export interface SavedMemory {
  /** What would stand at the start of an epoch that the turn opens. None: there is nothing to choose about. */
  readonly frozen?: FrozenMemory;
  /** What was saved; nothing where that is too much to read. The newest first. */
  readonly saved: readonly Memory[];
  /**
   * Something that stands frozen in the running epoch was forgotten: it must not be sent again. What the epoch told on the way
   * must not either, and is looked for where the transcript is known.
   */
  readonly forgotten: boolean;
}

interface SavedContext {
  readonly scope: ContactScope;
  readonly epoch: Epoch | undefined;
  readonly store: Pick<Store, "savedMemories" | "memory">;
  readonly count: CountTokens;
  /** What a token costs that is read from the provider's cache, where one that it reads again costs 1. */
  readonly read: number;
  /** Tokens that may be sent. */
  readonly limit: number;
  /** The thread's time: what is not so then does not stand anywhere. */
  readonly at: number;
  /** What has not happened where the thread forked off. */
  readonly undone?: ReadonlySet<string>;
}

/** Reads what was saved in the contact's and in the agent's own scope, and says whether it stands frozen or is recalled. */
export async function savedMemory(agent: Agent, context: SavedContext): Promise<SavedMemory> {
  const layer = agent.layers.find(({ source }) => source.kind === "recall");
  if (layer === undefined || (agent.recall !== "auto" && agent.recall !== "frozen")) return NOTHING;
  const scopes: readonly Scope[] = [context.scope, { ...context.scope, contact: null }];
  const all = await context.store.savedMemories(scopes, MOST);
  const happened = happenedFor(context);
  const valid = (all ?? []).filter((one) => isValidAt(one, context.at) && happened(one));
  const saved = valid.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  const forgotten = await isForgotten(scopes, saved, context);
  if (all === undefined)
    return { saved, forgotten, frozen: { layer, items: [], because: `more than ${MOST} memories are saved` } };
  if (saved.length === 0) return { saved, forgotten };
  return { saved, forgotten, frozen: frozenOf(agent, layer, { ...context, saved }) };
}

const NOTHING: SavedMemory = { saved: [], forgotten: false };

/** What is gone, and what something else replaced: it would stand beside its successor, as if both were so. */
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
  { saved, count, ...context }: SavedContext & { readonly saved: readonly Memory[] },
): FrozenMemory {
  const items = saved.map(itemOf);
  const sizes = items.map(({ kind, trust, at, text }) => count(frame({ kind, trust, at }, text)));
  const stored = sizes.reduce((sum, size) => sum + size, 0);
  const most = {
    memories: layer.source.kind === "recall" ? layer.source.limit : 0,
    tokens: layer.budget ?? TOKENS,
  };
  const perTurn = Math.min(most.tokens, Math.ceil((stored / items.length) * Math.min(most.memories, items.length)));
  // Wanted in any case, it is held to the layer's limits and the eighth alone.
  const read = agent.recall === "frozen" ? 0 : context.read;
  const choice = freezeChoice({ stored, memories: items.length, most, perTurn, read, limit: context.limit });
  return { layer, items: choice.freezes ? items : [], because: choice.because };
}

/** A saved memory as it stands in a request. */
export const itemOf = ({ id, content, trust, at }: Memory): ContentItem & Pick<Memory, "id"> => ({
  id,
  kind: "memory",
  text: content,
  trust,
  at,
});

/** What decides whether memories stand frozen: tokens throughout, but for numbers of memories. */
export interface FreezeCase {
  /** Of all that was saved, as it would stand in the request; and how many memories that are. */
  readonly stored: number;
  readonly memories: number;
  /** What the layer may show at the most, however it comes in. */
  readonly most: { readonly memories: number; readonly tokens: number };
  /** What recall would send in each turn instead. */
  readonly perTurn: number;
  /** What a token costs that is read from the provider's cache, where one that it reads again costs 1. */
  readonly read: number;
  /** All that may be sent. */
  readonly limit: number;
}

/** Of what may be sent, at most so much is spent on memories that the message may have nothing to do with. */
const LARGEST_SHARE = 1 / 8;

/** Whether the memories stand frozen, and why, in words for the ledger. */
interface FreezeChoice {
  readonly freezes: boolean;
  readonly because: string;
}

/**
 * What stands frozen is read from the cache in each turn, at r of its tokens; what is recalled is sent again, at all of its own.
 * So it pays to freeze S stored tokens instead of recalling D a turn as long as r S < D. The layer's limit and budget hold for
 * what is frozen, too: where all of it is more, each message is searched for instead. Pure.
 */
export function freezeChoice({ stored, memories, most, perTurn, read, limit }: FreezeCase): FreezeChoice {
  const share = Math.floor(limit * LARGEST_SHARE);
  const says = `${stored} tokens stored, ${perTurn} a turn by recall, a cached token costs ${read}`;
  const not = (why: string): FreezeChoice => ({ freezes: false, because: `${why}: ${says}` });
  if (memories > most.memories) return not(`${memories} memories are saved and the layer's limit is ${most.memories}`);
  if (stored > most.tokens) return not(`more than the layer's budget of ${most.tokens} tokens`);
  if (stored > share) return not(`more than the ${share} tokens that may be frozen`);
  if (read * stored >= perTurn) return not("recall costs less");
  return { freezes: true, because: `frozen costs less: ${says}` };
}
