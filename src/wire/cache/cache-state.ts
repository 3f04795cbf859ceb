import type { Bill, Multipliers, SeenRequest } from "./seen.ts";

/** The content of a cache. An entry can be read once the response of its writer has begun, and until it expires. */
export interface Entries {
  readonly has: (id: number, at: number) => boolean;
  /** Holds it for so long from the request's start; what is held longer already stays so. */
  readonly hold: (id: number, request: SeenRequest, lifetime: number) => void;
  /** Renews an entry for its original lifetime. Has no effect on one that is not held. */
  readonly refresh: (id: number, request: SeenRequest) => void;
}

interface Entry {
  readonly ready: number;
  readonly lifetime: number;
  readonly until: number;
}

export function entries(): Entries {
  const held = new Map<number, Entry>();
  const alive = (id: number, at: number): Entry | undefined => {
    const entry = held.get(id);
    return entry !== undefined && at < entry.until ? entry : undefined;
  };
  const hold = (id: number, { at, took = 0 }: SeenRequest, lifetime: number): void => {
    const before = alive(id, at);
    const longest = Math.max(lifetime, before?.lifetime ?? 0);
    const ready = Math.min(at + took, before?.ready ?? Number.POSITIVE_INFINITY);
    held.set(id, { ready, lifetime: longest, until: at + longest });
  };
  return {
    has: (id, at) => (alive(id, at)?.ready ?? Number.POSITIVE_INFINITY) <= at,
    hold,
    refresh: (id, request) => {
      const entry = alive(id, request.at);
      if (entry !== undefined) hold(id, request, entry.lifetime);
    },
  };
}

/** A request with what a cache asks of it: `ids` and `sums` cover everything up to and including a block. */
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
    let isSaid = request.setting === undefined;
    for (const { key, tokens, role } of request.blocks) {
      if (!isSaid && role !== undefined) {
        isSaid = true;
        id = numberOf(id, `setting ${request.setting}`);
      }
      id = numberOf(id, key);
      total += tokens;
      ids.push(id);
      sums.push(total);
    }
    return { request, ids, sums, total };
  };
}

/** A bill in the making: what is neither read nor written is input. */
export type Parts = Pick<Bill, "read" | "write5m" | "write1h" | "problems">;

export const UNTOUCHED: Parts = { read: 0, write5m: 0, write1h: 0, problems: [] };

/** The bill of a request of this many tokens. */
export function billOf(total: number, { read, write5m, write1h, problems }: Parts, multipliers: Multipliers): Bill {
  const input = total - read - write5m - write1h;
  const cost = input + read * multipliers.read + write5m * multipliers.write5m + write1h * multipliers.write1h;
  return { input, read, write5m, write1h, cost, problems };
}
