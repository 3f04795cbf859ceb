import { APICallError, type LanguageModelV4CallOptions, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Diagnosis, Reply } from "../protocol/index.ts";
import type { Fetch } from "./access.ts";
import { rootOf, statusOf } from "./failure.ts";

/** How a provider is asked to compare a request with an earlier one, and to say why its cache missed. */
export interface ComparisonWay {
  /** The call with the question in it. `previous`: the id of the earlier answer; null if there is none. */
  readonly asking: (options: LanguageModelV4CallOptions, previous: string | null) => LanguageModelV4CallOptions;
  /** The part's finding; undefined if it has none. */
  readonly found: (part: LanguageModelV4StreamPart) => Diagnosis | undefined;
  /** What its refusal of the question names. */
  readonly parameter: RegExp;
}

/** The question of one call and what was answered to it. */
export interface Comparison {
  readonly asking: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions;
  readonly take: (part: LanguageModelV4StreamPart) => void;
  /** Whether the provider refused the question. It is then not asked any more. */
  readonly isRefused: (thrown: unknown) => boolean;
  readonly answer: () => Pick<Reply, "id" | "compared" | "diagnosis">;
}

/** Makes the comparisons of one model. A provider that has refused the question once is not asked again. */
export function comparisons({ asking, found, parameter }: ComparisonWay): (previous: string | null) => Comparison {
  let refused = false;
  return (previous) => {
    let id: string | undefined;
    let diagnosis: Diagnosis | undefined;
    return {
      asking: (options) => (refused ? options : asking(options, previous)),
      take: (part) => {
        if (refused) return;
        if (part.type === "response-metadata") id = part.id ?? id;
        if (previous !== null) diagnosis = found(part) ?? diagnosis;
      },
      isRefused: (thrown) => {
        if (refused || !refuses(thrown, parameter)) return false;
        diagnosis = { found: "refused" };
        refused = true;
        return true;
      },
      answer: () => ({
        ...(!refused && { compared: previous }),
        ...(id !== undefined && { id }),
        ...(diagnosis && { diagnosis }),
      }),
    };
  };
}

/** A request that the provider finds invalid, with a message that names the parameter. */
function refuses(failed: unknown, parameter: RegExp): boolean {
  const thrown = rootOf(failed);
  if (!APICallError.isInstance(thrown) || ![400, 422].includes(statusOf(thrown) ?? 0)) return false;
  return parameter.test(thrown.message) || parameter.test(thrown.responseBody ?? "");
}

/** Carries the question from the call to `withDiagnostics`. It is never sent. */
const QUESTION = "x-strata-diagnostics";

/** Anthropic keeps what to compare only of requests with the field. Its package does not know it: `withDiagnostics` writes it. */
export const ANTHROPIC_COMPARISON: ComparisonWay = {
  asking: (options, previous) => ({
    ...options,
    includeRawChunks: true,
    headers: { ...options.headers, [QUESTION]: JSON.stringify({ previous_message_id: previous }) },
  }),
  found: (part) => {
    if (part.type !== "raw" || member(part.rawValue, "type") !== "message_start") return undefined;
    const message = member(part.rawValue, "message");
    if (!isObject(message) || !("diagnostics" in message)) return undefined;
    const { diagnostics } = message;
    if (diagnostics === null) return { found: "same" };
    const reason = member(diagnostics, "cache_miss_reason");
    if (reason === null) return { found: "pending" };
    return diagnosisOf(member(reason, "type"), member(reason, "cache_missed_input_tokens"));
  },
  parameter: /\bdiagnostics\b|previous_message_id/,
};

/** A fetch that writes the question into the body, after all else. */
export const withDiagnostics =
  (fetch: Fetch): Fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers);
    const question = headers.get(QUESTION);
    if (question === null || typeof init?.body !== "string") return fetch(input, init);
    headers.delete(QUESTION);
    return fetch(input, { ...init, headers, body: `${init.body.slice(0, -1)},"diagnostics":${question}}` });
  };

/** OpenAI compares with any recent answer; only models whose cache has breakpoints take the question. */
export const OPENAI_COMPARISON: ComparisonWay = {
  asking: (options, previous) => {
    const { openai } = options.providerOptions ?? {};
    const cache = openai?.["promptCacheOptions"];
    if (previous === null || !isObject(cache)) return options;
    const promptCacheOptions = { ...cache, comparisonResponseId: previous };
    return { ...options, providerOptions: { ...options.providerOptions, openai: { ...openai, promptCacheOptions } } };
  },
  found: (part) => {
    const said = part.type === "finish" ? part.providerMetadata?.["openai"]?.["promptCacheDiagnostics"] : undefined;
    switch (member(said, "type")) {
      case undefined:
        return undefined;
      case "cache_hit":
        return { found: "same" };
      case "cache_miss":
        return diagnosisOf(member(said, "reason"), member(said, "cache_missed_tokens"));
      default:
        return diagnosisOf(member(said, "type"));
    }
  },
  parameter: /comparison_response_id|prompt_cache_options/,
};

/** A provider's own word for it, if it is one: it goes into the record and to people. */
const WORD = /^[a-z][a-z0-9_]{0,59}$/;

function diagnosisOf(word: unknown, missed?: unknown): Diagnosis {
  if (typeof word !== "string" || !WORD.test(word) || word === "unavailable") return { found: "unavailable" };
  if (word.endsWith("_not_found")) return { found: "forgotten" };
  const isCount = typeof missed === "number" && Number.isSafeInteger(missed) && missed >= 0;
  return { found: "changed", reason: word, ...(isCount && { missed }) };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
