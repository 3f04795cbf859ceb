import { createRequire } from "node:module";
import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import { StrataError } from "../protocol/index.ts";
import { type Fetch, NO_KEY, type Opening } from "./access.ts";

const installed = createRequire(import.meta.url);

/**
 * Loads a provider's package only when one of its models is opened: most programs use one provider, or none. A large package that few
 * people use is not installed with Strata.
 * @throws StrataError `model_unknown` if it is not installed
 */
function providerPackage<Package>(name: string): Package {
  try {
    return installed(name);
  } catch (thrown) {
    const isMissing = thrown instanceof Error && "code" in thrown && thrown.code === "MODULE_NOT_FOUND";
    if (!isMissing || !thrown.message.includes(`'${name}'`)) throw thrown;
    const sentence = `the package ${name} is not installed; run \`npm install ${name}\` where Strata is installed`;
    throw new StrataError("model_unknown", sentence, { package: name });
  }
}

const ANTHROPIC = "https://api.anthropic.com/v1";

/**
 * A model of Anthropic's package. Key and address are always given: otherwise the package would take them from the environment, where a
 * stranger's setting could send prompts elsewhere.
 */
export function anthropicModel(name: string, { key, url = ANTHROPIC, fetch }: Opening): LanguageModelV4 {
  const { createAnthropic }: typeof import("@ai-sdk/anthropic") = providerPackage("@ai-sdk/anthropic");
  return createAnthropic({ apiKey: key, baseURL: url, fetch })(name);
}

const OPENAI = "https://api.openai.com/v1";

/** A model of OpenAI's package over its Responses API. Key and address are always given, as for Anthropic. */
export function openaiModel(name: string, opening: Opening): LanguageModelV4 {
  return openai(opening).responses(name);
}

export function openaiEmbedding(name: string, opening: Opening): EmbeddingModelV4 {
  return openai(opening).embeddingModel(name);
}

function openai({ key, url = OPENAI, fetch }: Opening) {
  const { createOpenAI }: typeof import("@ai-sdk/openai") = providerPackage("@ai-sdk/openai");
  return createOpenAI({ apiKey: key, baseURL: url, fetch });
}

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

const OPENROUTER = "https://openrouter.ai/api/v1";

/**
 * A model behind OpenRouter, by `maker/name`. Key and address are always given, as for Anthropic.
 * @param marked whether its requests carry breakpoints
 */
export function openrouterModel(name: string, opening: Opening, marked: boolean): LanguageModelV4 {
  const provider = openrouter(marked ? { ...opening, fetch: inBlocks(opening.fetch) } : opening);
  return provider.chat(name, { usage: { include: true } });
}

/** An embedding model behind OpenRouter, by `maker/name`. */
export function openrouterEmbedding(name: string, opening: Opening): EmbeddingModelV4 {
  return openrouter(opening).textEmbeddingModel(name);
}

function openrouter({ key, url = OPENROUTER, fetch }: Opening) {
  const { createOpenRouter }: typeof import("@openrouter/ai-sdk-provider") =
    providerPackage("@openrouter/ai-sdk-provider");
  return createOpenRouter({ apiKey: key, baseURL: url, compatibility: "strict", fetch });
}

/** A message as the package writes it. */
interface WrittenMessage {
  content: unknown;
  cache_control?: unknown;
}

/**
 * Every text as a list of blocks, and breakpoints on the last block. The package writes a single text as a plain string, so that a
 * breakpoint or a tail would change the bytes of the message it follows; and it marks whole messages, whereas OpenRouter looks at blocks.
 */
const inBlocks =
  (fetch: Fetch): Fetch =>
  (input, init) =>
    fetch(input, typeof init?.body === "string" ? { ...init, body: withBlocks(init.body) } : init);

function withBlocks(body: string): string {
  const request: { readonly messages: readonly WrittenMessage[] } = JSON.parse(body);
  for (const message of request.messages) {
    if (typeof message.content === "string") message.content = [{ type: "text", text: message.content }];
    const last: unknown = Array.isArray(message.content) ? message.content.at(-1) : undefined;
    if (message.cache_control === undefined || typeof last !== "object" || last === null) continue;
    Object.assign(last, { cache_control: message.cache_control });
    delete message.cache_control;
  }
  return JSON.stringify(request);
}

/**
 * A model on Amazon Bedrock over its Converse API. With a Bedrock key that key is sent; with an access key of AWS each request is
 * signed. All that the package would look for in the environment is given, or said to be nothing.
 */
export function bedrockModel(name: string, opening: Opening): LanguageModelV4 {
  return bedrock(opening).languageModel(name);
}

/** An embedding model on Amazon Bedrock. */
export function bedrockEmbedding(name: string, opening: Opening): EmbeddingModelV4 {
  return bedrock(opening).embeddingModel(name);
}

function bedrock(opening: Opening) {
  const { key, url = "", region = REGION_OF_ADDRESS.exec(url)?.[1] ?? "us-east-1", signing, fetch } = opening;
  const { createAmazonBedrock }: typeof import("@ai-sdk/amazon-bedrock") = providerPackage("@ai-sdk/amazon-bedrock");
  const access =
    signing === undefined
      ? { apiKey: key }
      : {
          apiKey: "",
          accessKeyId: signing.id,
          secretAccessKey: key,
          ...(signing.session !== undefined && { sessionToken: signing.session }),
        };
  return createAmazonBedrock({ ...access, region, baseURL: url, fetch });
}

const REGION_OF_ADDRESS = /^https:\/\/bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./;

/** The prefixes of some AWS regions, and their domains. */
const DOMAINS: readonly (readonly [string, string])[] = [
  ["cn-", "amazonaws.com.cn"],
  ["eusc-", "amazonaws.eu"],
];

/** The address of Bedrock in a region. */
export function bedrockAddress(region: string): string {
  const domain = DOMAINS.find(([begins]) => region.startsWith(begins))?.[1] ?? "amazonaws.com";
  return `https://bedrock-runtime.${region}.${domain}`;
}
