import type { MemoryQuery, Scope } from "../../protocol/index.ts";
import type { MemoryHit, Store } from "../../store/index.ts";

/** Searches that are kept: a turn that is run again, or composed and then sent, asks the same. */
const MOST = 64;

type Searching = Pick<Store, "searchMemories" | "memoryRevisions">;

const kept = new WeakMap<object, Map<string, readonly MemoryHit[]>>();

/** Searches, or gives what the same search gave before, as long as nothing in its scopes has changed. */
export async function searchOnce(
  store: Searching,
  scopes: readonly Scope[],
  query: MemoryQuery,
): Promise<readonly MemoryHit[]> {
  const { signal, ...asked } = query;
  const revisions = await store.memoryRevisions(scopes);
  signal?.throwIfAborted();
  const key = JSON.stringify([scopes, revisions, asked]);
  const known = cacheOf(store);
  const before = known.get(key);
  if (before !== undefined) return before;
  const found = await store.searchMemories(scopes, query);
  known.set(key, found);
  const [oldest] = known.keys();
  if (known.size > MOST && oldest !== undefined) known.delete(oldest);
  return found;
}

function cacheOf(store: object): Map<string, readonly MemoryHit[]> {
  const known = kept.get(store) ?? new Map<string, readonly MemoryHit[]>();
  kept.set(store, known);
  return known;
}
