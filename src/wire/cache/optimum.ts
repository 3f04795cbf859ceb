import type { SeenRequest } from "./seen.ts";

/** The cost of a read and of a write, in tokens of plain input. */
export interface ReadWrite {
  readonly r: number;
  readonly w: number;
}

/**
 * The least that a thread's requests could cost, each for itself and from their content alone: a block that an earlier request
 * held costs r, a new one that a later request holds again w, one that never comes again 1. It knows no lifetime and no minimum.
 */
export function optimum(requests: readonly SeenRequest[], { r, w }: ReadWrite): readonly number[] {
  const later = mostLater(requests);
  const before = new Set<string>();
  return requests.map(({ blocks }, n) => {
    const nth = new Map<string, number>();
    let cost = 0;
    for (const { key, tokens } of blocks) {
      const times = (nth.get(key) ?? 0) + 1;
      nth.set(key, times);
      const isKept = times <= (later[n]?.get(key) ?? 0);
      cost += tokens * (before.has(key) ? r : isKept ? w : 1);
    }
    for (const { key } of blocks) before.add(key);
    return cost;
  });
}

/**
 * For each request, how often a later one holds a block. Told for the blocks only that are new there: the rest is read anyway.
 */
function mostLater(requests: readonly SeenRequest[]): readonly ReadonlyMap<string, number>[] {
  const firstIn = new Map<string, number>();
  requests.forEach(({ blocks }, n) => {
    for (const { key } of blocks) if (!firstIn.has(key)) firstIn.set(key, n);
  });
  const most = requests.map(() => new Map<string, number>());
  requests.forEach(({ blocks }, n) => {
    const times = new Map<string, number>();
    for (const { key } of blocks) times.set(key, (times.get(key) ?? 0) + 1);
    for (const [key, count] of times) {
      const first = firstIn.get(key) ?? n;
      const known = most[first];
      if (first < n && known !== undefined) known.set(key, Math.max(count, known.get(key) ?? 0));
    }
  });
  return most;
}
