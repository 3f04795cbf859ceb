import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Agent, type AgentName, type OrgId, orgId, StrataError } from "../protocol/index.ts";
import { agentSpec } from "./agent-spec.ts";
import { buildAgent } from "./build-agent.ts";
import { checkConfig } from "./check-config.ts";
import { frozenMap } from "./freeze.ts";
import { readText, whyNot } from "./layer-text.ts";
import { readConfig } from "./read-config.ts";
import { type Report, reportOn } from "./report.ts";
import { type Environment, joinEnvironment, type Provider, readProviders } from "./secret.ts";
import { visible } from "./show.ts";
import { readYaml } from "./yaml-source.ts";

/** A loaded strata.yaml: frozen all through. Secrets stand in `providers` and nowhere else. */
export interface Project {
  /** Absolute. */
  readonly file: string;
  readonly folder: string;
  readonly org: OrgId;
  readonly agents: ReadonlyMap<AgentName, Agent>;
  readonly providers: ReadonlyMap<string, Provider>;
}

/**
 * Reads a project: `path` is a folder with a strata.yaml, or the file itself. `env` is `process.env`, or less.
 * @throws StrataError `config_missing`, `config_invalid`, `file_not_found`, `secret_missing`; each names all that is wrong
 */
export function loadProject(path: string, { env }: { readonly env: Environment }): Project {
  const named = locate(path);
  const file = resolve(named);
  const folder = dirname(file);
  const report = reportOn(readYaml(named, read(named)));
  const config = readConfig(report);
  const org = orgId(config.organization);
  checkConfig(config, report);
  const around = { org, model: config.model, folder, report };
  const agents = Object.entries(config.agents).map(([name, agent]) => buildAgent(name, agent, around));
  const providers = readProviders(config.providers, joinEnvironment(env, readDotenv(dirname(named))), report);
  for (const agent of agents) for (const { key } of providers.values()) checkSecret(agent, key, report);
  report.end();
  return Object.freeze({ file, folder, org, agents: frozenMap(agents.map((agent) => [agent.name, agent])), providers });
}

function locate(path: string): string {
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  const file = isFolder ? join(path, "strata.yaml") : path;
  if (existsSync(file)) return file;
  const where = `${isFolder ? "in" : "at"} ${visible(path)}`;
  const next = "name the folder that holds one, or make one with `strata init companion`";
  throw new StrataError("config_missing", `there is no strata.yaml ${where}; ${next}`, { path });
}

function read(file: string): string {
  try {
    return readText(file);
  } catch (error) {
    if (error instanceof StrataError) throw new StrataError(error.code, `${file}: ${error.message}`, { file });
    throw new StrataError("file_not_found", `${file}: ${whyNot(error)}; check its owner and rights`, { file }, error);
  }
}

function readDotenv(folder: string): string | undefined {
  const file = join(folder, ".env");
  return existsSync(file) ? read(file) : undefined;
}

/** A key pasted into a prompt would be sent to the provider, kept in the record and shown by `explain`. */
function checkSecret(agent: Agent, key: Provider["key"], report: Report): void {
  const value = key.reveal();
  if (value.length < 8 || !agentSpec(agent).includes(value)) return;
  const expected = `a text of this agent holds the value of ${key.name}; remove it, and replace the key at its provider`;
  report.add(["agents", agent.name], expected, { key: true, value: "(hidden)" });
}
