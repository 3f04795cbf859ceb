import { AISDKError, APICallError } from "@ai-sdk/provider";
import { ERRORS, type ModelRef, StrataError } from "../protocol/index.ts";

/** Who was asked, and what must never be repeated in a sentence about it. */
export interface Asked {
  readonly ref: ModelRef;
  readonly secrets: readonly string[];
}

/**
 * What a provider threw, as one of ours: `model_refused` where the same request will be refused again, else `model_failed`.
 * The thrown value is not kept as the cause: it holds the whole request, which is personal text.
 */
export function modelError(thrown: unknown, asked: Asked): StrataError {
  if (thrown instanceof StrataError) return thrown;
  const { provider, model } = splitRef(asked.ref);
  const status = statusOf(thrown);
  const code = isRefusal(thrown, status) ? "model_refused" : "model_failed";
  const verb = code === "model_refused" ? "refused the request" : "did not answer";
  const said = [status === undefined ? undefined : `status ${status}`, saying(thrown, asked.secrets)];
  const of = provider === model ? "" : ` for ${model}`;
  const because = said.filter((part) => part !== undefined).join(": ");
  return new StrataError(code, `${provider} ${verb}${of}${because && ` (${because})`}; ${nextStep(code, status)}`, {
    provider,
    model,
    ...(status !== undefined && { status }),
  });
}

/** The stream ended without an end: half an answer is no answer. */
export function brokenOff(asked: Asked): StrataError {
  const { provider, model } = splitRef(asked.ref);
  const message = `the answer of ${asked.ref} ended before it was whole; check the provider's address, or run the turn again`;
  return new StrataError("model_failed", message, { provider, model });
}

/** Whoever holds the signal stopped the call. */
export function cancelled(asked: Asked, reason: unknown): StrataError {
  const message = `the call of ${asked.ref} was stopped before it answered; run the turn again when you want the answer`;
  return new StrataError("turn_cancelled", message, { model: asked.ref }, reason);
}

/** `anthropic:claude-sonnet-4-5` as provider and model; a model without a provider stands for both. */
export function splitRef(ref: ModelRef): { provider: string; model: string } {
  const colon = ref.indexOf(":");
  return colon < 0 ? { provider: ref, model: ref } : { provider: ref.slice(0, colon), model: ref.slice(colon + 1) };
}

/** In HTTP errors and in errors inside a stream the status has the same name. */
function statusOf(thrown: unknown): number | undefined {
  if (typeof thrown !== "object" || thrown === null || !("statusCode" in thrown)) return undefined;
  return typeof thrown.statusCode === "number" ? thrown.statusCode : undefined;
}

const PASSING = [408, 429, 529];

/** Errors of the package itself, before anything was sent, come again as well. */
const OWN_REFUSALS = ["AI_UnsupportedFunctionalityError", "AI_InvalidArgumentError", "AI_InvalidPromptError"];

function isRefusal(thrown: unknown, status: number | undefined): boolean {
  if (status !== undefined) return status >= 400 && status < 500 && !PASSING.includes(status);
  return AISDKError.isInstance(thrown) && OWN_REFUSALS.includes(thrown.name);
}

function nextStep(code: "model_refused" | "model_failed", status: number | undefined): string {
  if (code === "model_failed") {
    return status === undefined
      ? "check the network and the provider's address, then run the turn again"
      : "wait a little and run the turn again";
  }
  switch (status) {
    case 401:
    case 403:
      return "check the key and what it may use";
    case 402:
      return "check the account's balance";
    case 404:
      return "check the model's name and the provider's address";
    case 413:
      return "send less: lower the agent's total budget";
    default:
      return "change what is sent: the same request will be refused again";
  }
}

const LONGEST = 300;

/** The provider's own words in one short line, without keys. Words about bytes that could not be read would quote them. */
function saying(thrown: unknown, secrets: readonly string[]): string | undefined {
  const unreadable = AISDKError.isInstance(thrown) && !APICallError.isInstance(thrown);
  if (unreadable && !OWN_REFUSALS.includes(thrown.name)) return "its answer could not be read";
  const text = wordsOf(thrown);
  if (text === undefined) return undefined;
  const line = withoutSecrets(text, secrets).replace(/\s+/g, " ").trim();
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST).toWellFormed()}…` : line;
  return short === "" ? ERRORS.model_failed.says : short;
}

function wordsOf(thrown: unknown): string | undefined {
  if (typeof thrown === "string") return thrown;
  if (typeof thrown !== "object" || thrown === null || !("message" in thrown)) return undefined;
  return typeof thrown.message === "string" ? thrown.message : undefined;
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const named = secrets.filter((secret) => secret !== "").reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
  return named
    .replace(/\b(?:sk|pk|key)-[\w-]{6,}/gi, "…")
    .replace(/\b(bearer)\s+[\w.~+/=-]{12,}/gi, "$1 …")
    .replace(/\b(x-api-key|authorization)\s*[:=]\s*\S+/gi, "$1 …");
}
