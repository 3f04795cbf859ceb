import { isValidAt, type Layer, type LayerContent, memoryScope, type Scope } from "../protocol/index.ts";
import type { GatherContext } from "./context.ts";
import { fill, itemsOf } from "./recall-items.ts";
import { happenedFor, seenIn } from "./seen.ts";

/** So many more are looked at: some may stand in the transcript, or be so no more. */
const SPARE = 20;

/** Tokens of them in a request where the layer has no budget. */
const TOKENS = 300;

/** The newest of what was saved of the contact and for all contacts, whatever the message is about. */
export async function recent(layer: Layer, limit: number, context: GatherContext): Promise<LayerContent> {
  const { scope, store, at, count } = context;
  const own: Scope = { ...scope, contact: null };
  const scopes = memoryScope(scope).contact === null ? [own] : [scope, own];
  const isSeen = seenIn(context);
  const happened = happenedFor(context);
  const lists = await Promise.all(
    scopes.map(async (one) =>
      (await store.memories(one, limit + SPARE)).map((memory) => ({
        ...memory,
        scope: one,
        session: memory.id,
        place: 0,
      })),
    ),
  );
  const newest = lists
    .flat()
    .filter((memory) => isValidAt(memory, at) && !isSeen(memory) && happened(memory))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  if (newest.length === 0) return { kind: "empty", because: "nothing was saved that is not shown already" };
  const { hits } = fill(newest, { tokens: layer.budget ?? TOKENS, items: limit }, count);
  const tooLong = Math.min(limit, newest.length) - hits.length;
  const left = tooLong > 0 ? [{ because: "without room", items: tooLong }] : [];
  return { kind: "items", items: itemsOf(hits), ...(left.length > 0 && { left }) };
}
