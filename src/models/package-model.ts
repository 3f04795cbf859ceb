import { createRequire } from "node:module";
import { join } from "node:path";
import type { EmbeddingModelV3, EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import { StrataError } from "../protocol/index.ts";
import type { Opening } from "./access.ts";

/** A provider's package by name, and the folder whose installed packages are looked through before Strata's own. */
export interface PackageSource {
  readonly name: string;
  readonly folder: string;
}

/**
 * A model of any provider package of the AI SDK's ecosystem: its `create…` function is found, and called with key, address and
 * fetch, as all those packages take them.
 * @throws StrataError `model_unknown` if the package is missing, cannot be loaded or is not a provider's
 */
export function packageModel(source: PackageSource, model: string, opening: Opening): LanguageModelV4 {
  const made = madeBy(source, opening, (provider) => modelOf(provider, ["languageModel"], model));
  if (isLanguageModel(made)) return made;
  throw unspoken(source, made, "language model");
}

/** The same for an embedding model. @throws StrataError as `packageModel`, also where the provider has none */
export function packageEmbedding(
  source: PackageSource,
  model: string,
  opening: Opening,
): EmbeddingModelV3 | EmbeddingModelV4 {
  const made = madeBy(source, opening, (provider) => modelOf(provider, EMBEDDING_MODELS, model));
  if (isEmbeddingModel(made)) return made;
  throw unspoken(source, made, "embedding model");
}

/** Providers have said it in two ways. */
const EMBEDDING_MODELS = ["embeddingModel", "textEmbeddingModel"];

function madeBy(source: PackageSource, opening: Opening, make: (provider: unknown) => unknown): unknown {
  const { key, url, fetch, provider } = opening;
  const create = factoryIn(loadPackage(source), source);
  // Some packages report usage only with this option; others do not know it.
  const options = {
    name: provider,
    apiKey: key,
    fetch,
    includeUsage: true,
    ...(url !== undefined && { baseURL: url }),
  };
  return guarded(source, () => make(create(options)));
}

function unspoken(source: PackageSource, made: unknown, what: string): StrataError {
  const version = versionOf(made);
  return unusable(
    source,
    version === undefined ? `it gave no ${what}` : `its models speak version ${version} of the AI SDK's interface`,
    `Strata needs version v4: run \`npm install ${source.name}@latest\` in ${source.folder}`,
  );
}

type Factory = (options: object) => unknown;

function loadPackage({ name, folder }: PackageSource): unknown {
  const seekers = [createRequire(join(folder, "strata.yaml")), createRequire(import.meta.url)];
  for (const seeker of seekers) {
    if (!finds(seeker, name)) continue;
    return guarded({ name, folder }, () => seeker(name));
  }
  throw new StrataError(
    "model_unknown",
    `the package ${name} is not installed; run \`npm install ${name}\` in ${folder}`,
    { package: name, folder },
  );
}

/** Also finds a package that cannot be loaded: its own error says more than "not installed". */
function finds(seeker: NodeJS.Require, name: string): boolean {
  try {
    seeker.resolve(name);
    return true;
  } catch (thrown) {
    return !(thrown instanceof Error && "code" in thrown && thrown.code === "MODULE_NOT_FOUND");
  }
}

/** The function that creates the provider: the one named after the package, or else the first by name. */
function factoryIn(module: unknown, source: PackageSource): Factory {
  const exported = typeof module === "object" && module !== null ? Object.entries(module) : [];
  const found = exported.filter(([name, value]) => /^create[A-Z]/.test(name) && typeof value === "function").sort();
  const wanted = lettersOf(source.name.split("/").at(-1) ?? "");
  const named = found.find(([name]) => lettersOf(name.slice("create".length)) === wanted);
  const [, factory] = named ?? found[0] ?? [];
  if (isFactory(factory)) return factory;
  throw unusable(source, "it exports no `create…` function", "name a provider package of the AI SDK");
}

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

const isFactory = (value: unknown): value is Factory => typeof value === "function";

/** Providers are functions or objects; all of them have `languageModel`. */
function modelOf(provider: unknown, methods: readonly string[], model: string): unknown {
  if ((typeof provider !== "object" || provider === null) && typeof provider !== "function") return undefined;
  const made = methods.map((name): unknown => Reflect.get(provider, name));
  const make = made.find((one) => typeof one === "function");
  return typeof make === "function" ? make.call(provider, model) : undefined;
}

export const versionOf = (made: unknown): string | undefined =>
  typeof made === "object" && made !== null && "specificationVersion" in made
    ? String(made.specificationVersion)
    : undefined;

export const isLanguageModel = (made: unknown): made is LanguageModelV4 => versionOf(made) === "v4";

/** The interface of embedding models is the same in the third and fourth version. */
const isEmbeddingModel = (made: unknown): made is EmbeddingModelV3 | EmbeddingModelV4 =>
  ["v3", "v4"].includes(versionOf(made) ?? "") && typeof made === "object" && made !== null && "doEmbed" in made;

/** A package's error may contain anything: only the first line of its message is passed on. */
function guarded(source: PackageSource, work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    const said = thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "").slice(0, 200) : "";
    throw unusable(source, `it could not be loaded${said && ` (${said})`}`, "check the package and its version");
  }
}

const unusable = ({ name, folder }: PackageSource, why: string, next: string): StrataError =>
  new StrataError("model_unknown", `the package ${name} cannot be used: ${why}; ${next}`, { package: name, folder });
