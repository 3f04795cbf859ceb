import { inspect, parseEnv } from "node:util";
import { type ModelRef, SHORTEST_SECRET, secretsInAddress } from "../protocol/index.ts";
import type { AgentKeys } from "./agent-key.ts";
import type { Config } from "./config-schema.ts";
import { frozenMap } from "./freeze.ts";
import { type Path, valueAt } from "./path.ts";
import { PROVIDER_KINDS } from "./provider-schema.ts";
import type { Report } from "./report.ts";
import { SECRET_FORM } from "./schema-parts.ts";

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
  readonly kind: (typeof PROVIDER_KINDS)[number] | "package";
  /** Absent if the server needs none. */
  readonly key?: Secret;
  /** For `kind: bedrock`: the region of AWS. */
  readonly region?: string;
  /** For `kind: bedrock` with an access key of AWS: whose it is. `key` is then the secret half, and signs. */
  readonly signing?: { readonly id: string; readonly session?: Secret };
  /** Another address than the provider's own. */
  readonly url?: string;
  /** For `kind: package`: the npm package. */
  readonly package?: string;
  /** The default model for agents that name none, and why it may be used: the variable that is set, or the declared key. */
  readonly usual?: { readonly model: string; readonly because: string };
}

/** The secret parts of the store's address. */
export const secretsOfStore = (store: Secret | undefined): readonly Secret[] =>
  secretsInAddress(store?.reveal()).map((value) => new Secret("in the address of the store", value));

/** Everything secret about how these providers are reached. */
export const secretsOf = (providers: ReadonlyMap<string, Provider>): readonly Secret[] =>
  [...providers].flatMap(([name, { key, signing, url }]) => [
    ...[key ?? [], signing?.session ?? []].flat(),
    ...secretsInAddress(url).map((value) => new Secret(`in the address of ${name}`, value)),
  ]);

/** The variables of the caller's process: `process.env`, or less. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables with a value, and the names of those that are set to nothing: to a person, that looks like set. */
export interface JoinedEnvironment extends ReadonlyMap<string, string> {
  readonly blank?: ReadonlySet<string>;
}

/** The environment with additions from `.env`. The environment takes precedence; an empty variable counts as not set. */
export function joinEnvironment(env: Environment, dotenv: string | undefined): JoinedEnvironment {
  const known = new Map<string, string>();
  const blank = new Set<string>();
  for (const layer of [dotenv === undefined ? {} : parseEnv(dotenv), env]) {
    for (const [name, value] of Object.entries(layer)) {
      if (value === "") blank.add(name);
      else if (value !== undefined) known.set(name, value);
    }
  }
  return Object.assign(known, { blank });
}

/** The providers with their keys: from the environment alone, overridden by strata.yaml. */
export function readProviders(
  config: Config["providers"],
  environment: JoinedEnvironment,
  report: Report,
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>(usualProviders(environment));
  for (const [name, declared] of Object.entries(config)) {
    const { key: reference, url, region, package: npm, kind = usualKind(name) } = declared;
    const key =
      reference === undefined ? undefined : readSecret(reference, environment, ["providers", name, "key"], report);
    const usual = kind === "bedrock" ? bedrockIn(environment) : providers.get(name);
    const own = key && kind === name ? USUAL_MODELS.find(({ provider }) => provider === name)?.model : undefined;
    const model =
      usual?.usual ?? (own === undefined ? undefined : { model: own, because: `providers.${name} has a key` });
    providers.set(name, {
      kind: npm === undefined ? (kind ?? "openai-compatible") : "package",
      // A named but missing key was reported; no other key replaces it.
      ...(reference === undefined ? keysOf(usual) : key !== undefined && { key }),
      ...(kind === "bedrock" && regionOf(region ?? usual?.region)),
      ...(model !== undefined && { usual: model }),
      ...(kind === "anthropic" && name === kind && anthropicUrl(environment)),
      ...(url !== undefined && { url }),
      ...(npm !== undefined && { package: npm }),
    });
  }
  return frozenMap(providers);
}

const keysOf = ({ key, signing }: Partial<Provider> = {}): Pick<Provider, "key" | "signing"> => ({
  ...(key !== undefined && { key }),
  ...(signing !== undefined && { signing }),
});

