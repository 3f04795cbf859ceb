import { frame } from "../guard/index.ts";
import {
  type CountTokens,
  dayLine,
  type Epoch,
  type EpochReason,
  holdsReasoning,
  saysDay,
  type TextPart,
  type TranscriptMessage,
  type Trust,
  trusted,
  type Untrusted,
  withoutReasoning,
} from "../protocol/index.ts";
import { MOST_KEPT } from "./cut-plan.ts";
import { earlierMessages, isEarlier } from "./earlier.ts";
import { saidAbove } from "./events.ts";
import { countMessage, transcriptSum } from "./tokens.ts";
import { messagesGone, summarizedIn } from "./wording.ts";

/** The summary that replaces the messages a cut removes: written once at the cut, and frozen with the epoch that it opens. */
export interface Summary {
  readonly text: Untrusted;
  /** The lowest trust of what it was made from. */
  readonly trust: Trust;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** How many messages of the thread it summarizes, counted from the first. */
  readonly upTo: number;
}

/** How a cut is to be made. */
interface Cutting {
  /** Tokens of the newest turns that stay whole. */
  readonly keep: number;
  readonly count: CountTokens;
}

/** The epoch after a cut; undefined if even the rest does not fit. If the summary does not fit, only the mark is sent. */
export function cutEpoch(epoch: Epoch, room: number, cutting: Cutting, summary?: Summary): Epoch | undefined {
  const next = ({ transcript, cut }: ReturnType<typeof cutTranscript>): Epoch | undefined =>
    total(transcript) > room ? undefined : { ...epoch, n: epoch.n + 1, reason: "cut", cut, transcript };
  const summed = summary === undefined ? undefined : next(cutAtSummary(epoch, room, summary, cutting));
  return summed ?? next(cutTranscript(epoch, room, cutting));
}

/** A transcript after a cut, and how many messages of the thread it does not show. */
interface Cut {
  readonly transcript: readonly TranscriptMessage[];
  readonly cut: number;
}

/**
 * Cuts a transcript that is too long for its room, in tokens: the newest whole turns stay, after what others wrote in the ones before
 * (`earlier.ts`) and a mark that says how many messages were removed (the mark stays even if it is too long by itself). It cuts deeply
 * instead of sliding, so that the next cut is far away.
 */
function cutTranscript(epoch: Epoch, room: number, cutting: Cutting): Cut {
  const { keep, count } = cutting;
  const turns = turnsOf(epoch);
  const held = heldOf(epoch);
  let from = turns.length - (held.length > 0 ? 1 : 0);
  const old = oldSummary(epoch);
  const most = widest(epoch.cut + turns.flat().length);
  const withOld = cutNotice(most, count, { isKept: true, at: 0, ...(old && { summary: old }) });
  // The summary of an earlier cut stays, unless it alone is too much.
  const kept = withOld.tokens <= room / 2 ? old : undefined;
  const longest = kept === undefined ? cutNotice(most, count, { isKept: true, at: 0 }) : withOld;
  // Only the thread's own messages count, and the turn that reaches the size stays whole.
  for (let kept = total(held); from > 0 && kept < keep; from--) {
    kept += total(turns[from - 1] ?? []);
    if (kept > room * MOST_KEPT - longest.tokens) break;
  }
  return behind(epoch, turns.slice(0, from).flat().length, { room, ...cutting, ...(kept && { summary: kept }) });
}

/** A summary in a transcript: its frame, the trust of its sources, and how many messages it covers. */
interface StandingSummary extends Pick<TranscriptMessage, "trust"> {
  readonly part: TextPart;
  readonly upTo: number;
}

/** The summary at the start of the running epoch, if there is one. */
function oldSummary({ transcript }: Pick<Epoch, "transcript">): StandingSummary | undefined {
  for (const { message, trust, turn } of transcript) {
    if (turn !== null || message.role !== "user") break;
    const [gone, part] = message.parts;
    const upTo = gone?.type === "text" ? summarizedIn(gone.text) : undefined;
    if (upTo !== undefined && part?.type === "text") return { part, trust, upTo };
  }
  return undefined;
}

