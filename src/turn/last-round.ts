import { type CallPart, REPLY_TOOL, type ResultPart, type StopReason, trusted } from "../protocol/index.ts";
import { unansweredOf } from "./batch-turn.ts";
import { usedOf, type Work } from "./work.ts";

/**
 * A model that is stopped between a call and its answer leaves a sender without a reply. So it is told when it is asked for the last
 * time in a turn. Its tools stay in the prompt, and how it may choose among them stays as it is: what a provider keeps holds on.
 */
export function lastWord(work: Work): string | undefined {
  const { rounds, calls } = work.setup.limits;
  const used = usedOf(work);
  if (used.rounds + 1 < rounds && used.calls < calls) return undefined;
  return unansweredOf(work) === undefined ? ALONE : TOGETHER;
}

const ALONE = "(This turn calls its model once more. No further tool call is run: answer now.)";
const TOGETHER = `(This turn calls its model once more. Of further tool calls only \`${REPLY_TOOL}\` is run: answer now who has no reply yet.)`;

/** What a tool said, in its frame, and behind it what the platform says to it. */
export const withWord = (result: ResultPart, word: string | undefined): ResultPart =>
  // The frame holds all that the tool said; the line outside of it is the platform's.
  word === undefined ? result : { ...result, text: trusted(`${result.text}\n${word}`) };

/** Whether a call is a reply to one of several senders: it is given also in the last round, for nothing has to be told of it. */
export const isReply = (work: Work, { tool }: CallPart, limit: StopReason): boolean =>
  tool === REPLY_TOOL && (limit === "rounds" || limit === "calls") && unansweredOf(work) !== undefined;

/** Why a turn ends that a limit ends. Where each of several senders has a reply, nothing is missing. */
export function endOf(work: Work, limit: StopReason): StopReason {
  const isWhole = (limit === "rounds" || limit === "calls") && unansweredOf(work)?.length === 0;
  return isWhole ? "answered" : limit;
}
