import { type CountTokens, type Epoch, type TranscriptMessage, trusted } from "../protocol/index.ts";
import { countMessage } from "./tokens.ts";

/**
 * Cuts a transcript so that at most `keep` tokens stay: whole turns, the newest, behind a mark that says how many messages
 * are gone (the mark stays even where it alone is more). Never slides: the caller cuts to half, so that the next cut is far
 * away.
 */
export function cutTranscript(
  epoch: Epoch,
  keep: number,
  count: CountTokens,
): { transcript: readonly TranscriptMessage[]; cut: number } {
  const turns = byTurn(epoch.transcript.filter((one) => one.turn !== null));
  let from = turns.length;
  const longest = mark(epoch.cut + turns.flat().length, count);
  for (let left = keep - longest.tokens; from > 0; from--) {
    left -= total(turns[from - 1] ?? []);
    if (left < 0) break;
  }
  const gone = turns.slice(0, from).flat().length;
  const cut = epoch.cut + gone;
  return { transcript: [mark(cut, count), ...turns.slice(from).flat()], cut };
}

/** Tokens that a transcript takes at the least: a cut's mark, or nothing where there is nothing to cut. */
export function leastOf(epoch: Epoch, count: CountTokens): number {
  const all = epoch.transcript.filter((one) => one.turn !== null).length;
  const now = total(epoch.transcript);
  return all === 0 ? now : Math.min(now, mark(epoch.cut + all, count).tokens);
}

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

function mark(cut: number, count: CountTokens): TranscriptMessage {
  const text = trusted(
    `(The first ${cut} messages of this conversation are not shown any more. Nothing has to be done about it.)`,
  );
  const message = { role: "user", parts: [{ type: "text", text }] } as const;
  return { message, trust: "platform", tokens: countMessage(message, count), turn: null };
}
