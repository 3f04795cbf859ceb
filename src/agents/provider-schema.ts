import { z } from "zod";
import { REFERENCE, SECRET_FORM, tokens } from "./schema-parts.ts";

/** The APIs that Strata supports itself. */
export const PROVIDER_KINDS = ["anthropic", "openai", "openrouter", "bedrock", "openai-compatible"] as const;

/** Where a secret comes from. */
export const SECRET = z
  .string()
  .regex(
    SECRET_FORM,
    `\`${REFERENCE}\`: the value itself belongs in the environment or in \`.env\` beside strata.yaml, never here`,
  );

/** Who runs models. */
export const PROVIDER = z.strictObject({
  kind: z
    .enum(PROVIDER_KINDS)
    .optional()
    .describe(
      "The API it speaks: `anthropic`, `openai` (Responses), `openrouter`, `bedrock` (Converse; its package comes with `npm install @ai-sdk/amazon-bedrock`), or `openai-compatible` (Chat Completions, as Ollama, vLLM and llama.cpp serve it). Default: the entry's own name, if that is one of them.",
    ),
  package: z
    .string()
    .regex(/^(?:@[a-z0-9._-]+\/)?[a-z0-9._-]+$/, "the name of an npm package")
    .optional()
    .describe("Instead of `kind`: an installed provider package of the AI SDK, as in `@ai-sdk/mistral`."),
  key: SECRET.optional().describe(
    `Where the key comes from: \`${REFERENCE}\` of the environment or of \`.env\` beside strata.yaml. Leave it out if the server needs none.`,
  ),
  url: z
    .url({ protocol: /^https?$/, error: "an address that begins with https:// or http://" })
    .optional()
    .describe(
      "The base address of its API, if it is not the provider's own; required for `openai-compatible`. Leave out the path of the single call: for `anthropic`, `openai` and most compatible servers the address ends in `/v1`, as in `https://api.anthropic.com/v1` or `http://127.0.0.1:11434/v1`; for `openrouter` in `/api/v1`; for `bedrock` with the host.",
    ),
  region: z
    .string()
    .regex(/^[a-z]{2,4}(?:-[a-z]+)+-\d+$/, "a region of AWS, as in `eu-central-1`")
    .optional()
    .describe("For `bedrock`: the region of AWS. Default: `AWS_REGION`, otherwise `AWS_DEFAULT_REGION`."),
});

const dollarsPerMillion = () => z.number().min(0).max(1_000_000);

const seconds = () => z.int().min(0).max(31_536_000);

/** The declaration of a model. */
export const MODEL_CARD = z.strictObject({
  contextWindow: tokens(1).optional().describe("The context window: tokens of prompt and reply together."),
  maxOutputTokens: tokens(1).optional().describe("Tokens of the longest reply."),
  tokenFactor: z
    .number()
    .min(0.25)
    .max(4)
    .optional()
    .describe(
      "The first estimate of how many tokens this model counts per token of o200k; the usage it reports corrects the estimate.",
    ),
  cache: z
    .enum(["lookback", "exact", "automatic", "none"])
    .optional()
    .describe(
      "How its cache works: written at breakpoints and found again some positions before one (`lookback`), written and read only at breakpoints (`exact`), by itself (`automatic`), or not at all (`none`).",
    ),
  minimumPrefix: tokens(0).optional().describe("Shorter prefixes, in tokens, are not cached."),
  step: tokens(1).optional().describe("The block size of its cache in tokens: only whole blocks are kept."),
  breakpoints: z.int().min(0).max(100).optional().describe("How many breakpoints a request may have."),
  lookback: z
    .int()
    .min(0)
    .max(1_000)
    .optional()
    .describe(
      "How many positions before a breakpoint are searched for a cached prefix; with `exact`, how many breakpoints.",
    ),
  lifetimes: z
    .strictObject({
      short: seconds().describe("The usual lifetime."),
      long: seconds().optional().describe("The longer lifetime that a request may ask for. Default: none."),
    })
    .optional()
    .describe("Seconds for which a cache entry lives after its last use began."),
  tailMode: z
    .enum(["turn-scoped", "ephemeral", "delta"])
    .optional()
    .describe(
      "How the tail, the live layers of one turn, is sent: in a message that the provider removes (`turn-scoped`), at the end until the next request (`ephemeral`), or as changed lines that stay (`delta`).",
    ),
  loadsTools: z
    .boolean()
    .optional()
    .describe(
      "Whether its API loads deferred tools into a running conversation, so that the model calls them by their own names (Anthropic's and OpenAI's can). Default for unknown models: no, and `more_tools` calls them.",
    ),
  reasoningBoundToHistory: z
    .boolean()
    .optional()
    .describe(
      "Whether its reasoning is bound to everything sent before it, so that nothing of that may be removed. If so, `delta` always keeps its lines; otherwise only if that is cheaper.",
    ),
  reasoning: z
    .enum(["effort", "budget"])
    .optional()
    .describe(
      "How the model is told how much to reason: by a level (`effort`), or by a share of the reply's tokens (`budget`).",
    ),
  sampling: z
    .enum(["never", "unless-reasoning", "if-off"])
    .optional()
    .describe(
      "When its API refuses `temperature` and `topP`: always (`never`), while the model reasons (`unless-reasoning`), or unless reasoning is turned off expressly (`if-off`). They are then left out, and the ledger says so. Default for unknown models: they are sent.",
    ),
  metadata: z
    .string()
    .regex(/^[a-zA-Z][a-zA-Z0-9]*$/, "a name of letters and digits")
    .optional()
    .describe("The provider's key in the options and metadata of parts, as its AI SDK package reads it."),
  price: z
    .strictObject({
      input: dollarsPerMillion().optional().describe("For tokens of the prompt. Default: the built-in price."),
      output: dollarsPerMillion().optional().describe("For tokens of the reply."),
      cacheRead: dollarsPerMillion()
        .optional()
        .describe("For tokens of the prompt read from the cache. Without a built-in price: `input`."),
      cacheWrite: dollarsPerMillion()
        .optional()
        .describe("For tokens of the prompt written to the cache. Without a built-in price: `input`."),
      cacheWriteLong: dollarsPerMillion()
        .optional()
        .describe("For tokens written to the cache with the long lifetime. Without a built-in price: `cacheWrite`."),
    })
    .optional()
    .describe(
      "US dollars per million tokens. Missing prices come from the built-in ones of this model: the same price if `input` is the built-in one or left out, otherwise the same share of `input`. A model without a built-in price needs `input` and `output`.",
    ),
});
