import { type ConfigInput as Config, declaring } from "../../agents/index.ts";
import { KEYS as DELIVERIES } from "../../features/deliveries/config.ts";
import { KEYS as FETCH } from "../../features/fetch/config.ts";
import { KEYS as INBOX } from "../../features/inbox/config.ts";
import { KEYS as LIFE } from "../../features/life/config.ts";
import { KEYS as MEMORIES } from "../../features/memories/config.ts";
import { KEYS as TEXTS } from "../../features/texts/config.ts";

/** The keys of agents that features bring, in the order of the configuration page. They are small, and read before anything runs. */
export const AGENT_KEYS = { ...INBOX, ...TEXTS, ...DELIVERIES, ...LIFE, ...MEMORIES, ...FETCH };

/** What strata.yaml would say, as a program writes it. */
export type ConfigInput = Config<typeof AGENT_KEYS>;

/** How agents are declared and read again, with all that features add. */
export const { loadProject, projectInCode, reviveAgent, configSchema, schemaText } = declaring(AGENT_KEYS);
