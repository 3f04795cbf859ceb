import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type Agent,
  type AgentName,
  type OrgId,
  orgId,
  type Scheduling,
  SHORTEST_SECRET,
  StrataError,
  spellings,
} from "../protocol/index.ts";
import { type AgentKeys, type Schema, schemaOf } from "./agent-key.ts";
import { agentSpec, type Revive, reviving } from "./agent-spec.ts";
import { buildAgent, toolPath } from "./build-agent.ts";
import { checkConfig } from "./check-config.ts";
import type { Config } from "./config-schema.ts";
import { CORE_KEYS, type ConfigInput } from "./core-keys.ts";
import { deepFreeze, frozenMap } from "./freeze.ts";
import type { SourceForms } from "./layer-source.ts";
import { readText, whyNot } from "./layer-text.ts";
import { type Path, visible, type YamlSource } from "./path.ts";
import { readConfig } from "./read-config.ts";
import { type Report, reportOn } from "./report.ts";
import {
  type Environment,
  joinEnvironment,
  type Provider,
  readProviders,
  readSecrets,
  readServers,
  readStore,
  type Secret,
  secretsOf,
  secretsOfStore,
} from "./secret.ts";
import { readYaml } from "./yaml-source.ts";

/** A loaded strata.yaml, deeply frozen. Secrets are only in `providers`, `secrets`, `servers` and `store`. */
export interface Project {
  /** Absolute. */
  readonly file: string;
  readonly folder: string;
  readonly org: OrgId;
  readonly agents: ReadonlyMap<AgentName, Agent>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly secrets: ReadonlyMap<string, Secret>;
  /** Addresses of JSON-RPC servers, by the variable that an agent's account names. */
  readonly servers: ReadonlyMap<string, Secret>;
  /** The address of the database; absent if it is the file in the data folder. */
  readonly store?: Secret;
  /** Absolute paths of the modules with tools and sources. */
  readonly modules: readonly string[];
  /** Names that no source out of a module may have. */
  readonly sourceNames: readonly string[];
  /** What the lock holds besides immutable layers: texts by agent, then by name. */
  readonly locked: ReadonlyMap<AgentName, Readonly<Record<string, string>>>;
  /** The error for a tool that an agent cannot have, with the place in the file that gives it to the agent. */
  readonly refusedTool: (agent: AgentName, tool: string, because: string) => StrataError;
  /** The file's declarations of models, by `provider:name`. */
  readonly models: Config["models"];
  /** How the turns of one program share its time. */
  readonly turns: Scheduling;
  /** True if a program declares the agents itself: there is no strata.yaml and no lock. */
  readonly inCode?: true;
}

/** How a project is read. */
export interface ReadOptions {
  /** `process.env`, or less. */
  readonly env: Environment;
  /** True: nothing will run, so modules are not loaded, and a secret may be missing. */
  readonly recordOnly?: boolean;
  /** Where `.env` is read; by default beside strata.yaml. */
  readonly envFolder?: string;
  /** True: a secret may be missing, because only the texts are read. */
  readonly withoutSecrets?: boolean;
}

/** How agents are declared with these feature keys. */
export interface Declarations<Keys extends AgentKeys> {
  /**
   * Reads a project: `path` is a folder with a strata.yaml, or the file itself.
   * @throws StrataError `config_missing`, `config_invalid`, `file_not_found`, `secret_missing`; each names all that is wrong
   */
  readonly loadProject: (path: string, reading: ReadOptions) => Project;
  /**
   * The same for agents that a program declares itself: what strata.yaml would say, as a value. There is no lock: the program's own source
   * pins its texts. Paths of layer files and modules are relative to `folder`.
   * @throws StrataError as `loadProject`
   */
  readonly projectInCode: (config: ConfigInput<Keys>, reading: ReadOptions & { readonly folder: string }) => Project;
  /**
   * The agent of a stored spec, for threads that are pinned to it. `version` is the recorded one.
   * @throws StrataError `record_broken` when the spec is not of that version or not a spec, `store_newer` for another Strata's
   */
  readonly reviveAgent: Revive;
  /** The JSON Schema of strata.yaml, for editors, and the file `schema/strata.schema.json`, byte for byte. */
  readonly configSchema: () => Readonly<Record<string, unknown>>;
  readonly schemaText: () => string;
}

export function declaring<Keys extends AgentKeys>(keys: Keys, sources: SourceForms = {}): Declarations<Keys> {
  const schema = schemaOf({ ...CORE_KEYS, ...keys }, sources);
  return {
    loadProject: (path, reading) => {
      const named = locate(path);
      const file = resolve(named);
      const dotenv = readDotenv(reading.envFolder ?? dirname(named));
      return projectOf(readYaml(named, readSource(named)), { ...reading, schema, file, folder: dirname(file), dotenv });
    },
    projectInCode: (config, { folder, ...reading }) => {
      const source: YamlSource = { file: IN_CODE, value: config, locate: () => ({ line: 0, column: 0 }) };
      const place = { file: IN_CODE, folder: resolve(folder), dotenv: readDotenv(folder) };
      return projectOf(source, { ...reading, ...place, schema, inCode: true });
    },
    reviveAgent: reviving(schema),
    configSchema: schema.json,
    schemaText: () => `${JSON.stringify(schema.json(), null, 2)}\n`,
  };
}

const IN_CODE = "the agents in code";

