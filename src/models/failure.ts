import { AISDKError, APICallError } from "@ai-sdk/provider";
import { ERRORS, type ModelRef, never, SHORTEST_SECRET, StrataError, spellings } from "../protocol/index.ts";
import { RedirectRefused } from "./access.ts";

/** The model that was called, and what an error about it must never contain. */
export interface CalledModel {
  readonly ref: ModelRef;
  readonly secrets: readonly string[];
}

/** How far the call had got when it failed. */
interface GivenUp {
  readonly tries?: number;
  /** When the provider may be called again, if it said so. */
  readonly until?: number;
  /** Whether a part of the answer had arrived. */
  readonly begun?: boolean;
}

/**
 * Converts a provider's error: `key_refused`, `rate_limited`, `reasoning_refused` if it rejected its own
 * earlier reasoning before any answer, `model_refused` if it would refuse the same request again, otherwise
 * `model_failed`. The thrown value is not kept as the cause, because it contains the whole request, which is personal text.
 */
export function modelError(
  failed: unknown,
  asked: CalledModel,
  { tries = 1, until, begun = false }: GivenUp = {},
): StrataError {
  const thrown = rootOf(failed);
  if (thrown instanceof StrataError) return thrown;
  const { provider, model } = splitRef(asked.ref);
  const status = statusOf(thrown);
  const code =
    !begun && refusesReplay(thrown, status, thrownText(thrown)) ? "reasoning_refused" : failureCode(thrown, status);
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
export function becauseOf(failed: unknown, { secrets }: CalledModel): string {
  const thrown = rootOf(failed);
  const status = statusOf(thrown);
  const said = saying(thrown, secrets);
  return [status === undefined ? undefined : `status ${status}`, said].filter((part) => part !== undefined).join(": ");
}

/** The stream broke off: half an answer does not count. */
export function brokenOff(asked: CalledModel): StrataError {
  const { provider, model } = splitRef(asked.ref);
  const message = `the answer of ${asked.ref} ended before it was complete; check the provider's address, or run the turn again`;
  return new StrataError("model_failed", message, { provider, model });
}

/** Whoever holds the signal stopped the call. */
export function cancelled(asked: CalledModel, reason: unknown): StrataError {
  const message = `the call of ${asked.ref} was cancelled before it answered; run the turn again when you want the answer`;
  return new StrataError("turn_cancelled", message, { model: asked.ref }, reason);
}

/** Splits `anthropic:claude-sonnet-5-5` into provider and model; a name without a provider is used for both. */
export function splitRef(ref: ModelRef): { provider: string; model: string } {
  const colon = ref.indexOf(":");
  return colon < 0 ? { provider: ref, model: ref } : { provider: ref.slice(0, colon), model: ref.slice(colon + 1) };
}

/** The original error: if an answer broke off after a good start, it is wrapped in one with the status of the start. */
export function rootOf(thrown: unknown): unknown {
  const wrapped = APICallError.isInstance(thrown) && thrown.statusCode !== undefined && thrown.statusCode < 300;
  return wrapped && thrown.cause !== undefined ? thrown.cause : thrown;
}

/** HTTP errors and errors inside a stream use the same name for the status; compatible servers call it `code`. */
export function statusOf(thrown: unknown): number | undefined {
  const named = [member(thrown, "statusCode"), member(thrown, "code")].map(Number);
  return named.find((status) => status >= 300 && status < 600);
}

/** An empty account has the same status as too many requests, but retrying does not help. */
export function isOutOfCredit(thrown: unknown): boolean {
  if (APICallError.isInstance(thrown)) return thrown.responseBody?.includes('"insufficient_quota"') === true;
  return [member(thrown, "code"), member(thrown, "type")].includes("insufficient_quota");
}

const member = (thrown: unknown, name: string): unknown =>
  typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, name) : undefined;

/** Errors of the package itself, before anything was sent, come again as well. */
const OWN_REFUSALS = ["AI_UnsupportedFunctionalityError", "AI_InvalidArgumentError", "AI_InvalidPromptError"];

function failureCode(thrown: unknown, status: number | undefined): Failure {
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

/** The provider's message in one short line, without keys. Messages about unreadable bytes are omitted, because they quote them. */
function saying(thrown: unknown, secrets: readonly string[]): string | undefined {
  const unreadable = AISDKError.isInstance(thrown) && !APICallError.isInstance(thrown);
  if (unreadable && !OWN_REFUSALS.includes(thrown.name)) return UNREADABLE;
  const text = thrownText(thrown);
  if (text === undefined) return undefined;
  const line = withoutSecrets(text, secrets).replace(/\s+/g, " ").trim();
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST).toWellFormed()}…` : line;
  return short === "" ? ERRORS.model_failed.message : short;
}

function thrownText(thrown: unknown): string | undefined {
  const words = typeof thrown === "string" ? thrown : member(thrown, "message");
  // Node's fetch has this one word for it.
  if (words === "terminated") return "the connection broke off";
  // What Anthropic's package says of a first event that it cannot read.
  if (words === "Expected a normalized Anthropic stream error") return UNREADABLE;
  return typeof words === "string" ? words : undefined;
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  // Very short keys are not secret (local servers accept any), and removing them would destroy ordinary words.
  const forms = secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap(spellings);
  const named = forms.reduce((rest, form) => rest.replaceAll(form, "…"), text);
  return (
    named
      // Any password in an address.
      .replace(/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@]{1,400}@/gi, "$1…@")
      .replace(/\b(?:sk|pk|key)-[\w-]{6,}/gi, "…")
      .replace(/\b(bearer)\s+[\w.~+/=-]{12,}/gi, "$1 …")
      .replace(/\b(x-api-key|authorization)\s*[:=]\s*\S+/gi, "$1 …")
  );
}

/**
 * How providers report that the reasoning of earlier replies, or data bound to it, did not come back unchanged. Anthropic: a block's
 * signature does not fit it, the block was changed, or the text before it was (since the 5.1 family; its answer continues with "The block
 * is bound to a different conversation."). OpenAI: a reasoning item appears without the item that followed it, or the other way round, its
 * encrypted content cannot be read, or an item is named that is not stored.
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

/** Whether a provider rejected its own earlier output. `words` are the message of the failure. */
function refusesReplay(thrown: unknown, status: number | undefined, words: string | undefined): boolean {
  if (status !== undefined && status !== 400) return false;
  // Gateways put the provider's message into the body of their answer.
  const body = APICallError.isInstance(thrown) ? thrown.responseBody : undefined;
  const code = typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, "code") : undefined;
  const said = [words, body?.replaceAll("\\", ""), code].filter((one) => typeof one === "string").join("\n");
  return SAYINGS.some((saying) => saying.test(said));
}
