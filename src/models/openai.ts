import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import type { Opening } from "./access.ts";
import { providerPackage } from "./provider-package.ts";

const ADDRESS = "https://api.openai.com/v1";

/** A model of OpenAI's package over its Responses API. Key and address are always given, as for Anthropic. */
export function openaiModel(name: string, opening: Opening): LanguageModelV4 {
  return openai(opening).responses(name);
}

export function openaiEmbedding(name: string, opening: Opening): EmbeddingModelV4 {
  return openai(opening).embeddingModel(name);
}

function openai({ key, url = ADDRESS, fetch }: Opening) {
  const { createOpenAI }: typeof import("@ai-sdk/openai") = providerPackage("@ai-sdk/openai");
  return createOpenAI({ apiKey: key, baseURL: url, fetch });
}
