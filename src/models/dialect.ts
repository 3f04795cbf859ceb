import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import { type Breakpoint, canonicalJson, digestOf, type ModelRef, type Request } from "../protocol/index.ts";

/** The differences between providers. Only `toCallOptions` reads them. */
export interface Dialect {
  /** The provider's name in a part's options. */
  readonly provider: string;
  /** The value of a breakpoint; left out if the provider has no breakpoints. */
  readonly breakpoint?: (lifetime: Breakpoint["lifetime"]) => SharedV4ProviderOptions[string];
  /** Where to put a reply's breakpoint: on its last part that may have one, or on the message, if the package only looks there. */
  readonly replyBreakpoint?: "message";
  /** How many of our earlier messages keep a breakpoint, for providers that read the cache only at breakpoints. */
  readonly breakpointsKept?: number;
  /**
   * `apart`: each text of a user message is a separate block. `joined`: texts go as one, for packages and servers that write a single text
   * differently from several: the tail would change the bytes of the message it follows.
   */
  readonly userTexts: "apart" | "joined";
  /** Consecutive user messages are merged, for servers that refuse them: after a cut, several are at the beginning. */
  readonly userMessages?: "merged";
  /**
   * `flagged`: a failed result carries the provider's flag. `blocks`: every result is a list of blocks, so that a breakpoint on one does
   * not change its form, and only the text of a failed one shows the failure: a flag would wrap it in JSON, and its frame with it.
   */
  readonly results: "flagged" | "blocks";
  /** Media types that its API accepts in a tool's result; if omitted, none: a line says what is missing. */
  readonly resultMedia?: readonly string[];
  /** The provider accepts calls of earlier turns only if there is a tool: if none is left, a placeholder is sent. */
  readonly callsNeedTools?: true;
  /** The options of a system message that the provider clears by itself; omitted if it has none: then the tail is sent as text. */
  readonly turnScoped?: SharedV4ProviderOptions[string];
  /** Such text is an option of the call instead, which the provider appends behind the conversation for this request alone. */
  readonly turnScopedOption?: true;
  /**
   * How a result loads deferred tools: by their names, with all of them declared to the provider, or by their definitions behind the result.
   * Omitted if it cannot: then the result's text has their schemas, and nothing declares them.
   */
  readonly loading?: "reference" | "definition";
  /** Options of each tool; omitted if the provider by default accepts a schema unchanged. */
  readonly strict?: false;
  /**
   * `added`: the call's options include a budget for reasoning, and the package adds it to the tokens of the answer. `own`: they also
   * include levels, because the package does not read the usual setting.
   */
  readonly reasoning?: "added" | "own";
  /** Options of the whole call. */
  readonly call?: (request: Request) => SharedV4ProviderOptions;
}

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const ANTHROPIC: Dialect = {
  provider: "anthropic",
  breakpoint: (lifetime) => ({
    cacheControl: lifetime === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" },
  }),
  userTexts: "apart",
  results: "flagged",
  resultMedia: [...PICTURES, "application/pdf"],
  turnScoped: { clearAt: "next_user_message" },
  loading: "reference",
  reasoning: "added",
  call: (request) =>
    withBudget(request, "anthropic", (budgetTokens) => ({ thinking: { type: "enabled", budgetTokens } })),
};

/**
 * Nothing is stored at the provider: the record is ours, and its own references would replace bytes that we could not show. Breakpoints are
 * planned only for models whose card says so: their cache is read exactly at a breakpoint, of which the last 80 are looked at (50 by its
 * guide) and the last 4 written. So a message keeps its breakpoint, and `explicit` keeps the tail from being written, and paid for, each time.
 */
const OPENAI: Dialect = {
  provider: "openai",
  userTexts: "apart",
  results: "blocks",
  resultMedia: [...PICTURES, "application/pdf"],
  strict: false,
  // Its own search would show the name and description of each deferred tool from the start.
  loading: "definition",
  // The long lifetime, which has Anthropic's name, is twelve hours here.
  breakpoint: (lifetime) => ({
    promptCacheBreakpoint: { mode: "explicit", ...(lifetime === "1h" && { ttl: "12h" }) },
  }),
  breakpointsKept: 48,
  call: (request) => ({
    openai: {
      store: false,
      promptCacheKey: cacheKey(request),
      // `explicit` without a breakpoint would mean: no cache.
      ...(request.breakpoints.length > 0 && { promptCacheOptions: { mode: "explicit" } }),
      // The package would ask for a summary of it, which OpenAI gives to verified organizations alone.
      ...(request.parameters.reasoning && { reasoningSummary: null }),
    },
  }),
};

