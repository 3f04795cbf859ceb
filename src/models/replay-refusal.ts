import { APICallError } from "@ai-sdk/provider";

/**
 * How providers say that the reasoning of earlier replies, or what is bound to it, did not come back as they had given it.
 * Anthropic: a block's signature does not fit it, the block was changed, or what stands before it (since the 5.1 family; its
 * answer continues with "The block is bound to a different conversation."). OpenAI: a reasoning item stands without what followed
 * it, or the other way round, its encrypted content cannot be read, or an item is named that is not kept.
 */
const SAYINGS: readonly RegExp[] = [
  /invalid `?signature`? in `?(?:redacted_)?thinking`? block/i,
  /`?thinking`? or `?redacted_thinking`? blocks [^.]*cannot be modified/i,
  /of type 'reasoning' was provided without its required following item/i,
  /was provided without its required 'reasoning' item/i,
  /encrypted content .*could not be (?:verified|decrypted)/i,
  /invalid_encrypted_content/,
  /item with id '(?:rs|msg|fc)_[^']*' not found/i,
];

/** Whether a provider refused what it had said itself, as it was sent back. `words` are the failure's own. */
export function refusesReplay(thrown: unknown, status: number | undefined, words: string | undefined): boolean {
  if (status !== undefined && status !== 400) return false;
  // Gateways hold the provider's own words in their answer's body.
  const body = APICallError.isInstance(thrown) ? thrown.responseBody : undefined;
  const code = typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, "code") : undefined;
  const said = [words, body?.replaceAll("\\", ""), code].filter((one) => typeof one === "string").join("\n");
  return SAYINGS.some((saying) => saying.test(said));
}