const regionOf = (region: string | undefined): Pick<Provider, "region"> => (region === undefined ? {} : { region });

/** The default API for a provider of that name. */
export const usualKind = (name: string): (typeof PROVIDER_KINDS)[number] | undefined =>
  PROVIDER_KINDS.find((kind) => kind === name);

/**
 * Providers that need no word in strata.yaml, by the variables that their own programs read. In the order in which they
 * answer for agents without a model. With `OPENAI_BASE_URL`, the key is that server's and not OpenAI's.
 */
function usualProviders(environment: ReadonlyMap<string, string>): ReadonlyMap<string, Provider> {
  const keyOf = (name: string): Pick<Provider, "key"> => {
    const value = environment.get(name);
    return value === undefined ? {} : { key: new Secret(name, value) };
  };
  const [anthropic, openai, url] = [keyOf("ANTHROPIC_API_KEY"), keyOf("OPENAI_API_KEY"), environment.get(BASE_URL)];
  const found = new Map<string, Provider>();
  if (anthropic.key)
    found.set("anthropic", {
      kind: "anthropic",
      ...anthropic,
      ...anthropicUrl(environment),
      usual: usualOf("anthropic"),
    });
  if (openai.key && url === undefined) found.set("openai", { kind: "openai", ...openai, usual: usualOf("openai") });
  const because = `${BASE_URL} is set`;
  const usual = { model: environment.get("OPENAI_MODEL") ?? FIRST_SERVED, because };
  if (url !== undefined) found.set("compatible", { kind: "openai-compatible", ...openai, url, usual });
  const [openrouter, bedrock] = [keyOf("OPENROUTER_API_KEY"), bedrockIn(environment)];
  if (openrouter.key) found.set("openrouter", { kind: "openrouter", ...openrouter, usual: usualOf("openrouter") });
  if (bedrock.key && bedrock.region !== undefined) found.set("bedrock", bedrock);
  return found;
}

/** Anthropic's own programs take the address without the version, its package with it. */
function anthropicUrl(environment: ReadonlyMap<string, string>): Pick<Provider, "url"> {
  const url = environment.get("ANTHROPIC_BASE_URL");
  if (url === undefined) return {};
  return { url: URL.canParse(url) && new URL(url).pathname === "/" ? `${url.replace(/\/$/, "")}/v1` : url };
}

/** Bedrock as AWS's own programs find it: a Bedrock key, otherwise an access key, which signs. */
function bedrockIn(environment: ReadonlyMap<string, string>): Provider {
  const secret = (name: string): Secret | undefined => {
    const value = environment.get(name);
    return value === undefined ? undefined : new Secret(name, value);
  };
  const token = secret("AWS_BEARER_TOKEN_BEDROCK");
  const place = regionOf(environment.get("AWS_REGION") ?? environment.get("AWS_DEFAULT_REGION"));
  if (token !== undefined) return { kind: "bedrock", ...place, key: token };
  const [id, key, session] = [
    environment.get("AWS_ACCESS_KEY_ID"),
    secret("AWS_SECRET_ACCESS_KEY"),
    secret("AWS_SESSION_TOKEN"),
  ];
  if (id === undefined || key === undefined) return { kind: "bedrock", ...place };
  return { kind: "bedrock", ...place, key, signing: { id, ...(session !== undefined && { session }) } };
}

const BASE_URL = "OPENAI_BASE_URL";
/** Which variable brings which model to agents that name none, in the order in which they decide. Checked on 2026-11-24. */
export const USUAL_MODELS = [
  { variable: "ANTHROPIC_API_KEY", provider: "anthropic", model: "claude-sonnet-5-5" },
  { variable: "OPENAI_API_KEY", provider: "openai", model: "gpt-6.2-sol" },
  { variable: BASE_URL, provider: "compatible", model: undefined },
  { variable: "OPENROUTER_API_KEY", provider: "openrouter", model: "anthropic/claude-sonnet-5.5" },
] as const;

/** The name for the model that a custom server lists first; servers with one model answer to any name. */
export const FIRST_SERVED = "default";

function usualOf(name: "anthropic" | "openai" | "openrouter"): NonNullable<Provider["usual"]> {
  const [{ variable = "", model = "" } = {}] = USUAL_MODELS.filter(({ provider }) => provider === name);
  return { model, because: `${variable} is set` };
}

