import type { LanguageModelV4 } from "@ai-sdk/provider";
import { z } from "zod";
import { type Embedder, type Model, type ModelRef, nearest, StrataError, secretsInAddress } from "../protocol/index.ts";
import { type Access, direct, type ProviderKind, type Secrets } from "./access.ts";
import { bindModel } from "./bind.ts";
import { bindEmbedder, rehearsalEmbedder } from "./embed.ts";
import { splitRef } from "./failure.ts";
import { kindOf, needsKey, OWN_KINDS, openEmbedding, openLanguage } from "./language.ts";
import { isLanguageModel, versionOf } from "./package-model.ts";
import { rehearsalModel } from "./rehearsal.ts";
import { RETRY, type Retry } from "./retry.ts";

export interface OpenOptions {
  /** How to retry a call that failed before its first word; `false`: not at all. */
  readonly retry?: Retry | false;
}

/**
 * The model of that name, ready to be sent to: `anthropic:NAME`, `openai:NAME`, `openrouter:MAKER/NAME` and `bedrock:NAME` with a key,
 * `PROVIDER:NAME` of a declared provider, or `rehearsal` without.
 * @throws StrataError `model_unknown`, `secret_missing`, `invalid_input` for an invalid address
 */
export function openModel(ref: ModelRef, secrets: Secrets, { retry = RETRY }: OpenOptions = {}): Model {
  if (ref === "rehearsal") return rehearsalModel();
  const { kind, named, access } = reached(ref, secrets);
  const { model: languageModel, dialect, comparison } = openLanguage(kind, named, { access, fetch: direct });
  const secret = secretsIn(access);
  return bindModel(languageModel, { ref, wire: ref, secrets: secret, dialect, comparison, retry: retry || undefined });
}

/** Within how many milliseconds a server of one's own has to say which models it serves. */
const LISTS_WITHIN = 2_000;

/** The first model that an OpenAI-compatible server lists at `/models`; undefined if it lists none in time. */
export async function firstServed({ url, key }: Access): Promise<string | undefined> {
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
  try {
    const response = await direct(`${url?.replace(/\/$/, "")}/models`, {
      headers,
      signal: AbortSignal.timeout(LISTS_WITHIN),
    });
    return SERVED.safeParse(await response.json()).data?.data[0]?.id;
  } catch {
    return undefined;
  }
}

const SERVED = z.object({ data: z.array(z.object({ id: z.string().min(1).max(200).regex(/^\S+$/) })) });

/** A model as the provider packages of the AI SDK make it. */
export type LanguageModel = LanguageModelV4;

/**
 * The same for a model that a program has made itself. It is identified by its own provider and model names, so a card for `anthropic:NAME`
 * applies to `anthropic("NAME")`.
 * @throws StrataError `invalid_input` for anything else
 */
export function modelOfInstance(given: unknown): Model {
  if (!isLanguageModel(given)) throw noInstance(given);
  const [made = "model"] = given.provider.split(".");
  const ref = `${made === "amazon-bedrock" ? "bedrock" : made}:${given.modelId}`;
  return bindModel(given, { ref, wire: ref, retry: RETRY });
}

function noInstance(given: unknown): StrataError {
  const version = versionOf(given);
  const found = version === undefined ? (JSON.stringify(given) ?? String(given)) : `of version ${version}`;
  const next = 'give what a provider package of the AI SDK makes, `anthropic("claude-sonnet-5-5")`';
  const message = `openApp wants \`model\`, a language model of version v4 of the AI SDK's interface; it is ${found}; ${next}, or name it in strata.yaml`;
  return new StrataError("invalid_input", message, { option: "model" });
}

/**
 * The embedder of that name, with the providers that models have: `openai:NAME`, `PROVIDER:NAME` of a declared provider, or
 * `rehearsal`, which does not embed. @throws StrataError as `openModel`
 */
export function openEmbedder(ref: ModelRef, secrets: Secrets, { retry = RETRY }: OpenOptions = {}): Embedder {
  if (ref === "rehearsal") return rehearsalEmbedder();
  const { kind, named, access } = reached(ref, secrets);
  const model = openEmbedding(kind, named, { access, fetch: direct });
  return bindEmbedder(model, { ref, secrets: secretsIn(access), retry: retry || undefined });
}

interface Reached {
  readonly kind: ProviderKind;
  readonly named: { readonly provider: string; readonly model: string };
  readonly access: Access;
}

function reached(ref: ModelRef, secrets: Secrets): Reached {
  const named = splitRef(ref);
  const { provider, model } = named;
  const access = secrets(provider);
  const kind = kindOf(provider, access);
  if (kind === undefined || model === "" || model === ref) throw unknownModel(ref);
  if (access === undefined || (needsKey(kind) && !access.key)) throw secretMissing(ref, provider);
  return { kind, named, access };
}

/** What no error may contain. */
const secretsIn = ({ key, signing, url }: Access): readonly string[] => [
  ...[key, signing?.session].flatMap((one) => one || []),
  ...secretsInAddress(url),
];

function unknownModel(ref: ModelRef): StrataError {
  const { provider, model } = splitRef(ref);
  const meant = model === "" || model === ref ? undefined : nearest(provider, OWN_KINDS);
  const near = meant === undefined ? "" : `did you mean ${JSON.stringify(`${meant}:${model}`)}? Or `;
  return new StrataError(
    "model_unknown",
    `no model is known as ${JSON.stringify(ref)}; ${near}name anthropic:NAME, openai:NAME, openrouter:MAKER/NAME, bedrock:NAME, PROVIDER:NAME with a provider declared in strata.yaml, or rehearsal`,
    { model: ref },
  );
}

const secretMissing = (ref: ModelRef, provider: string) =>
  new StrataError(
    "secret_missing",
    `${ref} needs a key for ${provider} and there is none; set ${variableOf(provider)} in the environment or in .env, or \`providers.${provider}.key\` in strata.yaml; or use the model rehearsal, which needs no key`,
    { model: ref, provider },
  );

/** Where the key of a provider is usually found. */
const variableOf = (provider: string): string => VARIABLES.get(provider) ?? "the variable that its `key` names";

const VARIABLES: ReadonlyMap<string, string> = new Map([
  ["anthropic", "ANTHROPIC_API_KEY"],
  ["openai", "OPENAI_API_KEY"],
  ["openrouter", "OPENROUTER_API_KEY"],
  ["bedrock", "AWS_BEARER_TOKEN_BEDROCK"],
]);
