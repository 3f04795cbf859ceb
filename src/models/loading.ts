import type { LanguageModelV4ToolResultPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ToolSchema } from "../protocol/index.ts";
import type { Dialect } from "./dialect.ts";
import { toolsLoaded } from "./wording.ts";

/** A result that loads tools: the provider gets no text with their schemas, but the tools themselves. */
export function loading(
  tools: readonly ToolSchema[],
  dialect: Dialect,
  marked: { readonly providerOptions?: SharedV4ProviderOptions },
): Pick<LanguageModelV4ToolResultPart, "output" | "providerOptions"> {
  const { provider } = dialect;
  const names = tools.map(({ name }) => name);
  if (dialect.loading === "reference") {
    const reference = (toolName: string) =>
      ({ type: "custom", providerOptions: { [provider]: { type: "tool-reference", toolName } } }) as const;
    return { output: { type: "content", value: names.map(reference) }, ...marked };
  }
  const definitions = tools.map(({ name, description, input }) => ({
    ...{ type: "function", name, description, parameters: input },
    ...(dialect.strict !== undefined && { strict: dialect.strict }),
  }));
  return {
    output: { type: "content", value: [{ type: "text", text: toolsLoaded(names), ...marked }] },
    providerOptions: { [provider]: { additionalTools: definitions } },
  };
}
