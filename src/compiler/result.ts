import { frame } from "../guard/index.ts";
import {
  type CallPart,
  type CountTokens,
  type ResultPart,
  type Trust,
  trusted,
  type Untrusted,
  untrusted,
} from "../protocol/index.ts";
import { beginningWithin } from "./tokens.ts";

/**
 * A tool's answer as it enters the transcript: framed, and cut once and for all to `room` tokens. A call always gets its
 * answer: where there is no room at all it is the frame and the mark alone.
 */
export function frameResult(
  call: CallPart,
  answer: { readonly text: Untrusted; readonly failed: boolean; readonly trust: Trust; readonly at: number },
  room: number,
  count: CountTokens,
): ResultPart {
  const { text, failed } = answer;
  const header = { kind: "result", trust: answer.trust, at: answer.at } as const;
  const cutTo = (beginning: string) => {
    const mark = `(The result above was cut: its first ${beginning.length} of ${text.length} characters are shown.)`;
    // The frame holds all that the tool said; the mark stands outside of it and is the platform's.
    return trusted(`${frame(header, untrusted(beginning))}\n${mark}`);
  };
  const whole = frame(header, text);
  const fits = count(whole) <= room;
  const sent = fits ? whole : cutTo(beginningWithin(text, room, (beginning) => count(cutTo(beginning))));
  return { type: "result", id: call.id, tool: call.tool, text: sent, failed };
}
