import type { Multipliers } from "./cache/seen.ts";

/** A conversation and its next cut, in tokens. */
export interface Conversation {
  readonly tokens: number;
  /** It must be cut if it has more. */
  readonly at: number;
  /** How many stay then. */
  readonly keep: number;
  /** How many each turn adds. */
  readonly each: number;
  /** The tokens before it. */
  readonly prefix: number;
}

/** The basis for cutting now or later. Costs in tokens of plain input. */
export interface FoldRates {
  readonly multipliers: Pick<Multipliers, "read" | "write5m">;
  /** How many of the thread's turns come after the cache's time is over. */
  readonly pauses: number;
  /** The cost of a summary's text; left out without a summary. */
  readonly summary?: number;
}

/** The chosen cut. */
export interface Folding {
  readonly now: boolean;
  /** After this many turns it would have to be cut. */
  readonly turns: number;
  /** What cutting now saves, considering that the thread may pause again first; negative if it costs more. */
  readonly saves: number;
}

/**
 * Whether a conversation is cut early, when the cache has dropped it. What stays is then written in any case, so a cut adds no cost;
 * without one, what goes is written and read until it goes, and what stays is then written again. Only a summary is no cheaper now: its
 * request covers what goes, and the prefix is read again. A distant cut waits all the same: after the thread's next long pause it is as
 * cheap, and until then nothing is lost. Pure.
 */
export function whenToFold(
  { tokens, at, keep, each, prefix }: Conversation,
  { multipliers, pauses, summary }: FoldRates,
): Folding {
  const { read, write5m: write } = multipliers;
  const gone = Math.max(tokens - keep, 0);
  const turns = Math.max(Math.ceil((at - tokens) / Math.max(each, 1)), 0);
  const now = summary === undefined ? -write * gone : summary + read * prefix;
  const asked = summary === undefined ? 0 : summary + read * (prefix + gone + turns * each);
  const later = read * gone * turns + (write - read) * keep + asked;
  const saves = (1 - pauses) ** turns * later - now;
  return { now: gone > 0 && turns * pauses < 1 && saves > 0, turns, saves };
}
