import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import type { Json } from "../protocol/index.ts";
import { bindModel } from "./index.ts";
import { replyOf, sampleRequest } from "./model.contract.ts";

/** A package's figures; wrong on purpose if the provider's own can be read. */
const WRONG: LanguageModelV4Usage = {
  inputTokens: { total: 1, noCache: 2, cacheRead: 3, cacheWrite: 4 },
  outputTokens: { total: 5, text: 6, reasoning: 7 },
};

async function usageFrom(usage: LanguageModelV4Usage) {
  const stream = ReadableStream.from([
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Hello." },
    { type: "text-end", id: "t" },
    { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage },
  ] as const);
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streams")),
    doStream: () => Promise.resolve({ stream }),
  };
  return (await replyOf(bindModel(model, { ref: "a:b", wire: "a:b" }), sampleRequest("Hello"))).usage;
}

/** Bodies as providers sent them, and what they mean. */
const CASES: readonly (readonly [string, Record<string, Json>, readonly [number, number, number, number, number?]])[] =
  [
    [
      "Anthropic: `input_tokens` is only what was neither read nor written",
      {
        input_tokens: 11,
        cache_creation_input_tokens: 2_000,
        cache_read_input_tokens: 7_000,
        cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 1_500 },
        output_tokens: 5,
      },
      [9_011, 7_000, 2_000, 5, 1_500],
    ],
    [
      "Anthropic without a cache",
      { input_tokens: 11, cache_creation_input_tokens: null, cache_read_input_tokens: null, output_tokens: 5 },
      [11, 0, 0, 5],
    ],
    [
      "OpenAI's Responses: `input_tokens` is the whole prompt",
      {
        input_tokens: 9_011,
        input_tokens_details: { cached_tokens: 7_000, cache_write_tokens: 2_000 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 3 },
      },
      [9_011, 7_000, 2_000, 5],
    ],
    [
      "OpenAI's Responses: what was written for twelve hours is told apart",
      {
        input_tokens: 9_011,
        input_tokens_details: {
          cached_tokens: 7_000,
          cache_write_tokens: 2_000,
          cache_write_tokens_details: { ttl_12h_tokens: 1_500 },
        },
        output_tokens: 5,
      },
      [9_011, 7_000, 2_000, 5, 1_500],
    ],
    [
      "Bedrock's Converse: `inputTokens` is only what was neither read nor written",
      {
        inputTokens: 11,
        cacheReadInputTokens: 7_000,
        cacheWriteInputTokens: 2_000,
        outputTokens: 5,
        totalTokens: 9_016,
      },
      [9_011, 7_000, 2_000, 5],
    ],
    [
      "Bedrock tells apart what was written for how long",
      {
        inputTokens: 11,
        cacheReadInputTokens: 7_000,
        cacheWriteInputTokens: 2_000,
        cacheDetails: [{ inputTokens: 1_500, ttl: "1h" }, { inputTokens: 500, ttl: "5m" }, null],
        outputTokens: 5,
      },
      [9_011, 7_000, 2_000, 5, 1_500],
    ],
    ["Bedrock without a cache", { inputTokens: 11, outputTokens: 5, totalTokens: 16 }, [11, 0, 0, 5]],
    [
      "OpenRouter: what was written is part of the prompt too",
      {
        prompt_tokens: 9_011,
        prompt_tokens_details: { cached_tokens: 7_000, cache_write_tokens: 2_000 },
        completion_tokens: 5,
        cost: 0.01,
      },
      [9_011, 7_000, 2_000, 5],
    ],
    [
      "DeepSeek: what was read stands on the top",
      { prompt_tokens: 900, prompt_cache_hit_tokens: 640, prompt_cache_miss_tokens: 260, completion_tokens: 5 },
      [900, 640, 0, 5],
    ],
    ["vLLM: no details", { prompt_tokens: 900, prompt_tokens_details: null, completion_tokens: 5 }, [900, 0, 0, 5]],
    [
      "a server that passes on another's figures: what was cached was sent",
      { prompt_tokens: 11, prompt_tokens_details: { cached_tokens: 7_000 }, completion_tokens: 5 },
      [7_000, 7_000, 0, 5],
    ],
    [
      "nonsense is nothing",
      { prompt_tokens: "900", prompt_tokens_details: [], completion_tokens: -5, prompt_cache_hit_tokens: true },
      [0, 0, 0, 0],
    ],
  ];

describe("usage", () => {
  it.each(CASES)(
    "is read from the raw figures: %s",
    async (_name, raw, [input, cacheRead, cacheWrite, output, long]) => {
      const told = {
        ...(long !== undefined && { cacheWriteLong: long }),
        // 25.17: of these, none reports anything about a cache.
        ...(cacheRead + cacheWrite === 0 && { cacheUnknown: true }),
      };
      expect(await usageFrom({ ...WRONG, raw })).toEqual({ input, cacheRead, cacheWrite, ...told, output });
    },
  );

  it("25.17 a cache that is reported to have read nothing is another thing than one that nothing is reported of", async () => {
    const raw = (details: Json) => ({
      prompt_tokens: 900,
      prompt_tokens_details: details,
      completion_tokens: 5,
    });
    expect(await usageFrom({ ...WRONG, raw: raw({ cached_tokens: 0 }) })).not.toHaveProperty("cacheUnknown");
    expect(await usageFrom({ ...WRONG, raw: raw({ audio_tokens: 0 }) })).toHaveProperty("cacheUnknown", true);
  });

  it("is what the package has summed up where the raw figures are one iteration's", async () => {
    const inputTokens = { total: 30, noCache: 10, cacheRead: 20, cacheWrite: 0 };
    const raw = { input_tokens: 5, output_tokens: 2, iterations: [{ type: "message" }] };
    expect(await usageFrom({ ...WRONG, inputTokens, raw })).toEqual({
      input: 30,
      cacheRead: 20,
      cacheWrite: 0,
      output: 5,
    });
  });

  it("is added up from the package's pieces where a provider tells no totals", async () => {
    const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
    expect(
      await usageFrom({
        inputTokens: { ...none, noCache: 4, cacheRead: 5, cacheWrite: 2 },
        outputTokens: { total: undefined, text: 3, reasoning: 4 },
      }),
    ).toEqual({ input: 11, cacheRead: 5, cacheWrite: 2, output: 7 });
    expect(
      await usageFrom({ inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } }),
    ).toEqual({ input: 0, cacheRead: 0, cacheWrite: 0, cacheUnknown: true, output: 0 });
  });
});
