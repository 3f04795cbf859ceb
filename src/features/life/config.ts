import { z } from "zod";
import { agentKey, type KindsOf, type StoredKeys, server, sourceForm } from "../../agents/index.ts";
import type { Agent } from "../../protocol/index.ts";

const CREDITS = z.strictObject({
  low: z.number().positive().default(5).describe("At or below this balance its tier is LowCycles."),
  critical: z
    .number()
    .positive()
    .default(1)
    .describe("At or below this balance its tier is Critical: the prompt is compact, and a turn has few model calls."),
  modelCalls: z.int().min(1).max(100).default(2).describe("Model calls of one turn while it is Critical."),
});

const ACCOUNT = z.strictObject({
  address: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, "an Ethereum address, 0x and 40 hexadecimal digits")
    .describe("Its address."),
  rpc: server().describe("The address of a JSON-RPC server for its chain."),
  cached: z.int().min(1).max(86_400).default(300).describe("Seconds for which a balance is cached."),
});

const LIFE = z
  .strictObject({
    tick: z
      .number()
      .min(0.1)
      .max(43_200)
      .optional()
      .describe("Minutes between two turns of its own, which `strata start` runs. Default: no such turns."),
    credits: CREDITS.optional().describe(
      "It spends credits, in US dollars: `strata credits add` tops them up, each turn deducts its cost, and at zero the agent sleeps. Default: no credits are counted.",
    ),
    account: ACCOUNT.optional().describe(
      "An account on an EVM chain whose native balance `vitals` shows. Default: none.",
    ),
  })
  .optional()
  .describe("Turns of its own, credits that it spends, and a blockchain account. Default: it only answers.");

/** How an agent lives by itself. */
export const KEYS = {
  life: agentKey(LIFE, {
    servers: ["account.rpc"],
    check: (life, { agent, refuse }) => {
      if (life?.credits !== undefined && life.credits.critical > life.credits.low)
        refuse(["credits", "critical"], `expected at most \`low\`, which is ${life.credits.low}`);
      if (life?.tick !== undefined && agent.history !== "log")
        refuse(["tick"], "needs `history: log`, because each of its own turns stands alone");
    },
  }),
};

/** Balance, runway, tier, account, turn, time and state. */
export const SOURCES = {
  vitals: sourceForm({ fills: "the agent's own condition", isOurs: true, kept: {}, make: () => ({}) }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

export type Life = NonNullable<Agent["life"]>;

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
