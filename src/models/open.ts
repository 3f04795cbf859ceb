import { type Model, type ModelRef, StrataError } from "../protocol/index.ts";
import { direct, type Secrets } from "./access.ts";
import { bindModel } from "./bind.ts";
import { splitRef } from "./failure.ts";
import { kindOf, needsKey, openLanguage } from "./language.ts";
import { rehearsalModel } from "./rehearsal.ts";
import { RETRY, type Retry } from "./retry.ts";

export interface OpenOptions {
  /** How a call that failed before its first word is repeated; `false`: not at all. */
  readonly retry?: Retry | false;
}

/**
 * The model of that name, ready to be sent to: `anthropic:NAME`, `openai:NAME`, `openrouter:MAKER/NAME` and `bedrock:NAME` with a key,
 * `PROVIDER:NAME` of a declared provider, or `rehearsal` without.
 * @throws StrataError `model_unknown`, `secret_missing`, `invalid_input` for an address that is none
 */
export function openModel(ref: ModelRef, secrets: Secrets, { retry = RETRY }: OpenOptions = {}): Model {
  if (ref === "rehearsal") return rehearsalModel();
  const { provider, model } = splitRef(ref);
  const access = secrets(provider);
  const kind = kindOf(provider, access);
  if (kind === undefined || model === "" || model === ref) throw unknownModel(ref);
  if (access === undefined || (needsKey(kind) && !access.key)) throw secretMissing(ref, provider);
  const { model: languageModel, dialect } = openLanguage(kind, { provider, model }, { access, fetch: direct });
  return bindModel(languageModel, {
    ref,
    wire: ref,
    secrets: [access.key, access.signing?.session].flatMap((secret) => secret || []),
    dialect,
    retry: retry || undefined,
  });
}

const unknownModel = (ref: ModelRef) =>
  new StrataError(
    "model_unknown",
    `no model is known as ${JSON.stringify(ref)}; name anthropic:NAME, openai:NAME, openrouter:MAKER/NAME, bedrock:NAME, PROVIDER:NAME with a provider declared in strata.yaml, or rehearsal`,
    { model: ref },
  );

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
