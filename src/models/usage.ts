import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "../protocol/index.ts";

/**
 * A call's usage, from the provider's own figures if they are known: packages omit some, or add them up another way. `input` is always the
 * whole prompt; if a provider's `input_tokens` are only the fresh ones, they are summed up.
 */
export function usageOf(usage: LanguageModelV4Usage): Usage {
  const { output, ...read } = figuresOf(usage);
  return { ...read, ...(reportsCache(usage) ? {} : { cacheUnknown: true }), output };
}

/**
 * Cache reads and writes are reported under one of these names, even if they are zero. A server without any of them reports nothing about a
 * cache.
 */
const CACHE_FIGURES = [
  "cached_tokens",
  "cache_write_tokens",
  "cache_creation_tokens",
  "prompt_cache_hit_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cacheReadInputTokens",
  "cacheWriteInputTokens",
] as const;

function reportsCache({ raw, inputTokens }: LanguageModelV4Usage): boolean {
  const figures: object = raw ?? {};
  const places = [figures, objectAt(figures, "prompt_tokens_details"), objectAt(figures, "input_tokens_details")];
  if (places.some((place) => CACHE_FIGURES.some((name) => typeof Reflect.get(place, name) === "number"))) return true;
  const isRead = ["prompt_tokens", "input_tokens", "inputTokens"].some((name) => name in figures);
  const { cacheRead, cacheWrite } = inputTokens;
  return (!isRead || "iterations" in figures) && (cacheRead !== undefined || cacheWrite !== undefined);
}

function figuresOf(usage: LanguageModelV4Usage): Usage {
  const figures = usage.raw ?? {};
  if ("prompt_tokens" in figures) return chatUsage(figures);
  // With `iterations` the top figures are not the whole: there the package has summed up.
  if ("input_tokens" in figures && !("iterations" in figures)) return inputUsage(figures);
  if ("inputTokens" in figures) return converseUsage(figures);
  const { inputTokens, outputTokens } = usage;
  const cacheRead = readCount(inputTokens, "cacheRead");
  const cacheWrite = readCount(inputTokens, "cacheWrite");
  return {
    // A provider that does not tell the total has told the pieces, or nothing.
    input:
      inputTokens.total === undefined
        ? readCount(inputTokens, "noCache") + cacheRead + cacheWrite
        : readCount(inputTokens, "total"),
    cacheRead,
    cacheWrite,
    output:
      outputTokens.total === undefined
        ? readCount(outputTokens, "text") + readCount(outputTokens, "reasoning")
        : readCount(outputTokens, "total"),
  };
}

/** Chat Completions: all of the prompt is `prompt_tokens`. DeepSeek names what it read from its cache on the top level. */
function chatUsage(figures: object): Usage {
  const details = objectAt(figures, "prompt_tokens_details");
  return whole({
    input: readCount(figures, "prompt_tokens"),
    cacheRead: readCount(details, "cached_tokens") || readCount(figures, "prompt_cache_hit_tokens"),
    cacheWrite: readCount(details, "cache_write_tokens") || readCount(details, "cache_creation_tokens"),
    output: readCount(figures, "completion_tokens"),
  });
}

/** Two APIs say `input_tokens`: Responses means the whole prompt, Messages only what was neither read nor written. */
function inputUsage(figures: object): Usage {
  const output = readCount(figures, "output_tokens");
  if ("cache_read_input_tokens" in figures || "cache_creation_input_tokens" in figures) {
    const cacheRead = readCount(figures, "cache_read_input_tokens");
    const cacheWrite = readCount(figures, "cache_creation_input_tokens");
    const input = readCount(figures, "input_tokens") + cacheRead + cacheWrite;
    return {
      input,
      cacheRead,
      cacheWrite,
      ...longOf(objectAt(figures, "cache_creation"), "ephemeral_1h_input_tokens"),
      output,
    };
  }
  const details = objectAt(figures, "input_tokens_details");
  return whole({
    input: readCount(figures, "input_tokens"),
    cacheRead: readCount(details, "cached_tokens"),
    cacheWrite: readCount(details, "cache_write_tokens"),
    ...longOf(objectAt(details, "cache_write_tokens_details"), "ttl_12h_tokens"),
    output,
  });
}

/** Bedrock's Converse: `inputTokens` are what was neither read nor written. */
function converseUsage(figures: object): Usage {
  const cacheRead = readCount(figures, "cacheReadInputTokens");
  const cacheWrite = readCount(figures, "cacheWriteInputTokens");
  const input = readCount(figures, "inputTokens") + cacheRead + cacheWrite;
  return { input, cacheRead, cacheWrite, ...longDetails(figures), output: readCount(figures, "outputTokens") };
}

/** The tokens written for the longer lifetime, if the provider reports them separately. */
const longOf = (written: object, name: string): Pick<Usage, "cacheWriteLong"> =>
  name in written ? { cacheWriteLong: readCount(written, name) } : {};

/** Converse the same in a list. */
function longDetails(figures: object): Pick<Usage, "cacheWriteLong"> {
  const details: unknown = Reflect.get(figures, "cacheDetails");
  if (!Array.isArray(details)) return {};
  const long = details.filter(
    (one: unknown) => typeof one === "object" && one !== null && Reflect.get(one, "ttl") === "1h",
  );
  return { cacheWriteLong: long.reduce((sum: number, one: object) => sum + readCount(one, "inputTokens"), 0) };
}

/** Servers that pass another's figures on may report more cached than sent: what was cached was sent. */
const whole = (usage: Usage): Usage => ({ ...usage, input: Math.max(usage.input, usage.cacheRead + usage.cacheWrite) });

function readCount(figures: object, name: string): number {
  const value: unknown = Reflect.get(figures, name);
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

function objectAt(figures: object, name: string): object {
  const value: unknown = Reflect.get(figures, name);
  return typeof value === "object" && value !== null ? value : {};
}