/** How many of the thread's messages the summary at the start of an epoch covers; 0 without one. */
export const summarizedBy = (epoch: Pick<Epoch, "transcript">): number => oldSummary(epoch)?.upTo ?? 0;

/** The same if a summary already covers what is to be cut; it follows the mark. */
function cutAtSummary(epoch: Epoch, room: number, { text, trust, at, upTo }: Summary, cutting: Cutting): Cut {
  const part = { type: "text", text: frame({ kind: "summary", trust, at }, text) } as const;
  return behind(epoch, upTo - epoch.cut, { room, ...cutting, summary: { part, trust, upTo } });
}

/**
 * The epoch with less of what earlier cuts have left, so that the conversation has room, and can grow by this many tokens before it runs
 * short again, if that is possible.
 */
export function withEarlierIn(epoch: Epoch, room: number, growth: number, count: CountTokens): Epoch {
  const { transcript } = epoch;
  const before = transcript.filter(isEarlier);
  const over = transcriptSum(transcript).tokens - room;
  if (before.length === 0 || over <= 0) return epoch;
  const left = earlierMessages(epoch, [], Math.max(total(before) - over - growth, 0), count);
  const summary = oldSummary(epoch);
  const first = transcript.findIndex(isEarlier);
  // The mark comes right after them.
  const behind = first + before.length + 1;
  const rest = transcript.slice(behind);
  const day = dayBefore(transcript.slice(0, behind), rest);
  const marked = cutNotice(epoch.cut, count, { isKept: left.length > 0, ...day, ...(summary && { summary }) });
  return { ...epoch, transcript: [...transcript.slice(0, first), ...left, marked, ...rest] };
}

/** The share of the room that what earlier cuts left may take. */
const MOST_EARLIER = 2 / 3;

interface Behind {
  readonly count: CountTokens;
  readonly room: number;
  readonly summary?: StandingSummary;
}

function behind(epoch: Epoch, gone: number, { room, count, summary }: Behind): Cut {
  const own = turnsOf(epoch).flat();
  const least = Math.min(gone, own.length - heldOf(epoch).length);
  const cut = epoch.cut + least;
  const rest = own.slice(least);
  // The parts left out of the remaining turns may already be enough: then nothing is cut.
  if (cut === 0) return { transcript: rest, cut };
  const gap = epoch.transcript.length - rest.length;
  const marked = { ...dayBefore(epoch.transcript.slice(0, gap), rest), ...(summary && { summary }) };
  const beside = total(rest) + cutNotice(cut, count, { isKept: true, ...marked }).tokens;
  const free = Math.min(room * MOST_KEPT - beside, room * MOST_EARLIER);
  const earlier = earlierMessages(epoch, own.slice(0, least), free, count);
  const isKept = earlier.length > 0;
  return { transcript: [...earlier, cutNotice(cut, count, { isKept, ...marked }), ...rest], cut };
}

/** The day of the messages after a mark, if they relied on the frames that the mark replaces. */
function dayBefore(gone: Epoch["transcript"], rest: Epoch["transcript"]): Pick<Marked, "at"> {
  const { day } = saidAbove(gone);
  const first = rest.find(({ message }) => message.role === "user")?.message;
  const isSaid = first?.role === "user" && first.parts.some((part) => part.type === "text" && saysDay(part.text));
  return day === undefined || isSaid ? {} : { at: Date.parse(day) };
}

/** The thread's own messages by turn, which a cut removes or keeps. The platform's marks are not among them. */
const turnsOf = ({ transcript }: Epoch): TranscriptMessage[][] => byTurn(transcript.filter((one) => one.turn !== null));

