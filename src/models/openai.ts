import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Opening } from "./access.ts";

const ADDRESS = "https://api.openai.com/v1";

/** A model of OpenAI's package over its Responses API. Key and address are always given, as for Anthropic. */
export function openaiModel(name: string, { key, url = ADDRESS, fetch }: Opening): LanguageModelV4 {
  return createOpenAI({ apiKey: key, baseURL: url, fetch }).responses(name);
}
