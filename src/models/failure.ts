import { AISDKError, APICallError } from "@ai-sdk/provider";
import { ERRORS, type ModelRef, never, SHORTEST_SECRET, StrataError, spellings } from "../protocol/index.ts";
import { RedirectRefused } from "./access.ts";

/** Who was asked, and what must never be repeated in a sentence about it. */
export interface Asked {
  readonly ref: ModelRef;
  readonly secrets: readonly string[];
}

/** How far the call had come when it was given up. */
interface GivenUp {
  readonly tries?: number;
  /** From when on the provider may be asked again, where it said so. */
  readonly until?: number;
  /** Whether some of the answer had come. */
  readonly begun?: boolean;
}

/**
 * What a provider threw, as one of ours: `key_refused`, `rate_limited`, `reasoning_refused` where it would not have its own
 * earlier reasoning back and nothing of an answer had come, `model_refused` where the same request will be refused again, else
 * `model_failed`. The thrown value is not kept as the cause: it holds the whole request, which is personal text.
 */
export function modelError(
  failed: unknown,
  asked: Asked,
  { tries = 1, until, begun = false }: GivenUp = {},
): StrataError {
  const thrown = rootOf(failed);
  if (thrown instanceof StrataError) return thrown;
  const { provider, model } = splitRef(asked.ref);
  const status = statusOf(thrown);
  const code = !begun && refusesReplay(thrown, status, wordsOf(thrown)) ? "reasoning_refused" : codeOf(thrown, status);
  const of = provider === model ? "" : ` for ${model}`;
  const because = [becauseOf(thrown, asked), tries > 1 ? `tried ${tries} times` : ""].filter((part) => part !== "");
  const when = until === undefined ? undefined : new Date(until).toISOString();
  const next =
    when === undefined ? nextStep(thrown, code, status) : `it accepts no request before ${when}; run the turn then`;
  return new StrataError(
    code,
    `${provider} ${VERBS[code]}${of}${because.length > 0 ? ` (${because.join("; ")})` : ""}; ${next}`,
    {
      provider,
      model,
      ...(status !== undefined && { status }),
      ...(code === "reasoning_refused" && { because: becauseOf(thrown, asked) }),
      ...(tries > 1 && { tries }),
      ...(when !== undefined && { until: when }),
    },
  );
}

type Failure = "key_refused" | "rate_limited" | "reasoning_refused" | "model_refused" | "model_failed";

const VERBS: Readonly<Record<Failure, string>> = {
  key_refused: "refused the key",
  rate_limited: "received too many requests",
  reasoning_refused: "rejected its own earlier reasoning",
  model_refused: "refused the request",
  model_failed: "did not answer",
};

/** Why a call failed, in one short line without keys: `status 529: overloaded`. */
export function becauseOf(failed: unknown, { secrets }: Asked): string {
  const thrown = rootOf(failed);
  const status = statusOf(thrown);
  const said = saying(thrown, secrets);
  return [status === undefined ? undefined : `status ${status}`, said].filter((part) => part !== undefined).join(": ");
}

/** The stream ended without an end: half an answer is no answer. */
export function brokenOff(asked: Asked): StrataError {
  const { provider, model } = splitRef(asked.ref);
  const message = `the answer of ${asked.ref} ended before it was complete; check the provider's address, or run the turn again`;
  return new StrataError("model_failed", message, { provider, model });
}

/** Whoever holds the signal stopped the call. */
export function cancelled(asked: Asked, reason: unknown): StrataError {
  const message = `the call of ${asked.ref} was cancelled before it answered; run the turn again when you want the answer`;
  return new StrataError("turn_cancelled", message, { model: asked.ref }, reason);
}

/** `anthropic:claude-sonnet-4-5` as provider and model; a model without a provider stands for both. */
export function splitRef(ref: ModelRef): { provider: string; model: string } {
  const colon = ref.indexOf(":");
  return colon < 0 ? { provider: ref, model: ref } : { provider: ref.slice(0, colon), model: ref.slice(colon + 1) };
}

/** What went wrong below: an answer that began well and broke off comes wrapped, with the status of its beginning. */
export function rootOf(thrown: unknown): unknown {
  const wrapped = APICallError.isInstance(thrown) && thrown.statusCode !== undefined && thrown.statusCode < 300;
  return wrapped && thrown.cause !== undefined ? thrown.cause : thrown;
}

/** In HTTP errors and in errors inside a stream the status has the same name; compatible servers call theirs `code`. */
export function statusOf(thrown: unknown): number | undefined {
  const named = [member(thrown, "statusCode"), member(thrown, "code")].map(Number);
  return named.find((status) => status >= 300 && status < 600);
}

/** An empty account is told with the status of a busy one, and does not pass. */
export function isOutOfCredit(thrown: unknown): boolean {
  if (APICallError.isInstance(thrown)) return thrown.responseBody?.includes('"insufficient_quota"') === true;
  return [member(thrown, "code"), member(thrown, "type")].includes("insufficient_quota");
}

const member = (thrown: unknown, name: string): unknown =>
  typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, name) : undefined;

