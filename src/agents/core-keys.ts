import { z } from "zod";
import { type AgentKeys, agentKey, type Kept, type WrittenConfig } from "./agent-key.ts";

/** What every agent may say, whatever features there are, and what the rest of its declaration does not depend on. */
export const CORE_KEYS = {
  senders: agentKey(
    z
      .enum(["named", "ethereum"])
      .default("named")
      .describe(
        "Who may write: `named` anybody by any name; `ethereum` whoever has an address, and a message may be signed with its key.",
      ),
  ),
  instructions: agentKey(
    z
      .enum(["operators", "members"])
      .default("operators")
      .describe(
        "Who may post an `instruction` to it: `operators` alone, or `members` of the organization as well. Contacts never may.",
      ),
  ),
  tail: agentKey(
    z
      .enum(["after-events", "before-events"])
      .default("after-events")
      .describe(
        "Where what the live layers say stands: behind the events, or before them, so that the question comes last. Before them, the events are paid for once more in the next turn; `strata lint` tells how much.",
      ),
  ),
  summaries: agentKey(
    z
      .boolean()
      .default(true)
      .describe(
        "Whether the agent's own model sums up what is cut when a conversation gets too long for the budget. Otherwise it is only marked as left out.",
      ),
  ),
};

declare module "../protocol/agent.ts" {
  interface Agent extends Kept<typeof CORE_KEYS> {}
}

/** strata.yaml as a program writes it: defaults may be left out. */
export type ConfigInput<Keys extends AgentKeys> = WrittenConfig<Keys & typeof CORE_KEYS>;
