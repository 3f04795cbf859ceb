import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV4 } from "@ai-sdk/provider";

/** How to reach a provider: a key, and an address where it is not the provider's own. */
export interface Access {
  readonly key: string;
  readonly url?: string | undefined;
}

const ADDRESS = "https://api.anthropic.com/v1";

/** A redirect would carry the key and the prompt to an address that nobody configured. */
const direct: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, { ...init, redirect: "error" });

/**
 * A model of Anthropic's package. Key and address are always given: left out, the package would take them from the
 * environment, where a stranger's setting could send prompts elsewhere.
 */
export function anthropicModel(name: string, { key, url = ADDRESS }: Access, fetch = direct): LanguageModelV4 {
  return createAnthropic({ apiKey: key, baseURL: url, fetch })(name);
}
