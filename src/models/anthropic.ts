import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Opening } from "./access.ts";
import { providerPackage } from "./provider-package.ts";

const ADDRESS = "https://api.anthropic.com/v1";

/**
 * A model of Anthropic's package. Key and address are always given: left out, the package would take them from the
 * environment, where a stranger's setting could send prompts elsewhere.
 */
export function anthropicModel(name: string, { key, url = ADDRESS, fetch }: Opening): LanguageModelV4 {
  const { createAnthropic }: typeof import("@ai-sdk/anthropic") = providerPackage("@ai-sdk/anthropic");
  return createAnthropic({ apiKey: key, baseURL: url, fetch })(name);
}
