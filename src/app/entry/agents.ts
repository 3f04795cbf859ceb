import { type ConfigInput as Config, declaring, readYaml } from "../../agents/index.ts";
import * as assistant from "../../features/assistant/config.ts";
import * as cases from "../../features/cases/config.ts";
import * as defer from "../../features/defer/config.ts";
import * as deliveries from "../../features/deliveries/config.ts";
import * as drafts from "../../features/drafts/config.ts";
import * as fetch from "../../features/fetch/config.ts";
import * as files from "../../features/files/config.ts";
import * as handlers from "../../features/handlers/config.ts";
import * as hooks from "../../features/hooks/config.ts";
import * as inbox from "../../features/inbox/config.ts";
import * as learning from "../../features/learning/config.ts";
import * as life from "../../features/life/config.ts";
import * as limits from "../../features/limits/config.ts";
import * as logs from "../../features/logs/config.ts";
import * as memories from "../../features/memories/config.ts";
import * as organization from "../../features/organization/config.ts";
import * as peers from "../../features/peers/config.ts";
import * as responses from "../../features/responses/config.ts";
import * as runtime from "../../features/runtime/config.ts";
import * as schedules from "../../features/schedules/config.ts";
import * as settings from "../../features/settings/config.ts";
import * as skills from "../../features/skills/config.ts";
import * as subagents from "../../features/subagents/config.ts";
import * as texts from "../../features/texts/config.ts";

// Named, because otherwise the package would contain their types twice.
type AgentKeys = typeof inbox.KEYS &
  typeof texts.KEYS &
  typeof deliveries.KEYS &
  typeof hooks.KEYS &
  typeof life.KEYS &
  typeof memories.KEYS &
  typeof fetch.KEYS &
  typeof handlers.KEYS &
  typeof schedules.KEYS &
  typeof files.KEYS &
  typeof skills.KEYS &
  typeof settings.KEYS &
  typeof limits.KEYS &
  typeof responses.KEYS &
  typeof subagents.KEYS &
  typeof organization.KEYS &
  typeof peers.KEYS &
  typeof drafts.KEYS &
  typeof learning.KEYS &
  typeof assistant.KEYS &
  typeof defer.KEYS;
type LayerSources = typeof memories.SOURCES &
  typeof logs.SOURCES &
  typeof inbox.SOURCES &
  typeof life.SOURCES &
  typeof texts.SOURCES &
  typeof files.SOURCES &
  typeof settings.SOURCES &
  typeof runtime.SOURCES &
  typeof organization.SOURCES &
  typeof drafts.SOURCES &
  typeof learning.SOURCES &
  typeof assistant.SOURCES &
  typeof cases.SOURCES;

/** The keys of agents that features bring, in the order of the configuration page. They are small, and read before anything runs. */
export const AGENT_KEYS: AgentKeys = {
  ...inbox.KEYS,
  ...texts.KEYS,
  ...deliveries.KEYS,
  ...hooks.KEYS,
  ...life.KEYS,
  ...memories.KEYS,
  ...fetch.KEYS,
  ...handlers.KEYS,
  ...schedules.KEYS,
  ...files.KEYS,
  ...skills.KEYS,
  ...settings.KEYS,
  ...limits.KEYS,
  ...responses.KEYS,
  ...subagents.KEYS,
  ...organization.KEYS,
  ...peers.KEYS,
  ...drafts.KEYS,
  ...learning.KEYS,
  ...assistant.KEYS,
  ...defer.KEYS,
};

/** The sources that layers may name, in the order of that page. */
export const LAYER_SOURCES: LayerSources = {
  ...memories.SOURCES,
  ...logs.SOURCES,
  ...inbox.SOURCES,
  ...life.SOURCES,
  ...texts.SOURCES,
  ...files.SOURCES,
  ...settings.SOURCES,
  ...runtime.SOURCES,
  ...organization.SOURCES,
  ...drafts.SOURCES,
  ...learning.SOURCES,
  ...assistant.SOURCES,
  ...cases.SOURCES,
};

/** The contents of strata.yaml, as a program writes them. */
export type ConfigInput = Config<AgentKeys>;

/** How agents are declared and read again, with all that features add. */
export const { loadProject, projectInCode, reviveAgent, configSchema, schemaText } = declaring(
  AGENT_KEYS,
  LAYER_SOURCES,
);

/**
 * The content of a strata.yaml, with other budgets for one of its agents, for a program that opens it beside the record: without its
 * `store`, so that nothing is written there.
 * @throws StrataError `config_invalid`
 */
export function configWith(file: string, text: string, agent: string, budgets: object): ConfigInput {
  const { store: _, ...config } = JSON.parse(JSON.stringify(readYaml(file, text).value));
  const declared = config.agents[agent];
  return {
    ...config,
    agents: { ...config.agents, [agent]: { ...declared, budgets: { ...declared.budgets, ...budgets } } },
  };
}
