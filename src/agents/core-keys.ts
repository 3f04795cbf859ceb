import { z } from "zod";
import { type AgentKeys, agentKey, type StoredKeys, type WrittenConfig } from "./agent-key.ts";

const oneOf = ({ temperature, topP }: { readonly temperature?: unknown; readonly topP?: unknown }): boolean =>
  temperature === undefined || topP === undefined;

/** How a model draws its words, as strata.yaml and a call say it. */
export const SAMPLING = z
  .strictObject({
    temperature: z
      .number()
      .min(0)
      .max(2)
      .optional()
      .describe(
        "From 0, nearly always the likeliest word, to 2. Anthropic's models take at most 1, and get 1 for more.",
      ),
    topP: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe("Instead of `temperature`: only the likeliest words that together have this probability are drawn."),
  })
  .refine(oneOf, "either `temperature` or `topP`: several providers refuse or ignore the second");

/** Keys of every agent, whatever features there are, that do not depend on the rest of its declaration. */
export const CORE_KEYS = {
  parameters: agentKey(
    SAMPLING.optional().describe(
      "How the model draws its words. A model whose API refuses this gets none of it; the ledger, `explain` and `strata doctor` say so. Default: as the provider chooses.",
    ),
  ),
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
      .default(false)
      .describe(
        "Whether the agent's own model also summarizes what is cut off a long conversation: once for some 24,000 tokens that cuts have left out, or a quarter of what may be sent if that is less. What others wrote and short replies stay in any case, as far as there is room; longer replies can be searched.",
      ),
  ),
};

declare module "../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof CORE_KEYS> {}
}

/** strata.yaml as a program writes it: defaults may be omitted. */
export type ConfigInput<Keys extends AgentKeys> = WrittenConfig<Keys & typeof CORE_KEYS>;
