import type { LanguageModelV4 } from "@ai-sdk/provider";
import { never, StrataError } from "../protocol/index.ts";
import { type Access, type Fetch, NO_KEY, type Opening, type ProviderKind } from "./access.ts";
import { ANTHROPIC_COMPARISON, type ComparisonWay, OPENAI_COMPARISON, withDiagnostics } from "./comparison.ts";
import { type Dialect, dialectOf } from "./dialect.ts";
import type { EmbeddingModel } from "./embed.ts";
import { packageEmbedding, packageModel } from "./package-model.ts";
import {
  anthropicModel,
  bedrockAddress,
  bedrockEmbedding,
  bedrockModel,
  compatibleEmbedding,
  compatibleModel,
  openaiEmbedding,
  openaiModel,
  openrouterEmbedding,
  openrouterModel,
} from "./providers.ts";

/** A model of a provider's package, and the provider's dialect. */
export interface Language {
  readonly model: LanguageModelV4;
  readonly dialect: Dialect;
  /** How its provider is asked why its cache missed; left out if it cannot be. */
  readonly comparison?: ComparisonWay;
}

interface Reach {
  readonly access: Access;
  readonly fetch: Fetch;
}

/** The kind of a provider: as declared, or by its own name. */
export function kindOf(provider: string, access: Access | undefined): ProviderKind | undefined {
  return access?.kind ?? OWN_KINDS.find((kind) => kind === provider);
}

/** The kinds that need no declaration: a provider of that name is of that kind. */
export const OWN_KINDS = ["anthropic", "openai", "openrouter", "bedrock"] as const;

/** Whether a provider of that kind needs a key. */
export const needsKey = (kind: ProviderKind): boolean => OWN_KINDS.some((own) => own === kind);

/**
 * The one place where a provider's package is opened.
 * @throws StrataError `model_unknown` for a package that cannot be used, `invalid_input` for an invalid address
 */
export function openLanguage(
  kind: ProviderKind,
  { provider, model }: { readonly provider: string; readonly model: string },
  reach: Reach,
): Language {
  const opening = openingOf(kind, provider, reach);
  switch (kind) {
    case "anthropic":
      return {
        model: anthropicModel(model, { ...opening, fetch: withDiagnostics(opening.fetch) }),
        dialect: dialectOf(kind, model),
        comparison: ANTHROPIC_COMPARISON,
      };
    case "openai":
      return {
        model: openaiModel(model, opening),
        dialect: dialectOf(kind, model),
        comparison: OPENAI_COMPARISON,
      };
    case "openrouter": {
      const dialect = dialectOf(kind, model);
      return { model: openrouterModel(model, opening, dialect.breakpoint !== undefined), dialect };
    }
    case "bedrock":
      return { model: bedrockModel(model, opening), dialect: dialectOf(kind, model) };
    case "openai-compatible":
      return { model: compatibleModel(model, opening), dialect: dialectOf(kind, model) };
    case "package": {
      const source = reach.access.package ?? { name: "", folder: "." };
      return { model: packageModel(source, model, opening), dialect: dialectOf(source.name, model) };
    }
    default:
      return never(kind);
  }
}

/**
 * The one place where a provider's package is opened for embeddings.
 * @throws StrataError `model_unknown` for a provider that has none, else as `openLanguage`
 */
export function openEmbedding(
  kind: ProviderKind,
  { provider, model }: { readonly provider: string; readonly model: string },
  reach: Reach,
): EmbeddingModel {
  const opening = openingOf(kind, provider, reach);
  switch (kind) {
    case "anthropic":
      throw noEmbeddings(provider);
    case "openai":
      return openaiEmbedding(model, opening);
    case "openrouter":
      return openrouterEmbedding(model, opening);
    case "bedrock":
      return bedrockEmbedding(model, opening);
    case "openai-compatible":
      return compatibleEmbedding(model, opening);
    case "package":
      return packageEmbedding(reach.access.package ?? { name: "", folder: "." }, model, opening);
    default:
      return never(kind);
  }
}

/** The options for opening a provider's package; with an address if that kind needs one. */
function openingOf(kind: ProviderKind, provider: string, { access, fetch }: Reach): Opening {
  const { key = NO_KEY, url, region, signing } = access;
  if (url !== undefined && !URL.canParse(url)) throw noAddress(url, provider);
  const opening = { provider, key: key === "" ? NO_KEY : key, url, region, signing, fetch };
  if (url === undefined && kind === "openai-compatible") throw noAddress("", provider);
  if (url !== undefined || kind !== "bedrock") return opening;
  if (region === undefined) throw noRegion(provider);
  return { ...opening, url: bedrockAddress(region) };
}

const noEmbeddings = (provider: string) =>
  new StrataError(
    "model_unknown",
    `${provider} has no models for embeddings; name an embedder of another provider, as \`embedder: openai:text-embedding-3-small\`, or of a local server that speaks OpenAI's API`,
    { provider },
  );

const noRegion = (provider: string) =>
  new StrataError(
    "invalid_input",
    `${provider} needs a region; write \`region: eu-central-1\`, or where your models are, under providers.${provider} in strata.yaml, or set AWS_REGION`,
    { provider },
  );

const noAddress = (url: string, provider: string) =>
  new StrataError(
    "invalid_input",
    `${JSON.stringify(url)} is not a valid address for ${provider}; it must be a URL such as https://api.example.com/v1`,
    { provider },
  );
