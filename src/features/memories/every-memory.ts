import type { Memory, MemoryId, Scope } from "../../protocol/index.ts";
import type { MemoryListing, Store } from "../../store/index.ts";

/** How many are read at once. */
const PAGE = 1_000;

/** Every memory that a listing gives, newest first, a page at a time. */
export async function* everyMemory(
  store: Pick<Store, "memories">,
  scope: Scope,
  listing: MemoryListing,
): AsyncGenerator<Memory> {
  let before = listing.before;
  let size = PAGE;
  // The next page begins at the last one's oldest instant: memories already seen at that instant are skipped.
  let seen: ReadonlySet<MemoryId> = new Set();
  for (;;) {
    const page = await store.memories(scope, size, { ...listing, ...(before !== undefined && { before }) });
    for (const memory of page) if (!seen.has(memory.id)) yield memory;
    const last = page.at(-1);
    if (last === undefined || page.length < size) return;
    const stands = before === last.at + 1;
    seen = new Set(page.filter(({ at }) => at === last.at).map(({ id }) => id));
    before = last.at + 1;
    // More of one instant than a page holds.
    if (stands) size *= 2;
  }
}
