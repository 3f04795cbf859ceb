import type { Untrusted } from "../protocol/index.ts";
import { withoutHidden } from "./hidden.ts";
import { oneLineBreak, withoutControls, withoutLongGaps } from "./line-breaks.ts";
import { disarmProviderTokens } from "./provider-tokens.ts";

/**
 * What a reader would see of a text, and nothing else: `\n` is the only line break, nothing hidden, no control
 * characters, no provider tokens, no gap that pushes text out of sight. Linear time; cleaning twice changes nothing.
 */
export function clean(text: Untrusted): string {
  if (isPlain(text)) return text;
  // The order matters: a step must not make again what an earlier one took away.
  const lines = withoutControls(oneLineBreak(text.toWellFormed()));
  return disarmProviderTokens(withoutLongGaps(withoutHidden(lines)));
}

/** Printable ASCII without what opens a provider's token; and what pushes text out of sight. */
const PLAIN = /^[\n !-;=-Z\\-~]*$/;
const GAP = / {81}|(?: *\n){4}|^(?: *\n){3}/;

/** Most texts are plain: nothing of them is hidden, and no step would change them. */
const isPlain = (text: string): boolean => PLAIN.test(text) && !GAP.test(text);
