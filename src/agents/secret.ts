import { inspect, parseEnv } from "node:util";
import type { Config } from "./config-schema.ts";
import { SECRET_FORM } from "./config-schema.ts";
import { frozenMap } from "./freeze.ts";
import type { Path } from "./path.ts";
import type { Report } from "./report.ts";

/** A value that no print, log, JSON or inspection shows: only `reveal()` gives it away, so each use can be found. */
export class Secret {
  /** The environment variable it came from. */
  readonly name: string;
  readonly #value: string;

  constructor(name: string, value: string) {
    this.name = name;
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return `[secret ${this.name}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** How to reach one provider. */
export interface Provider {
  readonly key: Secret;
  /** Another address than the provider's own. */
  readonly url?: string;
}

/** What the caller's process knows: `process.env`, or less. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment with what `.env` adds. What is set in the environment wins; what is set to nothing is not set. */
export function joinEnvironment(env: Environment, dotenv: string | undefined): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  for (const layer of [dotenv === undefined ? {} : parseEnv(dotenv), env]) {
    for (const [name, value] of Object.entries(layer)) if (value !== undefined && value !== "") known.set(name, value);
  }
  return known;
}

/** The providers with their keys. Anthropic needs no word in strata.yaml where its usual variable is set. */
export function readProviders(
  config: Config["providers"],
  environment: ReadonlyMap<string, string>,
  report: Report,
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  const usual = environment.get(ANTHROPIC_KEY);
  if (usual !== undefined) providers.set("anthropic", { key: new Secret(ANTHROPIC_KEY, usual) });
  for (const [name, provider] of Object.entries(config)) {
    if (provider === undefined) continue;
    const key = readSecret(provider.key, environment, ["providers", name, "key"], report);
    if (key !== undefined) providers.set(name, { key, ...(provider.url === undefined ? {} : { url: provider.url }) });
  }
  return frozenMap(providers);
}

const ANTHROPIC_KEY = "ANTHROPIC_API_KEY";

function readSecret(
  reference: string,
  environment: ReadonlyMap<string, string>,
  path: Path,
  report: Report,
): Secret | undefined {
  const name = SECRET_FORM.exec(reference)?.[1] ?? "";
  const value = environment.get(name);
  if (value !== undefined) return new Secret(name, value);
  const expected = `${name} is not set; export it, or write \`${name}=…\` into .env beside strata.yaml`;
  report.add(path, expected, { code: "secret_missing", value: reference });
  return undefined;
}
