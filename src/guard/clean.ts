import type { Untrusted } from "../protocol/index.ts";
import { withoutHidden } from "./hidden.ts";
import { oneLineBreak, withoutControls, withoutLongGaps } from "./line-breaks.ts";
import { disarmProviderTokens } from "./provider-tokens.ts";

/**
 * Reduces a text to what a reader sees: `\n` is the only line break, and there are no hidden or control characters, no provider tokens
 * and no large gaps that push text out of sight. Linear time; cleaning twice changes nothing.
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
