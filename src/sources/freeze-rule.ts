/** What decides whether memories stand frozen: tokens throughout. */
export interface FreezeCase {
  /** Of all that was saved, as it would stand in the request. */
  readonly stored: number;
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
 * So it pays to freeze S stored tokens instead of recalling D a turn as long as r S < D. Pure.
 */
export function freezeChoice({ stored, perTurn, read, limit }: FreezeCase): FreezeChoice {
  const pays = read * stored < perTurn;
  const most = Math.floor(limit * LARGEST_SHARE);
  const says = `${stored} tokens stored, ${perTurn} a turn by recall, a cached token costs ${read}`;
  if (!pays) return { freezes: false, because: `recall costs less: ${says}` };
  if (stored > most) return { freezes: false, because: `more than the ${most} tokens that may be frozen: ${says}` };
  return { freezes: true, because: `frozen costs less: ${says}` };
}
