import type { Epoch, Ledger } from "../protocol/index.ts";
import { transcriptSum } from "./tokens.ts";

/** What must stay of a conversation when it is cut, in tokens; and what reading and writing a token costs at the provider's cache. */
export interface Keep {
  readonly tokens: number;
  readonly read: number;
  readonly write: number;
}

/** What of a conversation stays when it is cut: at the least, and at the most, in tokens. */
export interface Staying {
  readonly keep?: Keep;
  readonly history?: number;
}

/** When a transcript is cut and how deeply, in tokens of its turns. */
export interface CutPlan {
  /** It is cut where it has more. */
  readonly at: number;
  /** So many stay. */
  readonly keep: number;
  /** So many come with each turn. */
  readonly each: number;
  /** Whether the agent says itself how much stays. */
  readonly declared: boolean;
}

/** Of the room, what is declared to stay may take no more: the next cut would be too near. */
const MOST = 3 / 4;

/** When the transcript is to be cut; none where there is no turn in it. */
export function cutPlan(epoch: Epoch, room: number, { keep, history }: Staying): CutPlan | undefined {
  const { count, tokens } = transcriptSum(epoch.transcript).turns;
  if (count === 0) return undefined;
  const each = tokens / count;
  if (keep === undefined)
    return { at: room, keep: Math.min(staying(epoch, room), history ?? room), each, declared: false };
  const stays = Math.min(keep.tokens, Math.max(Math.floor(room * MOST), 0));
  return { at: Math.min(highWater(stays, each, keep), room), keep: stays, each, declared: true };
}

/**
 * The size at which cutting costs least: with s new tokens a turn and m that stay, W* = m + sqrt(2 s m (w - r) / r). Below it what
 * stays is written too often, above it the rest is read too often.
 */
function highWater(stays: number, each: number, { read, write }: Keep): number {
  return Math.round(stays + Math.sqrt((2 * each * stays * Math.max(write - read, 0)) / read));
}

/** What a token costs that a provider reads from its cache, and that it writes there, where one that it reads again costs 1. */
const READ = 0.1;
const WRITE = 1.25;

/** What stays is written once more: that may add this share to what the turns up to the next cut cost anyway. */
const SURCHARGE = 0.02;

/** Shares of the room that may stay, the most first: the least holds a few turns still. */
const SHARES = [1 / 2, 2 / 5, 1 / 3, 1 / 4, 1 / 5, 1 / 6];

/**
 * Tokens of a transcript's room that stay after a cut: as much as the surcharge allows. With s new tokens a turn, m that stay
 * and W when it is cut again, the rewrite costs (w - r) s m / (W - m) a turn, and all the rest about r (P + (W + m) / 2) + w s.
 */
function staying(epoch: Epoch, room: number): number {
  const { turns } = transcriptSum(epoch.transcript);
  const each = turns.tokens / Math.max(turns.count, 1);
  const prefix = epoch.prefixEntries.reduce((sum, { tokens }) => sum + tokens, 0);
  const isCheap = (share: number): boolean => {
    const rewrite = ((WRITE - READ) * each * share) / (1 - share);
    return rewrite <= SURCHARGE * (READ * (prefix + (room * (1 + share)) / 2) + WRITE * each);
  };
  return Math.floor(room * (SHARES.find(isCheap) ?? 1 / 6));
}

/** A cut that is made now although it need not be, or is not made though it would cost little now; and why. */
export interface EarlyCut {
  readonly cut: boolean;
  readonly because: string;
}

interface Occasion {
  readonly plan: CutPlan | undefined;
  /** Whether it is the first request of a turn. */
  readonly isStart: boolean;
  readonly early: EarlyCut | undefined;
}

/** Why the transcript is cut now, if it is: later requests of a turn cut only where there is no room left. */
export function whyCut({ transcript }: Epoch, room: number, { plan, isStart, early }: Occasion): string | undefined {
  const { tokens, turns } = transcriptSum(transcript);
  if (tokens > room) return "there was no room for more";
  if (!isStart || plan === undefined) return undefined;
  if (plan.declared && turns.tokens > plan.at) return "from there on reading all of it costs more than a cut";
  return early?.cut ? early.because : undefined;
}

/** A ledger that tells when the transcript is cut, and why it just was. */
export function withPlan({ cutting: _, ...ledger }: Ledger, plan: CutPlan | undefined, because?: string): Ledger {
  if (plan === undefined) return ledger;
  const { at, keep, each } = plan;
  return { ...ledger, cutting: { at, keep, each: Math.round(each), ...(because !== undefined && { because }) } };
}
