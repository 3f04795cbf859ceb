import type { Count, Work } from "./work.ts";

/** What an engine would send: its texts in order. */
export interface Sent {
  readonly texts: readonly string[];
  /** Whether the newest message of the user is among them, whole or cut. */
  readonly hasMessage: boolean;
}

/** A conversation that an engine has been given. */
export interface Opened {
  /** Gets ready for a request, as far as that is not the engine's work: reads what was stored. What it returns is timed. */
  next(message: string): () => unknown;
  /** What came of it, for counting. Not timed. */
  sent(made: unknown, message: string): Sent;
}

/** An engine in one way of using it. */
export interface Engine {
  readonly name: string;
  /** What the engine keeps from one request to the next begins here. Timed where the case is cold. */
  open(work: Work): Opened;
}

/** Counts each distinct text once. What engines without a memory of their own are given for a fair comparison. */
export function memoized(count: Count): Count {
  const known = new Map<string, number>();
  return (text) => {
    const tokens = known.get(text) ?? count(text);
    known.set(text, tokens);
    return tokens;
  };
}

/** What a provider adds around a message or part: the same for all engines. */
export const AROUND = 4;