/** Errors of the package itself, before anything was sent, come again as well. */
const OWN_REFUSALS = ["AI_UnsupportedFunctionalityError", "AI_InvalidArgumentError", "AI_InvalidPromptError"];

function codeOf(thrown: unknown, status: number | undefined): Failure {
  if (thrown instanceof RedirectRefused || isOutOfCredit(thrown)) return "model_refused";
  switch (status) {
    case undefined:
      return AISDKError.isInstance(thrown) && OWN_REFUSALS.includes(thrown.name) ? "model_refused" : "model_failed";
    case 401:
    case 403:
      return "key_refused";
    case 429:
      return "rate_limited";
    case 408:
    // Bedrock's word for a model that broke while it answered.
    case 424:
    case 529:
      return "model_failed";
    default:
      return status >= 400 && status < 500 ? "model_refused" : "model_failed";
  }
}

function nextStep(thrown: unknown, code: Failure, status: number | undefined): string {
  switch (code) {
    case "key_refused":
      return "check the key, and that it may use this model";
    case "rate_limited":
      return "wait a minute and run the turn again, or raise the account's limits";
    case "model_failed":
      return status === undefined
        ? "check the network and the provider's address, then run the turn again"
        : "wait a little and run the turn again";
    case "reasoning_refused":
      return "this is a bug in Strata: please report it, and continue in a new thread";
    case "model_refused":
      return refusalStep(thrown, status);
    default:
      return never(code);
  }
}

function refusalStep(thrown: unknown, status: number | undefined): string {
  if (thrown instanceof RedirectRefused) return "set the provider's url to the address that answers itself";
  if (status === 402 || isOutOfCredit(thrown)) return "check the account's balance";
  if (status === 404) return "check the model's name and the provider's address";
  if (status === 413) return "send less: lower the agent's total budget";
  return "change what is sent: the same request will be refused again";
}

const LONGEST = 300;
const UNREADABLE = "its answer could not be read";

/** The provider's own words in one short line, without keys. Words about bytes that could not be read would quote them. */
function saying(thrown: unknown, secrets: readonly string[]): string | undefined {
  const unreadable = AISDKError.isInstance(thrown) && !APICallError.isInstance(thrown);
  if (unreadable && !OWN_REFUSALS.includes(thrown.name)) return UNREADABLE;
  const text = wordsOf(thrown);
  if (text === undefined) return undefined;
  const line = withoutSecrets(text, secrets).replace(/\s+/g, " ").trim();
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST).toWellFormed()}…` : line;
  return short === "" ? ERRORS.model_failed.says : short;
}

function wordsOf(thrown: unknown): string | undefined {
  const words = typeof thrown === "string" ? thrown : member(thrown, "message");
  // Node's fetch has this one word for it.
  if (words === "terminated") return "the connection broke off";
  // What Anthropic's package says of a first event that it cannot read.
  if (words === "Expected a normalized Anthropic stream error") return UNREADABLE;
  return typeof words === "string" ? words : undefined;
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  // Keys that are no secret, as servers on the same machine take any, would take letters out of every word.
  const forms = secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap(spellings);
  const named = forms.reduce((rest, form) => rest.replaceAll(form, "…"), text);
  return (
    named
      // A password in an address, whoever's it is.
      .replace(/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@]{1,400}@/gi, "$1…@")
      .replace(/\b(?:sk|pk|key)-[\w-]{6,}/gi, "…")
      .replace(/\b(bearer)\s+[\w.~+/=-]{12,}/gi, "$1 …")
      .replace(/\b(x-api-key|authorization)\s*[:=]\s*\S+/gi, "$1 …")
  );
}

/**
 * How providers say that the reasoning of earlier replies, or what is bound to it, did not come back as they had given it.
 * Anthropic: a block's signature does not fit it, the block was changed, or what stands before it (since the 5.1 family; its
 * answer continues with "The block is bound to a different conversation."). OpenAI: a reasoning item stands without what followed
 * it, or the other way round, its encrypted content cannot be read, or an item is named that is not kept.
 */
const SAYINGS: readonly RegExp[] = [
  /invalid `?signature`? in `?(?:redacted_)?thinking`? block/i,
  /`?thinking`? or `?redacted_thinking`? blocks [^.]*cannot be modified/i,
  /of type 'reasoning' was provided without its required following item/i,
  /was provided without its required 'reasoning' item/i,
  /encrypted content .*could not be (?:verified|decrypted)/i,
  /invalid_encrypted_content/,
  /item with id '(?:rs|msg|fc)_[^']*' not found/i,
];

/** Whether a provider refused what it had said itself, as it was sent back. `words` are the failure's own. */
function refusesReplay(thrown: unknown, status: number | undefined, words: string | undefined): boolean {
  if (status !== undefined && status !== 400) return false;
  // Gateways hold the provider's own words in their answer's body.
  const body = APICallError.isInstance(thrown) ? thrown.responseBody : undefined;
  const code = typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, "code") : undefined;
  const said = [words, body?.replaceAll("\\", ""), code].filter((one) => typeof one === "string").join("\n");
  return SAYINGS.some((saying) => saying.test(said));
}
