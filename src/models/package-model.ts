import { createRequire } from "node:module";
import { join } from "node:path";
import type { LanguageModelV4 } from "@ai-sdk/provider";
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
 * @throws StrataError `model_unknown` when the package is missing, cannot be loaded or is no provider's
 */
export function packageModel(source: PackageSource, model: string, opening: Opening): LanguageModelV4 {
  const { key, url, fetch, provider } = opening;
  const create = factoryIn(load(source), source);
  // Some packages ask for usage only when told to; others do not know the word.
  const options = {
    name: provider,
    apiKey: key,
    fetch,
    includeUsage: true,
    ...(url !== undefined && { baseURL: url }),
  };
  const made = guarded(source, () => languageModel(create(options), model));
  if (isLanguageModel(made)) return made;
  const version = versionOf(made);
  throw unusable(
    source,
    version === undefined
      ? "it gave no language model"
      : `its models speak version ${version} of the AI SDK's interface`,
    `Strata needs version v4: run \`npm install ${source.name}@latest\` in ${source.folder}`,
  );
}

type Factory = (options: object) => unknown;

function load({ name, folder }: PackageSource): unknown {
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

/** A package that is there and cannot be loaded is found all the same: its own error says more than "not installed". */
function finds(seeker: NodeJS.Require, name: string): boolean {
  try {
    seeker.resolve(name);
    return true;
  } catch (thrown) {
    return !(thrown instanceof Error && "code" in thrown && thrown.code === "MODULE_NOT_FOUND");
  }
}

/** The function that makes the provider: the one named after the package, else the first by name. */
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
function languageModel(provider: unknown, model: string): unknown {
  const holds = (typeof provider === "object" && provider !== null) || typeof provider === "function";
  const make: unknown = holds ? Reflect.get(provider, "languageModel") : undefined;
  return typeof make === "function" ? make.call(provider, model) : undefined;
}

const versionOf = (made: unknown): string | undefined =>
  typeof made === "object" && made !== null && "specificationVersion" in made
    ? String(made.specificationVersion)
    : undefined;

const isLanguageModel = (made: unknown): made is LanguageModelV4 => versionOf(made) === "v4";

/** What the package throws may hold anything: only the first line of its message is passed on. */
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
