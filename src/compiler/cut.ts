import { frame } from "../guard/index.ts";
import {
  type CountTokens,
  type Epoch,
  type EpochReason,
  holdsReasoning,
  type TextPart,
  type TranscriptMessage,
  type Trust,
  trusted,
  type Untrusted,
  withoutReasoning,
} from "../protocol/index.ts";
import type { CutPlan } from "./cut-plan.ts";
import { countMessage, transcriptSum } from "./tokens.ts";
import { messagesGone } from "./wording.ts";

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
  readonly plan: CutPlan | undefined;
  readonly count: CountTokens;
}

/** The epoch after a cut; undefined if even the rest does not fit. If the summary does not fit, the mark stands alone. */
export function cutEpoch(epoch: Epoch, room: number, cutting: Cutting, summary?: Summary): Epoch | undefined {
  const next = ({ transcript, cut }: ReturnType<typeof cutTranscript>): Epoch | undefined =>
    total(transcript) > room ? undefined : { ...epoch, n: epoch.n + 1, reason: "cut", cut, transcript };
  const summed = summary === undefined ? undefined : next(cutAtSummary(epoch, summary, cutting.count));
  return summed ?? next(cutTranscript(epoch, room, cutting));
}

/** A transcript after a cut, and how many messages of the thread it does not show. */
interface Cut {
  readonly transcript: readonly TranscriptMessage[];
  readonly cut: number;
}

/**
 * Cuts a transcript that is too long for its room, in tokens: the newest whole turns stay, after a mark that says how many messages
 * were removed (the mark stays even if it is too long by itself). It cuts deeply instead of sliding, so that the next cut is far away.
 */
function cutTranscript(epoch: Epoch, room: number, { plan, count }: Cutting): Cut {
  const turns = turnsOf(epoch);
  const keep = plan?.keep ?? 0;
  const held = heldOf(epoch);
  let from = turns.length - (held.length > 0 ? 1 : 0);
  const old = oldSummary(epoch);
  const withOld = mark(widest(epoch.cut + turns.flat().length), count, old);
  // The summary of an earlier cut stays, unless it alone is too much.
  const kept = withOld.tokens <= room / 2 ? old : undefined;
  const longest = kept === undefined ? mark(widest(epoch.cut + turns.flat().length), count) : withOld;
  // A declared size counts only the thread's own messages, and the turn that reaches it stays whole. Otherwise the mark is part of the
  // size.
  const [least, most] = plan?.declared ? [keep, (room * 3) / 4 - longest.tokens] : [room, keep - longest.tokens];
  for (let kept = total(held); from > 0 && kept < least; from--) {
    kept += total(turns[from - 1] ?? []);
    if (kept > most) break;
  }
  return behind(epoch, turns.slice(0, from).flat().length, (cut) => mark(cut, count, kept));
}

/** A summary as it stands in a transcript: its frame, and the trust of what it was made from. */
type StandingSummary = Pick<TranscriptMessage, "trust"> & { readonly part: TextPart };

/** The summary at the start of the running epoch, if there is one. */
function oldSummary({ transcript: [first] }: Epoch): StandingSummary | undefined {
  const [, part] = first?.turn === null && first.message.role === "user" ? first.message.parts : [];
  return first !== undefined && part?.type === "text" ? { part, trust: first.trust } : undefined;
}

/** The same if a summary already covers what is to be cut; it follows the mark. */
function cutAtSummary(epoch: Epoch, summary: Summary, count: CountTokens): Cut {
  return behind(epoch, summary.upTo - epoch.cut, (cut) => mark(cut, count, standing(summary)));
}

function behind(epoch: Epoch, gone: number, markOf: (cut: number) => TranscriptMessage): Cut {
  const own = turnsOf(epoch).flat();
  const least = Math.min(gone, own.length - heldOf(epoch).length);
  const cut = epoch.cut + least;
  const rest = own.slice(least);
  // What was left out of the turns that stay may already be enough: then nothing is cut.
  return { transcript: cut === 0 ? rest : [markOf(cut), ...rest], cut };
}

/** The thread's own messages by turn, which a cut removes or keeps. The platform's marks are not among them. */
const turnsOf = ({ transcript }: Epoch): TranscriptMessage[][] => byTurn(transcript.filter((one) => one.turn !== null));

/** The messages of the run whose calls are open: their results follow, so none of them may go. */
const heldOf = (epoch: Epoch): readonly TranscriptMessage[] =>
  epoch.openRun === undefined ? [] : epoch.transcript.filter(({ turn }) => turn === epoch.openRun);

/** The fewest tokens that a transcript can be cut to: those of the mark, or all of it if there is nothing to cut. */
export function leastOf(epoch: Epoch, count: CountTokens): number {
  const { tokens, ofTurns } = transcriptSum(epoch.transcript);
  const held = total(heldOf(epoch));
  return ofTurns === 0 ? tokens : Math.min(tokens, held + mark(widest(epoch.cut + ofTurns), count).tokens);
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

const standing = ({ text, trust, at }: Summary): StandingSummary => ({
  part: { type: "text", text: frame({ kind: "summary", trust, at }, text) },
  trust,
});

function mark(cut: number, count: CountTokens, summary?: StandingSummary): TranscriptMessage {
  const gone = { type: "text", text: trusted(messagesGone(cut, summary !== undefined)) } as const;
  const parts: readonly TextPart[] = summary === undefined ? [gone] : [gone, summary.part];
  const message = { role: "user", parts } as const;
  const trust = summary?.trust ?? "platform";
  return { message, trust, tokens: countMessage(message, count), turn: null };
}

/** What is about to be cut. */
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
