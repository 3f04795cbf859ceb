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

/** What stands for the messages that a cut takes away: written once at the cut, and frozen with the epoch it opens. */
export interface Summary {
  readonly text: Untrusted;
  /** The lowest trust of what it was made from. */
  readonly trust: Trust;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** How many messages of the thread it stands for, from the first on. */
  readonly upTo: number;
}

/** How a cut is to be made. */
interface Cutting {
  readonly plan: CutPlan | undefined;
  readonly count: CountTokens;
}

/** The epoch after a cut; none where even what is left does not fit. Where a summary does not, the mark stands alone. */
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
  let from = turns.length;
  const old = oldSummary(epoch);
  const withOld = mark(widest(epoch.cut + turns.flat().length), count, old);
  // The summary of an earlier cut stays, unless it alone is too much.
  const kept = withOld.tokens <= room / 2 ? old : undefined;
  const longest = kept === undefined ? mark(widest(epoch.cut + turns.flat().length), count) : withOld;
  // What must stay is the thread's own, and the turn that reaches it stays whole; else the mark takes part of the share.
  const [least, most] = plan?.declared ? [keep, (room * 3) / 4 - longest.tokens] : [room, keep - longest.tokens];
  for (let kept = 0; from > 0 && kept < least; from--) {
    kept += total(turns[from - 1] ?? []);
    if (kept > most) break;
  }
  return behind(epoch, turns.slice(0, from).flat().length, (cut) => mark(cut, count, kept));
}

/** A summary as it stands in a transcript: framed, and whose words it was made from. */
type StandingSummary = Pick<TranscriptMessage, "trust"> & { readonly part: TextPart };

/** The summary that the running epoch begins with, if it does. */
function oldSummary({ transcript: [first] }: Epoch): StandingSummary | undefined {
  const [, part] = first?.turn === null && first.message.role === "user" ? first.message.parts : [];
  return first !== undefined && part?.type === "text" ? { part, trust: first.trust } : undefined;
}

/** The same where it is known what is cut, because a summary was made of it; that stands behind the mark. */
function cutAtSummary(epoch: Epoch, summary: Summary, count: CountTokens): Cut {
  return behind(epoch, summary.upTo - epoch.cut, (cut) => mark(cut, count, standing(summary)));
}

function behind(epoch: Epoch, gone: number, markOf: (cut: number) => TranscriptMessage): Cut {
  const cut = epoch.cut + gone;
  const rest = turnsOf(epoch).flat().slice(gone);
  // What the kept turns left out may have been all that was too much.
  return { transcript: cut === 0 ? rest : [markOf(cut), ...rest], cut };
}

/** What a cut takes away or leaves: the thread's own messages by turn, without the platform's marks. */
const turnsOf = ({ transcript }: Epoch): TranscriptMessage[][] => byTurn(transcript.filter((one) => one.turn !== null));

/** Tokens that a transcript takes at the least: a cut's mark, or nothing where there is nothing to cut. */
export function leastOf(epoch: Epoch, count: CountTokens): number {
  const { tokens, ofTurns } = transcriptSum(epoch.transcript);
  return ofTurns === 0 ? tokens : Math.min(tokens, mark(widest(epoch.cut + ofTurns), count).tokens);
}

/** The largest number of as many digits: its mark is counted once, and not again for each number up to it. */
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
  const gone = `The first ${cut} messages of this conversation are not shown any more.`;
  const parts: readonly TextPart[] =
    summary === undefined
      ? [{ type: "text", text: trusted(`(${gone} Nothing has to be done about it.)`) }]
      : [
          { type: "text", text: trusted(`(${gone} What follows was written from them, to remember them by.)`) },
          summary.part,
        ];
  const message = { role: "user", parts } as const;
  const trust = summary?.trust ?? "platform";
  return { message, trust, tokens: countMessage(message, count), turn: null };
}

/** What is about to be cut. */
interface Cuttable {
  readonly epoch: Epoch;
  /** The turn's own messages, which a cut leaves as they are. */
  readonly own: readonly TranscriptMessage[];
  readonly binds?: boolean;
}

/**
 * The epoch as a cut may keep it. Where reasoning is bound to all that was sent before it, none stands behind a changed
 * beginning; and what was refused once does not come back.
 */
export const cuttable = (one: Cuttable, count: CountTokens): Epoch =>
  leavesOut(one) ? { ...one.epoch, transcript: transcriptWithoutReasoning(one.epoch.transcript, count) } : one.epoch;

/**
 * Why the epoch after a cut begins. In the middle of a turn what the turn itself reasoned is bound to what is cut, too: that
 * epoch goes without any, for its messages are recorded as they came.
 */
export const reasonOf = (one: Cuttable): EpochReason =>
  leavesOut(one) && one.own.some(({ message }) => holdsReasoning(message)) ? "refused" : "cut";

const leavesOut = ({ epoch, binds }: Cuttable): boolean => binds === true || epoch.reason === "refused";

/** A transcript with all that was said and called, and nothing that is bound to how the model came to it. */
export const transcriptWithoutReasoning = (transcript: Epoch["transcript"], count: CountTokens): Epoch["transcript"] =>
  transcript.map((one) => {
    if (!holdsReasoning(one.message)) return one;
    const message = withoutReasoning(one.message);
    return { ...one, message, tokens: countMessage(message, count) };
  });
