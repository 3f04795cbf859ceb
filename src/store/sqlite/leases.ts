import type { ClaimRequest } from "../store.ts";
import type { Row } from "../tables.ts";

/** Who holds the thread, if the lease still counts. The asker's own counts too: one holder may run two tasks at once. */
export function lease(
  row: Row<"thread">,
  request: Pick<ClaimRequest, "now" | "alive">,
): { holder: string; until: number } | undefined {
  const { holder, lease_until: until } = row;
  if (holder === null || until === null || until <= request.now) return undefined;
  return request.alive(holder) ? { holder, until } : undefined;
}
