import { existsSync } from "node:fs";
import { blueprintFolder, blueprintNames, type Project, standInNames } from "../agents/index.ts";
import type { Secrets } from "../models/index.ts";
import { type ModelRef, StrataError } from "../protocol/index.ts";
import { cardBook, type ModelCard, UNKNOWN } from "../wire/index.ts";
import { loadProject, projectInCode } from "./entry/agents.ts";
import { type PlacedOptions, recordFile } from "./options.ts";

/** The projects: those of the program or the folder, otherwise the shipped blueprints. */
export function projectsOf(options: Omit<PlacedOptions, "data">): readonly Project[] {
  const { folder, env, config, mustDeclare = false, recordOnly = false } = options;
  if (config !== undefined) return [projectInCode(config, { folder, env, recordOnly })];
  try {
    return [loadProject(folder, { env, recordOnly })];
  } catch (thrown) {
    if (mustDeclare || !(thrown instanceof StrataError && thrown.code === "config_missing")) throw thrown;
    // The user's own `.env`, not one inside the package. One agent of each name: agents that ask each other are a starting project, and are
    // not used as a fallback.
    return standInNames().map((name) => loadProject(blueprintFolder(name), { env, envFolder: folder }));
  }
}

/** The address of the store: the first one that a project declares, otherwise the file in the data folder. */
export const storeAddress = (projects: readonly Project[], data: string): string =>
  projects.find(({ store }) => store !== undefined)?.store?.reveal() ?? recordFile(data);

/**
 * The address of an existing store: a named database, or an existing file. It may hold a password.
 * @throws StrataError `config_invalid`, `secret_missing` if there is no file and the declaration cannot be read
 */
export function storeAt({ data, ...options }: PlacedOptions): string | undefined {
  const file = existsSync(recordFile(data)) ? recordFile(data) : undefined;
  try {
    const address = storeAddress(projectsOf({ ...options, recordOnly: true }), data);
    return address === recordFile(data) ? file : address;
  } catch (thrown) {
    const isWrong = thrown instanceof StrataError && /^(?:config_invalid|secret_missing)$/.test(thrown.code);
    if (file === undefined && isWrong) throw thrown;
    // Opening the project reports the declaration's problems.
    return file;
  }
}

/** Whether it is not a shipped blueprint. */
export const isOwn = ({ folder }: Project): boolean =>
  !blueprintNames().some((name) => blueprintFolder(name) === folder);

/** How to reach a provider: as the first project that declares it says. */
export function accessOf(projects: readonly Project[]): Secrets {
  return (name) => {
    for (const { providers, folder } of projects) {
      const provider = providers.get(name);
      if (provider === undefined) continue;
      const { kind, key, url, region, signing, package: npm } = provider;
      return {
        kind,
        key: key?.reveal(),
        url,
        region,
        signing: signing && { id: signing.id, session: signing.session?.reveal() },
        package: npm === undefined ? undefined : { name: npm, folder },
      };
    }
    return undefined;
  };
}

/** What is known about a model. */
export type CardOf = (model: ModelRef) => ModelCard;

/**
 * What is known about models: declared cards before built-in ones. If a provider of another name speaks a known API, the built-in cards of
 * that API count.
 */
export function cardsOf(projects: readonly Project[], access: Secrets): CardOf {
  const cards = cardBook(Object.assign({}, ...projects.toReversed().map(({ models }) => models)));
  return (model) => {
    const card = cards(model);
    const [provider = "", ...name] = model.split(":");
    const { kind, package: npm } = access(provider) ?? {};
    const known = npm === undefined ? kind : MAKERS.get(npm.name);
    // A name that is built in says more than the API that its server speaks.
    return card.family === UNKNOWN.family && known !== undefined ? cards(model, [known, ...name].join(":")) : card;
  };
}

/** The names under which the models of these packages are built in. */
const MAKERS: ReadonlyMap<string, string> = new Map([
  ["@ai-sdk/anthropic", "anthropic"],
  ["@ai-sdk/openai", "openai"],
  ["@ai-sdk/google", "google"],
  ["@ai-sdk/deepseek", "deepseek"],
  ["@ai-sdk/amazon-bedrock", "bedrock"],
  ["@openrouter/ai-sdk-provider", "openrouter"],
]);
