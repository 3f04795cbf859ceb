import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";

/** Plays one answer as stream parts. */
export type Play = (options: LanguageModelV4CallOptions) => AsyncIterable<LanguageModelV4StreamPart>;

/** A language model that lives in this process: no network, no key. It only streams, as Strata only streams. */
export function localModel(modelId: string, play: Play): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "strata",
    modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error(`${modelId} only streams; call doStream`)),
    doStream: (options) => Promise.resolve({ stream: ReadableStream.from(play(options)) }),
  };
}

/** The stream parts of one text, piece by piece. */
export function* textParts(id: string, pieces: Iterable<string>): Generator<LanguageModelV4StreamPart> {
  yield { type: "text-start", id };
  for (const delta of pieces) yield { type: "text-delta", id, delta };
  yield { type: "text-end", id };
}

/** The last stream part. */
export function finishPart(
  unified: LanguageModelV4FinishReason["unified"],
  tokens: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  },
  raw?: string,
): LanguageModelV4StreamPart {
  const { input, output, cacheRead = 0, cacheWrite = 0 } = tokens;
  const usage: LanguageModelV4Usage = {
    inputTokens: { total: input, noCache: input - cacheRead - cacheWrite, cacheRead, cacheWrite },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
  // An end for a reason that has no name would be one that broke off.
  return { type: "finish", finishReason: { unified, raw: raw ?? unified }, usage };
}