/** The messages of the run whose calls are open: their results follow, so none of them may go. */
const heldOf = (epoch: Epoch): readonly TranscriptMessage[] =>
  epoch.openRun === undefined ? [] : epoch.transcript.filter(({ turn }) => turn === epoch.openRun);

/** The fewest tokens that a transcript can be cut to: those of the mark, or all of it if there is nothing to cut. */
export function leastOf(epoch: Epoch, count: CountTokens): number {
  const { tokens, ofTurns } = transcriptSum(epoch.transcript);
  if (epoch.cut + ofTurns === 0) return tokens;
  const held = heldOf(epoch);
  const gone = epoch.transcript.slice(0, epoch.transcript.length - held.length);
  const least = cutNotice(widest(epoch.cut + ofTurns), count, { isKept: false, ...dayBefore(gone, held) }).tokens;
  return Math.min(tokens, total(held) + least);
}

/** The largest number with as many digits: so the mark is counted once, and not again for each number. */
const widest = (n: number): number => 10 ** String(n).length - 1;

export const total = (messages: readonly TranscriptMessage[]): number =>
  messages.reduce((sum, one) => sum + one.tokens, 0);

function byTurn(messages: readonly TranscriptMessage[]): TranscriptMessage[][] {
  const turns: TranscriptMessage[][] = [];
  let last: TranscriptMessage["turn"] | undefined;
  for (const one of messages) {
    if (one.turn !== last) turns.push([]);
    turns.at(-1)?.push(one);
    last = one.turn;
  }
  return turns;
}

/** A mark's content besides the number of removed messages: whether a shortened form of them precedes it, and their summary. */
interface Marked {
  readonly isKept: boolean;
  /** An instant of the day that it says. */
  readonly at?: number;
  readonly summary?: StandingSummary;
}

function cutNotice(cut: number, count: CountTokens, { isKept, at, summary }: Marked): TranscriptMessage {
  const sentence = messagesGone(cut, { isKept, ...(summary && { summarized: summary.upTo }) });
  const said = at === undefined ? sentence : `${sentence}\n${dayLine(at)}`;
  const gone = { type: "text", text: trusted(said) } as const;
  const parts: readonly TextPart[] = summary === undefined ? [gone] : [gone, summary.part];
  const message = { role: "user", parts } as const;
  const trust = summary?.trust ?? "platform";
  return { message, trust, tokens: countMessage(message, count), turn: null };
}

/** The messages about to be cut. */
interface Cuttable {
  readonly epoch: Epoch;
  /** The turn's own messages, which a cut does not change. */
  readonly own: readonly TranscriptMessage[];
  readonly binds?: boolean;
}

/**
 * The epoch as it may be cut. If reasoning is bound to everything sent before it, none may follow a changed beginning. Reasoning that was
 * refused once is not sent again.
 */
export const cuttable = (one: Cuttable, count: CountTokens): Epoch =>
  leavesOut(one) ? { ...one.epoch, transcript: transcriptWithoutReasoning(one.epoch.transcript, count) } : one.epoch;

/**
 * Why the epoch after a cut begins. In the middle of a turn, the turn's own reasoning is bound to what is cut, too. Its messages are
 * recorded as they came, so that epoch is sent without any reasoning (`refused`).
 */
export const reasonOf = (one: Cuttable): EpochReason =>
  leavesOut(one) && one.own.some(({ message }) => holdsReasoning(message)) ? "refused" : "cut";

const leavesOut = ({ epoch, binds }: Cuttable): boolean => binds === true || epoch.reason === "refused";

/** A transcript with everything that was said and called, but without the model's reasoning. */
export const transcriptWithoutReasoning = (transcript: Epoch["transcript"], count: CountTokens): Epoch["transcript"] =>
  transcript.map((one) => {
    if (!holdsReasoning(one.message)) return one;
    const message = withoutReasoning(one.message);
    return { ...one, message, tokens: countMessage(message, count) };
  });
