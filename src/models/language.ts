import type { LanguageModelV4 } from "@ai-sdk/provider";
import { never, StrataError } from "../protocol/index.ts";
import { type Access, type Fetch, NO_KEY, type ProviderKind } from "./access.ts";
import { anthropicModel } from "./anthropic.ts";
import { bedrockAddress, bedrockModel } from "./bedrock.ts";
import { compatibleModel } from "./compatible.ts";
import { type Dialect, dialectOf } from "./dialect.ts";
import { openaiModel } from "./openai.ts";
import { openrouterModel } from "./openrouter.ts";
import { packageModel } from "./package-model.ts";

/** A model of a provider's package, and how that provider wants its calls. */
export interface Language {
  readonly model: LanguageModelV4;
  readonly dialect: Dialect;
}

/** The kind of a provider: as declared, or by its own name. */
export function kindOf(provider: string, access: Access | undefined): ProviderKind | undefined {
  return access?.kind ?? OWN_KINDS.find((kind) => kind === provider);
}

const OWN_KINDS = ["anthropic", "openai", "openrouter", "bedrock"] as const;

/** Whether a provider of that kind answers nobody without a key. */
export const needsKey = (kind: ProviderKind): boolean => OWN_KINDS.some((own) => own === kind);

/**
 * The one place where a provider's package is opened.
 * @throws StrataError `model_unknown` for a package that cannot be used, `invalid_input` for an address that is none
 */
export function openLanguage(
  kind: ProviderKind,
  { provider, model }: { readonly provider: string; readonly model: string },
  { access, fetch }: { readonly access: Access; readonly fetch: Fetch },
): Language {
  const { key = NO_KEY, url, region, signing } = access;
  if (url !== undefined && !URL.canParse(url)) throw noAddress(url, provider);
  const opening = { provider, key: key === "" ? NO_KEY : key, url, region, signing, fetch };
  switch (kind) {
    case "anthropic":
      return { model: anthropicModel(model, opening), dialect: dialectOf(kind, model) };
    case "openai":
      return { model: openaiModel(model, opening), dialect: dialectOf(kind, model) };
    case "openrouter": {
      const dialect = dialectOf(kind, model);
      return { model: openrouterModel(model, opening, dialect.mark !== undefined), dialect };
    }
    case "bedrock": {
      const at = url ?? (region === undefined ? undefined : bedrockAddress(region));
      if (at === undefined) throw noRegion(provider);
      return { model: bedrockModel(model, { ...opening, url: at }), dialect: dialectOf(kind, model) };
    }
    case "openai-compatible":
      if (url === undefined) throw noAddress("", provider);
      return { model: compatibleModel(model, opening), dialect: dialectOf(kind, model) };
    case "package": {
      const source = access.package ?? { name: "", folder: "." };
      return { model: packageModel(source, model, opening), dialect: dialectOf(source.name, model) };
    }
    default:
      return never(kind);
  }
}

const noRegion = (provider: string) =>
  new StrataError(
    "invalid_input",
    `${provider} needs a region; write \`region: eu-central-1\`, or where your models are, under providers.${provider} in strata.yaml, or set AWS_REGION`,
    { provider },
  );

const noAddress = (url: string, provider: string) =>
  new StrataError(
    "invalid_input",
    `${JSON.stringify(url)} is not an address for ${provider}; it must be a URL such as https://api.example.com/v1`,
    { provider },
  );
