/** What decides whether memories stand frozen: tokens throughout, but for numbers of memories. */
export interface FreezeCase {
  /** Of all that was saved, as it would stand in the request; and how many memories that are. */
  readonly stored: number;
  readonly memories: number;
  /** What the layer may show at the most, however it comes in. */
  readonly most: { readonly memories: number; readonly tokens: number };
  /** What recall would send in each turn instead. */
  readonly perTurn: number;
  /** What a token costs that is read from the provider's cache, where one that it reads anew costs 1. */
  readonly read: number;
  /** All that may be sent. */
  readonly limit: number;
}

/** Of what may be sent, at most so much is spent on memories that the message may have nothing to do with. */
const LARGEST_SHARE = 1 / 8;

/** Whether the memories stand frozen, and why, in words for the ledger. */
export interface FreezeChoice {
  readonly freezes: boolean;
  readonly because: string;
}

/**
 * What stands frozen is read from the cache in each turn, at r of its tokens; what is recalled is sent anew, at all of its own.
 * So it pays to freeze S stored tokens instead of recalling D a turn as long as r S < D. The layer's limit and budget hold for
 * what is frozen, too: where all of it is more, each message is searched for instead. Pure.
 */
export function freezeChoice({ stored, memories, most, perTurn, read, limit }: FreezeCase): FreezeChoice {
  const share = Math.floor(limit * LARGEST_SHARE);
  const says = `${stored} tokens stored, ${perTurn} a turn by recall, a cached token costs ${read}`;
  const not = (why: string): FreezeChoice => ({ freezes: false, because: `${why}: ${says}` });
  if (memories > most.memories) return not(`${memories} memories are saved and the layer's limit is ${most.memories}`);
  if (stored > most.tokens) return not(`more than the layer's budget of ${most.tokens} tokens`);
  if (stored > share) return not(`more than the ${share} tokens that may be frozen`);
  if (read * stored >= perTurn) return not("recall costs less");
  return { freezes: true, because: `frozen costs less: ${says}` };
}
