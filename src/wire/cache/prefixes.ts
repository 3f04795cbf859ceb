import type { SeenRequest } from "./seen.ts";

/** A request with what a cache asks of it: `ids` and `sums` stand for all up to and including a block. */
export interface Walk {
  readonly request: SeenRequest;
  /** Equal beginnings, equal numbers. */
  readonly ids: readonly number[];
  readonly sums: readonly number[];
  readonly total: number;
}

/** Numbers the beginnings of requests: two requests share a number exactly where all up to there is the same. */
export function prefixNumbers(): (request: SeenRequest) => Walk {
  // What follows the beginning of that number. A chain of maps: long keys made of a number and a block would be slower.
  const next: Map<string, number>[] = [new Map()];
  const numberOf = (before: number, key: string): number => {
    const known = next[before]?.get(key);
    if (known !== undefined) return known;
    next[before]?.set(key, next.length);
    return next.push(new Map()) - 1;
  };
  return (request) => {
    const ids: number[] = [];
    const sums: number[] = [];
    let total = 0;
    let id = numberOf(0, request.model);
    for (const { key, tokens } of request.blocks) {
      id = numberOf(id, key);
      total += tokens;
      ids.push(id);
      sums.push(total);
    }
    return { request, ids, sums, total };
  };
}