interface ProjectSource extends Pick<Project, "file" | "folder">, ReadOptions {
  readonly dotenv: string | undefined;
  readonly schema: Schema;
  readonly inCode?: true;
}

function projectOf(source: YamlSource, place: ProjectSource): Project {
  const { file, folder, env, dotenv, schema, inCode, recordOnly = false, withoutSecrets = recordOnly } = place;
  const report = reportOn(source);
  const config = readConfig(report, schema);
  const org = orgId(config.organization);
  checkConfig(config, report, schema.sources);
  const { keys, sources } = schema;
  const given = { keys, sources, secrets: Object.keys(config.secrets), folder, report };
  const around = { org, model: config.model, embedder: config.embedder, config, ...given };
  const agents = Object.entries(config.agents).map(([name, agent]) => buildAgent(name, agent, around));
  const environment = joinEnvironment(env, dotenv);
  const asked = withoutSecrets ? withoutMissing(report) : report;
  const providers = readProviders(config.providers, environment, asked);
  const secrets = readSecrets(config.secrets, environment, asked);
  const servers = readServers(config.agents, { keys, environment, report: asked });
  // Always read: otherwise a record would be looked for in another place.
  const store = readStore(config.store, environment, report);
  const hidden = [...secretsOf(providers), ...secretsOfStore(store), ...secrets.values(), ...servers.values()];
  for (const agent of agents) for (const secret of hidden) checkSecret(agent, secret, report);
  const named = recordOnly ? [] : config.modules;
  const modules = named.map((path, i) => moduleFile(folder, path, ["modules", i], report));
  report.end();
  return Object.freeze({
    file,
    folder,
    org,
    agents: frozenMap(agents.map((agent) => [agent.name, agent])),
    providers,
    secrets,
    servers,
    ...(store !== undefined && { store }),
    modules: Object.freeze(modules),
    sourceNames: Object.freeze(sources.names),
    locked: frozenMap(agents.map((agent) => [agent.name, lockedBy(keys, agent)])),
    refusedTool: (agent: AgentName, tool: string, because: string) => {
      const found = reportOn(source);
      found.add(toolPath(agent, tool, { config, keys }), because, { code: "tool_not_found" });
      return found.error();
    },
    models: deepFreeze(config.models),
    turns: deepFreeze(config.turns),
    ...(inCode && { inCode }),
  });
}

/** What an agent's keys lock. */
function lockedBy(keys: AgentKeys, agent: Agent): Readonly<Record<string, string>> {
  const texts = Object.entries(keys).map(([name, key]) => {
    const kept: unknown = Reflect.get(agent, name);
    return kept === undefined ? {} : key.locks?.(kept);
  });
  return Object.assign({}, ...texts);
}

/** Says nothing of secrets that are not there. */
const withoutMissing = (report: Report): Report => ({
  ...report,
  add: (path, expected, options) => {
    if (options?.code !== "secret_missing") report.add(path, expected, options);
  },
});

/** A module's path. That it is a file is checked now, with its line; its content, when it is loaded. */
function moduleFile(folder: string, path: string, at: Path, report: Report): string {
  const file = resolve(folder, path);
  const said = statSync(file, { throwIfNoEntry: false });
  if (!said?.isFile()) report.add(at, `there is no file ${visible(file)}; check the path, relative to strata.yaml`);
  else if (!/\.[cm]?[jt]s$/.test(file))
    report.add(at, "expected a TypeScript or JavaScript file (.ts, .mts, .js, .mjs)");
  return file;
}

function locate(path: string): string {
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  const file = isFolder ? join(path, "strata.yaml") : path;
  if (existsSync(file)) return file;
  const where = `${isFolder ? "in" : "at"} ${visible(path)}`;
  const next = "name a folder that has one, or create one with `strata init companion`";
  throw new StrataError("config_missing", `there is no strata.yaml ${where}; ${next}`, { path });
}

function readSource(file: string): string {
  try {
    return readText(file);
  } catch (error) {
    if (error instanceof StrataError) throw new StrataError(error.traits, `${file}: ${error.message}`, { file });
    throw new StrataError(
      "file_not_found",
      `${file}: ${whyNot(error)}; check its owner and permissions`,
      { file },
      error,
    );
  }
}

/** The value of a variable: from the environment, otherwise from the folder's `.env`. @throws StrataError `secret_missing` */
export function variableAt(folder: string, env: Environment, name: string): string {
  const value = joinEnvironment(env, readDotenv(folder)).get(name);
  if (value !== undefined) return value;
  const message = `${name} is not set; export it, or write \`${name}=…\` into .env beside strata.yaml; a folder of that name is ./${name}`;
  throw new StrataError("secret_missing", message, { name });
}

function readDotenv(folder: string): string | undefined {
  const file = join(folder, ".env");
  return existsSync(file) ? readSource(file) : undefined;
}

/** A key pasted into a prompt would be sent to the provider, kept in the record and shown by `explain`. */
function checkSecret(agent: Agent, secret: Secret, report: Report): void {
  const value = secret.reveal();
  const spec = agentSpec(agent);
  if (value.length < SHORTEST_SECRET || !spellings(value).some((one) => spec.includes(one))) return;
  const expected = `a text of this agent contains the value of ${secret.name}; remove it, and replace the key at its provider`;
  report.add(["agents", agent.name], expected, { key: true, value: "(hidden)" });
}
