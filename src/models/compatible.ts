import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { NO_KEY, type Opening } from "./access.ts";

/**
 * A model of any server that speaks OpenAI's Chat Completions: Ollama, vLLM, llama.cpp and many hosts. Without a key none is
 * sent: local servers need none. Usage is asked for: servers do not stream it by themselves. A schema goes as one: they take it.
 */
export function compatibleModel(name: string, { provider, key, url = "", fetch }: Opening): LanguageModelV4 {
  const auth = key === NO_KEY ? {} : { apiKey: key };
  return createOpenAICompatible({
    name: provider,
    baseURL: url,
    ...auth,
    fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
  }).languageModel(name);
}
