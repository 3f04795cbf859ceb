import type { SeenRequest } from "./seen.ts";

/** What a cache holds. A beginning that is held can be read once the response of its writer has begun, and until its time is over. */
export interface Entries {
  readonly has: (id: number, at: number) => boolean;
  /** Holds it for so long from the request's start; what is held longer already stays so. */
  readonly hold: (id: number, request: SeenRequest, lifetime: number) => void;
  /** Holds on for as long as it was written for. Nothing happens to what is not held. */
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
