import type { Agent, Epoch, Ledger } from "../protocol/index.ts";
import { isLeftOut } from "./earlier.ts";
import { transcriptSum } from "./tokens.ts";

/** Price of a token that the provider reads from its cache and of one that it writes there, as shares of the input price. */
export interface CacheRates {
  readonly read: number;
  readonly write: number;
  /** The cache has surely expired. */
  readonly cold?: boolean;
  /** The provider has no cache: each request reads everything again. */
  readonly uncached?: boolean;
}

export const USUAL_RATES: CacheRates = { read: 0.1, write: 1.25 };

/** What must stay of a conversation when it is cut, in tokens, and the prices that a cut is weighed by. */
export interface Keep extends Pick<CacheRates, "read" | "write"> {
  readonly tokens: number;
  /**
   * Set if the agent does not say how much must stay: it is not cut before it has more tokens than this (`withResults` applies if it shows
   * results of tools), nor while a cut would remove too little to pay for what it writes. Default: it is cut wherever that costs least.
   */
  readonly floor?: { readonly plain: number; readonly withResults: number };
}

/** For an agent that does not say how much must stay. Measured over talks of assistants, people and tools (`npm run bench -- evidence`). */
const USUAL = { tokens: 600, floor: { plain: 8_000, withResults: 12_000 } };

/** What an agent's conversations keep. One that says nothing keeps little whole, and is not cut early: what others wrote stays anyway. */
export function keepOf({ keep }: Agent["budgets"], limit: number, { read, write } = USUAL_RATES): Keep {
  if (keep !== undefined) return { tokens: keep, read, write };
  return { ...USUAL, tokens: Math.min(USUAL.tokens, Math.floor(limit / 10)), read, write };
}

/** When a transcript is cut and how deeply, in tokens of its turns. */
export interface CutPlan {
  /** It is cut when it has more. */
  readonly at: number;
  /** Tokens that stay. */
  readonly keep: number;
  /** Tokens that each turn adds on average. */
  readonly each: number;
  /** Whether the next turn cuts it: one more turn of average length would be too much. */
  readonly due: boolean;
}

/** The share of the room that may stay: with more, the next cut would come too soon. */
export const MOST_KEPT = 3 / 4;

/** A cut pays if what it removes would cost more to read in so many turns than what stays costs to write once more. */
const TURNS_TO_PAY = 25;

/** When the transcript is to be cut; undefined if there is no turn in it, or if the request is not one of a conversation. */
export function cutPlan(epoch: Epoch, room: number, keep: Keep | undefined): CutPlan | undefined {
  const { tokens: all, turns } = transcriptSum(epoch.transcript);
  if (keep === undefined || turns.count === 0) return undefined;
  const { tokens } = turns;
  const each = tokens / turns.count;
  const stays = Math.min(keep.tokens, Math.max(Math.floor(room * MOST_KEPT), 0));
  const at = Math.min(plannedSize(epoch, { stays, each, marks: all - tokens }, keep), room);
  return { at, keep: stays, each, due: tokens <= at && tokens + each > at };
}

interface Sizes {
  readonly stays: number;
  readonly each: number;
  /** Tokens of what earlier cuts left. */
  readonly marks: number;
}

function plannedSize({ transcript }: Epoch, { stays, each, marks }: Sizes, keep: Keep): number {
  const cheapest = highWater(stays, each, keep);
  if (keep.floor === undefined) return cheapest;
  if (!pays(transcript, keep)) return Number.POSITIVE_INFINITY;
  const hasResults = transcript.some(({ message, turn }) => turn !== null && message.role === "tool");
  return Math.max(cheapest, (hasResults ? keep.floor.withResults : keep.floor.plain) - marks);
}

/** Whether a cut removes enough: between people who write short messages, nearly everything stays. */
function pays(transcript: Epoch["transcript"], { read, write }: Keep): boolean {
  const { tokens } = transcriptSum(transcript).turns;
  const gone = transcript.reduce((sum, one) => sum + (one.turn !== null && isLeftOut(one) ? one.tokens : 0), 0);
  return gone * read * TURNS_TO_PAY >= (tokens - gone) * (write - read);
}

/**
 * The size at which cutting costs least: with s new tokens per turn and m that stay, W* = m + sqrt(2 s m (w - r) / r). If it is smaller,
 * what stays is written too often; if it is larger, the rest is read too often.
 */
function highWater(stays: number, each: number, { read, write }: Keep): number {
  return Math.round(stays + Math.sqrt((2 * each * stays * Math.max(write - read, 0)) / read));
}

/** A cut that is made although it is not necessary yet, or is put off although it would cost little now; and why. */
export interface EarlyCut {
  readonly cut: boolean;
  readonly because: string;
}

interface Occasion {
  readonly plan: CutPlan | undefined;
  /** Whether it is the first request of a turn. */
  readonly isStart: boolean;
  readonly early: EarlyCut | undefined;
  /** Whether the turn before planned this cut. */
  readonly isDue: () => boolean;
}

/** Why the transcript is cut now; undefined if it is not. After a turn's first request, it is cut only if there is no room left. */
export function whyCut(
  { transcript }: Epoch,
  room: number,
  { plan, isStart, early, isDue }: Occasion,
): string | undefined {
  const { tokens, turns } = transcriptSum(transcript);
  if (tokens > room) return "there was no room for more";
  if (!isStart || plan === undefined) return undefined;
  if (turns.tokens > plan.at || isDue()) return "from there on reading all of it costs more than a cut";
  return early?.cut ? early.because : undefined;
}

/**
 * Whether the newest turn said, when it began, that the next one would cut: what it sent last was not written to the provider's cache then,
 * so the cut is made even if it turned out shorter than expected.
 */
export function wasDue(epoch: Epoch, room: number, keep: Keep | undefined): boolean {
  const { transcript } = epoch;
  const newest = transcript.at(-1)?.turn;
  const before = transcript.slice(0, transcript.findLastIndex(({ turn }) => turn !== newest) + 1);
  return cutPlan({ ...epoch, transcript: before }, room, keep)?.due === true;
}

/** The ledger with the plan of the next cut, and why the transcript was just cut, or could have been: a cut that is made is due no longer. */
export function withPlan({ cutting: _, ...ledger }: Ledger, plan: CutPlan | undefined, now?: EarlyCut): Ledger {
  if (plan === undefined) return ledger;
  const { at, keep, each, due } = plan;
  const said = { ...(due && now?.cut !== true && { due }), ...(now && { because: now.because }) };
  return { ...ledger, cutting: { at, keep, each: Math.round(each), ...said } };
}