/** Which model answers for an agent, and why that one, as the end of "answered by … because …". */
export interface ModelChoice {
  readonly ref: ModelRef;
  readonly because: string;
}

/** The model of agents that name none: of the first provider that is there. Undefined if none is. */
export function usualModel(providers: ReadonlyMap<string, Provider>): ModelChoice | undefined {
  for (const { provider: name } of USUAL_MODELS) {
    const usual = providers.get(name)?.usual;
    if (usual !== undefined) return { ref: `${name}:${usual.model}`, because: usual.because };
  }
  return undefined;
}

/** The values that modules may ask for, by the name that strata.yaml gives them. */
export function readSecrets(
  config: Config["secrets"],
  environment: JoinedEnvironment,
  report: Report,
): ReadonlyMap<string, Secret> {
  const secrets = Object.entries(config).flatMap(([name, reference]) => {
    const path: Path = ["secrets", name];
    const secret = readSecret(reference, environment, path, report);
    if (secret !== undefined && secret.reveal().length < SHORTEST_SECRET) {
      const expected = `its value has fewer than ${SHORTEST_SECRET} characters and cannot be kept out of prompts; use a longer one`;
      report.add(path, expected, { value: reference });
    }
    return secret === undefined ? [] : [[name, secret] as const];
  });
  return frozenMap(secrets);
}

/** The servers that features' keys name by a variable: its value may contain a key. */
export function readServers(
  agents: Readonly<Record<string, unknown>>,
  { keys, environment, report }: SecretOptions,
): ReadonlyMap<string, Secret> {
  const places = Object.keys(agents).flatMap((agent) =>
    Object.entries(keys).flatMap(([name, { servers = [] }]) =>
      servers.map((below): Path => ["agents", agent, name, ...below.split(".")]),
    ),
  );
  const found = places.flatMap((path) => {
    const reference = valueAt(report.source.value, path);
    if (typeof reference !== "string" || !SECRET_FORM.test(reference)) return [];
    const server = readSecret(reference, environment, path, report);
    if (server !== undefined && !/^https?:\/\/\S+$/.test(server.reveal()))
      report.add(path, `its value is not an address that begins with https:// or http://`, { value: reference });
    return server === undefined ? [] : [[server.name, server] as const];
  });
  return frozenMap(found);
}

interface SecretOptions {
  readonly keys: AgentKeys;
  readonly environment: JoinedEnvironment;
  readonly report: Report;
}

/** The store's address: from `STRATA_STORE`, otherwise the file. All of it is treated as a secret in output. */
export function readStore(
  declared: string | undefined,
  environment: JoinedEnvironment,
  report: Report,
): Secret | undefined {
  const around = environment.get("STRATA_STORE");
  const store =
    around === undefined ? declaredStore(declared, environment, report) : new Secret("STRATA_STORE", around);
  if (store !== undefined && !isAddress(store.reveal())) {
    const expected = `${store.name} is not an address of PostgreSQL; write it as postgres://user:password@host:5432/database, with signs such as @, / and # in the password as %40, %2F and %23`;
    report.add(["store"], expected, { value: "(hidden)" });
  }
  return store;
}

const isAddress = (text: string): boolean => /^postgres(?:ql)?:\/\/\S+$/.test(text) && URL.canParse(text);

function declaredStore(
  declared: string | undefined,
  environment: JoinedEnvironment,
  report: Report,
): Secret | undefined {
  if (declared === undefined) return undefined;
  return SECRET_FORM.test(declared)
    ? readSecret(declared, environment, ["store"], report)
    : new Secret("store", declared);
}

function readSecret(reference: string, environment: JoinedEnvironment, path: Path, report: Report): Secret | undefined {
  const name = SECRET_FORM.exec(reference)?.[1] ?? "";
  const value = environment.get(name);
  if (value !== undefined) return new Secret(name, value);
  const is = environment.blank?.has(name) === true ? "set to nothing" : "not set";
  const expected = `${name} is ${is}; export it, or write \`${name}=…\` into .env beside strata.yaml`;
  report.add(path, expected, { code: "secret_missing", value: reference });
  return undefined;
}
