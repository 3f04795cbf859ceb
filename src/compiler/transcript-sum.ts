import { lowestTrust, type Message, type TranscriptMessage, type Trust } from "../protocol/index.ts";

/** What a transcript comes to. */
export interface TranscriptSum {
  readonly messages: readonly Message[];
  readonly tokens: number;
  readonly trust: Trust;
  /** How many of the messages came with a turn: all but the platform's own marks. */
  readonly ofTurns: number;
  /** The thread's turns in it, and their tokens. */
  readonly turns: { readonly count: number; readonly tokens: number };
}

const known = new WeakMap<readonly TranscriptMessage[], TranscriptSum>();

/**
 * A transcript, walked through once: it is the longest thing of a request and stays the same from round to round, so that a
 * request costs what is new in it.
 */
export function transcriptSum(transcript: readonly TranscriptMessage[]): TranscriptSum {
  const before = known.get(transcript);
  if (before?.messages.length === transcript.length) return before;
  const messages: Message[] = [];
  const trusts = new Set<Trust>();
  let tokens = 0;
  let ofTurns = 0;
  let last: TranscriptMessage["turn"] = null;
  const turns = { count: 0, tokens: 0 };
  for (const one of transcript) {
    messages.push(one.message);
    trusts.add(one.trust);
    tokens += one.tokens;
    if (one.turn === null) continue;
    ofTurns++;
    turns.tokens += one.tokens;
    if (one.turn !== last) turns.count++;
    last = one.turn;
  }
  const sum = { messages, tokens, trust: lowestTrust(trusts), ofTurns, turns };
  known.set(transcript, sum);
  return sum;
}
