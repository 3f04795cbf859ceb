import { z } from "zod";
import { REFERENCE, SECRET_FORM, tokens } from "./schema-parts.ts";

/** The APIs that Strata speaks by itself. */
export const PROVIDER_KINDS = ["anthropic", "openai", "openrouter", "bedrock", "openai-compatible"] as const;

/** Where a secret comes from. */
export const SECRET = z
  .string()
  .regex(
    SECRET_FORM,
    `\`${REFERENCE}\`: the value itself belongs into the environment or into \`.env\` beside strata.yaml, never here`,
  );

/** Who runs models. */
export const PROVIDER = z.strictObject({
  kind: z
    .enum(PROVIDER_KINDS)
    .optional()
    .describe(
      "The API it speaks: `anthropic`, `openai` (Responses), `openrouter`, `bedrock` (Converse; its package comes with `npm install @ai-sdk/amazon-bedrock`), or `openai-compatible` (Chat Completions, as Ollama, vLLM and llama.cpp serve it). Default: its own name, where that is one of them.",
    ),
  package: z
    .string()
    .regex(/^(?:@[a-z0-9._-]+\/)?[a-z0-9._-]+$/, "the name of an npm package")
    .optional()
    .describe("Instead of `kind`: an installed provider package of the AI SDK, as in `@ai-sdk/mistral`."),
  key: SECRET.optional().describe(
    `Where the key comes from: \`${REFERENCE}\` of the environment or of \`.env\` beside strata.yaml. Left out where the server wants none.`,
  ),
  url: z
    .url({ protocol: /^https?$/, error: "an address that begins with https:// or http://" })
    .optional()
    .describe(
      "The address of its API, where it is not the provider's own. `openai-compatible` needs one. It stands without the path of a single call: of `anthropic`, `openai` and most compatible servers it ends in `/v1`, as in `https://api.anthropic.com/v1` or `http://127.0.0.1:11434/v1`; of `openrouter` in `/api/v1`; of `bedrock` in the host.",
    ),
  region: z
    .string()
    .regex(/^[a-z]{2,4}(?:-[a-z]+)+-\d+$/, "a region of AWS, as in `eu-central-1`")
    .optional()
    .describe("For `bedrock`: the region of AWS. Default: `AWS_REGION`, else `AWS_DEFAULT_REGION`."),
});

const dollarsPerMillion = () => z.number().min(0).max(1_000_000);

const seconds = () => z.int().min(0).max(31_536_000);

/** What is declared of a model. */
export const MODEL_CARD = z.strictObject({
  window: tokens(1).optional().describe("Tokens of prompt and reply together."),
  longestReply: tokens(1).optional().describe("Tokens of the longest reply."),
  tokenFactor: z
    .number()
    .min(0.25)
    .max(4)
    .optional()
    .describe("Tokens of this model for one token of o200k, to begin with; what it reports corrects it."),
  cache: z
    .enum(["marks", "breakpoints", "automatic", "none"])
    .optional()
    .describe(
      "How its cache is written: where marks stand (`marks`), read there only, too (`breakpoints`), by itself (`automatic`), or not at all (`none`).",
    ),
  minimumPrefix: tokens(0).optional().describe("Tokens below which its cache keeps nothing."),
  step: tokens(1).optional().describe("Tokens by which what is kept grows: a cache of blocks keeps whole blocks only."),
  marks: z.int().min(0).max(100).optional().describe("How many marks a request may write."),
  lookback: z
    .int()
    .min(0)
    .max(1_000)
    .optional()
    .describe("Positions before a mark that are looked through for something kept; with `breakpoints`, marks."),
  lifetimes: z
    .strictObject({
      short: seconds().describe("What is kept unless asked otherwise."),
      long: seconds().optional().describe("What may be asked for. Default: nothing longer."),
    })
    .optional()
    .describe("Seconds that something is kept after its last use began."),
  tail: z
    .enum(["turn-scoped", "ephemeral", "delta"])
    .optional()
    .describe(
      "Where a turn's own text stands: in a message that the provider clears (`turn-scoped`), at the end until the next request (`ephemeral`), or as changed lines that stay (`delta`).",
    ),
  binds: z
    .boolean()
    .optional()
    .describe(
      "Whether its reasoning is bound to all that was sent before it, so that nothing of that may be taken away: then `delta` keeps its lines always, and otherwise only where that is cheaper.",
    ),
  metadata: z
    .string()
    .regex(/^[a-zA-Z][a-zA-Z0-9]*$/, "a name of letters and digits")
    .optional()
    .describe("The provider's key in options and metadata of parts, as its package of the AI SDK reads it."),
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
        .describe("For tokens written to be kept for the long lifetime. Without a built-in price: `cacheWrite`."),
    })
    .optional()
    .describe(
      "US dollars per million tokens. What is left out is as built in for this model: the same price where `input` is the built-in one or left out, else the same share of `input`. A model without a built-in price needs `input` and `output`.",
    ),
});
