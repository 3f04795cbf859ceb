import { longestFitting, shorten } from "../../../guard/index.ts";
import {
  type Agent,
  type CountTokens,
  isValidAt,
  type Layer,
  type LayerContent,
  memoryScope,
  type Scope,
  type Trusted,
  trusted,
  untrusted,
} from "../../../protocol/index.ts";
import type { Store } from "../../../store/index.ts";
import type { GatherContext } from "../../../turn/sources/index.ts";
import { inAll, olderMemories } from "../wording.ts";
import { costOf, happenedFor, itemsOf, type RecalledMemory, seenIn } from "./items.ts";

/** How many extra are read: some may already be in the transcript, or no longer be valid. */
const SPARE = 20;

/** Their tokens in a request if the layer has no budget. */
const TOKENS = 300;

/** The bytes of a memory that suffice to see its subject. */
const ENOUGH = 240;

type Looking = GatherContext & { readonly store: Pick<Store, "memories" | "memoryStats"> };

/** The query, and its scope. */
interface RecentRequest {
  readonly agent: Agent;
  readonly layer: Layer;
  readonly limit: number;
}

/** The newest saved memories of the contact and for all contacts, regardless of the message. */
export async function recent({ agent, layer, limit }: RecentRequest, context: Looking): Promise<LayerContent> {
  const { newest, others } = await find(limit, context);
  if (newest.length === 0) return { kind: "empty", because: "nothing was saved that is not shown already" };
  const wanted = newest.slice(0, limit);
  const older = newest.length - wanted.length + others;
  const { count } = context;
  const room = (layer.budget ?? TOKENS) - (older > 0 ? count(introOf(agent, older)) : 0);
  const shown = shortenedTo(room, wanted, count);
  if (shown.length === 0) return { kind: "empty", because: "its budget has no room for a memory" };
  const left = older + wanted.length - shown.length;
  if (left === 0) return { kind: "items", items: itemsOf(shown) };
  const items = itemsOf(shown);
  return { kind: "items", intro: introOf(agent, left), items, left: [{ because: "not shown", items: left }] };
}

/** What may be shown, newest first, and how many saved memories were not looked at. */
interface RecentMemories {
  readonly newest: readonly RecalledMemory[];
  readonly others: number;
}

async function find(limit: number, context: Looking): Promise<RecentMemories> {
  const { scope, store, at } = context;
  const own: Scope = { ...scope, contact: null };
  const scopes = memoryScope(scope).contact === null ? [own] : [scope, own];
  const lists = await Promise.all(
    scopes.map(async (one) => {
      const [memories, stats] = await Promise.all([store.memories(one, limit + SPARE), store.memoryStats(one)]);
      const kept = stats.reduce((sum, { kind, memories }) => sum + (kind === "message" ? 0 : memories), 0);
      const shown = memories.map((memory) => ({ ...memory, scope: one, session: memory.id, place: 0 }));
      return { shown, others: Math.max(0, kept - memories.length) };
    }),
  );
  const isSeen = seenIn(context);
  const happened = happenedFor(context);
  const newest = lists
    .flatMap(({ shown }) => shown)
    .filter((memory) => isValidAt(memory, at) && !isSeen(memory) && happened(memory))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  return { newest, others: lists.reduce((sum, { others }) => sum + others, 0) };
}

/** As many of the newest as fit. Long ones are cut, all to the same length, but never to so little that they say nothing. */
function shortenedTo(
  tokens: number,
  memories: readonly RecalledMemory[],
  count: CountTokens,
): readonly RecalledMemory[] {
  const longest = Math.max(...memories.map(({ content }) => content.length));
  for (let kept = memories; kept.length > 0; kept = kept.slice(0, -1)) {
    const fits = (length: number): boolean =>
      kept.reduce((sum, one) => sum + costOf(beginningOf(one, length), count), 0) <= tokens;
    const length = longestFitting(longest, fits);
    const isEnough = ({ content }: RecalledMemory): boolean =>
      content.length <= length || Buffer.byteLength(content.slice(0, length)) >= ENOUGH;
    if (kept.every(isEnough) && fits(length)) return kept.map((one) => beginningOf(one, length));
  }
  return [];
}

/** A memory that is longer says how long it is. */
function beginningOf(memory: RecalledMemory, length: number): RecalledMemory {
  const { content } = memory;
  if (content.length <= length) return memory;
  return { ...memory, content: untrusted(`${shorten(content, length)} ${inAll(content.length)}`) };
}

/** How many more there are, and by which of its tools the agent finds them. */
const introOf = (agent: Agent, older: number): Trusted => trusted(olderMemories(older, finderOf(agent)));

/** The agent's own tool for finding memories. */
export const finderOf = ({ tools }: Agent): string | undefined => tools.find((name) => FINDERS.has(name));

const FINDERS: ReadonlySet<string> = new Set(["recall", "memory_search"]);
