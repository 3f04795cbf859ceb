import {
  type CountTokens,
  type Epoch,
  type EpochReason,
  holdsReasoning,
  type TranscriptMessage,
  withoutReasoning,
} from "../protocol/index.ts";
import { countMessage } from "./tokens.ts";

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
  leavesOut(one) ? { ...one.epoch, transcript: plainly(one.epoch.transcript, count) } : one.epoch;

/**
 * Why the epoch after a cut begins. In the middle of a turn what the turn itself reasoned is bound to what is cut, too: that
 * epoch goes without any, for its messages are recorded as they came.
 */
export const reasonOf = (one: Cuttable): EpochReason =>
  leavesOut(one) && one.own.some(({ message }) => holdsReasoning(message)) ? "refused" : "cut";

const leavesOut = ({ epoch, binds }: Cuttable): boolean => binds === true || epoch.reason === "refused";

/** A transcript with all that was said and called, and nothing that is bound to how the model came to it. */
export const plainly = (transcript: Epoch["transcript"], count: CountTokens): Epoch["transcript"] =>
  transcript.map((one) => {
    if (!holdsReasoning(one.message)) return one;
    const message = withoutReasoning(one.message);
    return { ...one, message, tokens: countMessage(message, count) };
  });
