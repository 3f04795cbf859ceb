import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import type { Fetch, Opening } from "./access.ts";
import { providerPackage } from "./provider-package.ts";

const ADDRESS = "https://openrouter.ai/api/v1";

/**
 * A model behind OpenRouter, by `maker/name`. Key and address are always given, as for Anthropic.
 * @param marked whether its requests carry marks
 */
export function openrouterModel(name: string, opening: Opening, marked: boolean): LanguageModelV4 {
  const provider = openrouter(marked ? { ...opening, fetch: inBlocks(opening.fetch) } : opening);
  return provider.chat(name, { usage: { include: true } });
}

/** An embedding model behind OpenRouter, by `maker/name`. */
export function openrouterEmbedding(name: string, opening: Opening): EmbeddingModelV4 {
  return openrouter(opening).textEmbeddingModel(name);
}

function openrouter({ key, url = ADDRESS, fetch }: Opening) {
  const { createOpenRouter }: typeof import("@openrouter/ai-sdk-provider") =
    providerPackage("@openrouter/ai-sdk-provider");
  return createOpenRouter({ apiKey: key, baseURL: url, compatibility: "strict", fetch });
}

/** A message as the package writes it. */
interface Written {
  content: unknown;
  cache_control?: unknown;
}

/**
 * Every text as a list of blocks, and marks on the last block. The package writes a single text as it is, so that a mark or a tail
 * would change the bytes of the message it follows; and it marks whole messages, where OpenRouter looks at blocks.
 */
const inBlocks =
  (fetch: Fetch): Fetch =>
  (input, init) =>
    fetch(input, typeof init?.body === "string" ? { ...init, body: withBlocks(init.body) } : init);

function withBlocks(body: string): string {
  const request: { readonly messages: readonly Written[] } = JSON.parse(body);
  for (const message of request.messages) {
    if (typeof message.content === "string") message.content = [{ type: "text", text: message.content }];
    const last: unknown = Array.isArray(message.content) ? message.content.at(-1) : undefined;
    if (message.cache_control === undefined || typeof last !== "object" || last === null) continue;
    Object.assign(last, { cache_control: message.cache_control });
    delete message.cache_control;
  }
  return JSON.stringify(request);
}
