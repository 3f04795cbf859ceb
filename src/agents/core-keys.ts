import { z } from "zod";
import { type AgentKeys, agentKey, type StoredKeys, type WrittenConfig } from "./agent-key.ts";

/** What every agent may say, whatever features there are, and what the rest of its declaration does not depend on. */
export const CORE_KEYS = {
  senders: agentKey(
    z
      .enum(["named", "ethereum"])
      .default("named")
      .describe(
        "Who may write: `named` means anybody, under any name; `ethereum` means anybody with an Ethereum address, and messages may be signed with its key.",
      ),
  ),
  instructions: agentKey(
    z
      .enum(["operators", "members"])
      .default("operators")
      .describe(
        "Who may post an `instruction` to it: only `operators`, or also `members` of the organization. Contacts never may.",
      ),
  ),
  liveLayers: agentKey(
    z
      .enum(["after", "before"])
      .default("after")
      .describe(
        "Where the text of the live layers is placed: `after` the events, or `before` them, so that the question comes last. If it is before them, the events are paid for a second time in the next turn; `strata lint` says how much.",
      ),
  ),
  summaries: agentKey(
    z
      .boolean()
      .default(true)
      .describe(
        "Whether the agent's own model summarizes what is cut when a conversation exceeds the budget. Otherwise only a mark says that something is left out.",
      ),
  ),
};

declare module "../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof CORE_KEYS> {}
}

/** strata.yaml as a program writes it: defaults may be left out. */
export type ConfigInput<Keys extends AgentKeys> = WrittenConfig<Keys & typeof CORE_KEYS>;
