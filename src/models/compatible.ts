import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import { NO_KEY, type Opening } from "./access.ts";
import { providerPackage } from "./provider-package.ts";

/**
 * A model of any server that speaks OpenAI's Chat Completions: Ollama, vLLM, llama.cpp and many hosts. Without a key none is
 * sent: local servers need none. Usage is asked for: servers do not stream it by themselves. A schema goes as one: they take it.
 */
export function compatibleModel(name: string, opening: Opening): LanguageModelV4 {
  return compatible(opening).languageModel(name);
}

/** An embedding model of the same servers. */
export function compatibleEmbedding(name: string, opening: Opening): EmbeddingModelV4 {
  return compatible(opening).embeddingModel(name);
}

function compatible({ provider, key, url = "", fetch }: Opening) {
  const name = "@ai-sdk/openai-compatible";
  const { createOpenAICompatible }: typeof import("@ai-sdk/openai-compatible") = providerPackage(name);
  const auth = key === NO_KEY ? {} : { apiKey: key };
  return createOpenAICompatible({
    name: provider,
    baseURL: url,
    ...auth,
    fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
}