/** GPT-6.2 drops reasoning once anything before it was edited, and appends `instructions` behind the input, for one request. */
const OPENAI_62: Dialect = {
  ...OPENAI,
  turnScopedOption: true,
  call: (request) => {
    const texts = request.tail.flatMap(({ way, text }) => (way === "turn-scoped" && text.trim() !== "" ? [text] : []));
    const { openai, ...others } = OPENAI.call?.(request) ?? {};
    return { ...others, openai: { ...openai, ...(texts.length > 0 && { instructions: texts.join("\n\n") }) } };
  },
};

const CACHE_CONTROL = ANTHROPIC.breakpoint;

/**
 * OpenRouter leads requests of one session to one place, whoever hosts the model. It would take the first messages for the
 * session's name: told the prefix's, all threads of it find one another's beginning.
 */
const OPENROUTER: Dialect = {
  provider: "openrouter",
  userTexts: "joined",
  userMessages: "merged",
  results: "flagged",
  replyBreakpoint: "message",
  reasoning: "own",
  call: (request) => ({ openrouter: { session_id: cacheKey(request), ...routedReasoning(request) } }),
};

/** Passes Anthropic's breakpoints on unchanged. */
const OPENROUTER_CLAUDE: Dialect = {
  ...OPENROUTER,
  userTexts: "apart",
  ...(CACHE_CONTROL && { breakpoint: CACHE_CONTROL }),
};

/** For OpenAI, OpenRouter makes OpenAI's breakpoints of Anthropic's. They have one lifetime, and only some of its models are planned any. */
const OPENROUTER_GPT: Dialect = {
  ...OPENROUTER,
  userTexts: "apart",
  breakpoint: () => ({ cacheControl: { type: "ephemeral" } }),
  breakpointsKept: 48,
};

/** Its Converse API always takes texts and results as blocks, and a breakpoint as a separate block. */
const BEDROCK: Dialect = {
  provider: "bedrock",
  userTexts: "apart",
  results: "flagged",
  replyBreakpoint: "message",
  callsNeedTools: true,
  resultMedia: PICTURES,
};

const BEDROCK_CLAUDE: Dialect = {
  ...BEDROCK,
  breakpoint: (lifetime) => ({ cachePoint: lifetime === "1h" ? { type: "default", ttl: "1h" } : { type: "default" } }),
  reasoning: "added",
  call: (request) =>
    withBudget(request, "bedrock", (budgetTokens) => ({ reasoningConfig: { type: "enabled", budgetTokens } })),
};

/** Every other server: it caches by itself or not at all. */
const PLAIN: Dialect = { provider: "strata", userTexts: "joined", userMessages: "merged", results: "flagged" };

/** The dialect of a kind of provider. `kind` is the name of a built-in provider or of a package. */
export function dialectOf(kind: string, model: string): Dialect {
  switch (kind) {
    case "anthropic":
    case "@ai-sdk/anthropic":
      return ANTHROPIC;
    case "openai":
    case "@ai-sdk/openai":
      return /^gpt-6\.2(?!\d)/.test(model) ? OPENAI_62 : OPENAI;
    case "openrouter":
      return openrouterDialect(model);
    case "bedrock":
    case "@ai-sdk/amazon-bedrock":
      return model.includes("anthropic.") ? BEDROCK_CLAUDE : BEDROCK;
    default:
      return PLAIN;
  }
}

function openrouterDialect(model: string): Dialect {
  if (model.startsWith("anthropic/")) return OPENROUTER_CLAUDE;
  return model.startsWith("openai/") ? OPENROUTER_GPT : OPENROUTER;
}

/** The dialect of a model, by its name. */
export function dialectOfRef(ref: ModelRef): Dialect {
  const [provider = "", ...name] = ref.split(":");
  return dialectOf(provider, name.join(":"));
}

/** The reasoning budget, if the model takes one. */
function withBudget(
  { parameters: { reasoning } }: Request,
  provider: string,
  said: (tokens: number) => SharedV4ProviderOptions[string],
): SharedV4ProviderOptions {
  return reasoning?.tokens === undefined ? {} : { [provider]: said(reasoning.tokens) };
}

/** The same as OpenRouter reads it: a budget, or a level. */
function routedReasoning({ parameters: { reasoning } }: Request): SharedV4ProviderOptions[string] {
  if (reasoning === undefined) return {};
  const { level, tokens } = reasoning;
  return { reasoning: tokens === undefined ? { effort: level === "off" ? "none" : level } : { max_tokens: tokens } };
}

/** Routes requests with the same prefix to the same place. Changes only with the prefix. */
const cacheKey = ({ prefix }: Request): string =>
  digestOf(
    canonicalJson({ tools: prefix.tools.map((tool) => ({ ...tool })), system: prefix.system.map(({ text }) => text) }),
  ).slice(0, 32);
