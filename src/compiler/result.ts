import { frame } from "../guard/index.ts";
import {
  type CallPart,
  type CountTokens,
  type ResultPart,
  type Trust,
  type Untrusted,
  untrusted,
} from "../protocol/index.ts";
import { beginningWithin } from "./tokens.ts";

/** A tool's answer as it enters the transcript: framed, and cut once and for all to `room` tokens. */
export function frameResult(
  call: CallPart,
  answer: { readonly text: Untrusted; readonly failed: boolean; readonly trust: Trust; readonly at: number },
  room: number,
  count: CountTokens,
): ResultPart {
  const header = { kind: "result", trust: answer.trust, at: answer.at } as const;
  const part = (text: Untrusted): ResultPart => ({
    type: "result",
    id: call.id,
    tool: call.tool,
    text: frame(header, text),
    failed: answer.failed,
  });
  const whole = part(answer.text);
  if (count(whole.text) <= room) return whole;
  for (let each = room - 40; each > 0; each = Math.floor(each * 0.8)) {
    const beginning = beginningWithin(answer.text, each, count);
    const cut = part(untrusted(`${beginning}\n(cut: ${beginning.length} of ${answer.text.length} characters)`));
    if (count(cut.text) <= room) return cut;
  }
  return part(untrusted(`(cut: 0 of ${answer.text.length} characters; the request has no room left)`));
}
