import type { AttributedRequest } from "./attribute.ts";
import type { CacheRules } from "./seen.ts";

/** What it would have cost to write a thread's beginnings to the cache before its cold requests. In tokens of plain input. */
export interface Prewarming {
  /** Requests that found nothing kept: the first one, and those after a long pause. */
  readonly starts: number;
  /** What these wrote. */
  readonly tokens: number;
  /** More than was paid: what is written ahead is read once more. */
  readonly cost: number;
  /** For a write ahead that no request follows in time. */
  readonly unused: number;
}

/** None for a cache that is not written at breakpoints, or where nothing was cold. Pure. */
export function prewarming(
  requests: readonly AttributedRequest[],
  { kind, multipliers }: CacheRules,
): Prewarming | undefined {
  if (kind !== "lookback" && kind !== "exact") return undefined;
  const written = requests.flatMap(({ base, causes, billed, predicted }) => {
    const { write } = billed ?? predicted;
    // A small part of what was written is only counted otherwise by the provider.
    const isCold = base === undefined || causes.some(({ cause, tokens }) => cause === "cold" && 2 * tokens > write);
    return isCold && write > 0 ? [write] : [];
  });
  if (written.length === 0) return undefined;
  const tokens = written.reduce((sum, write) => sum + write, 0);
  return { starts: written.length, tokens, cost: tokens * multipliers.read, unused: tokens * multipliers.write5m };
}
