import { truncateText } from "../guard/index.ts";
import { type CountTokens, type Untrusted, untrusted } from "../protocol/index.ts";

/** More characters than this are never one token's share: a huge text costs no more to cut than a large one. */
const MOST_PER_TOKEN = 16;

/**
 * A result that is told in an event instead of the transcript: cut to `room` tokens like every result, between
 * characters and never inside one, and it says so.
 */
export function cutResult(text: Untrusted, room: number, count: CountTokens): Untrusted {
  if (text.length <= room * MOST_PER_TOKEN && count(text) <= room) return text;
  const cutTo = (length: number): string => {
    const beginning = truncateText(text, length, "");
    return `${beginning}\n(The result above was cut: its first ${beginning.length} of ${text.length} characters are shown.)`;
  };
  let fits = 0;
  let tooMany = Math.min(text.length, room * MOST_PER_TOKEN) + 1;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (count(cutTo(middle)) <= room) fits = middle;
    else tooMany = middle;
  }
  return untrusted(cutTo(fits));
}
