import { z } from "zod";
import { agentKey, type Kept, type KindsOf, server, sourceForm } from "../../agents/index.ts";
import type { Agent } from "../../protocol/index.ts";

const CREDITS = z.strictObject({
  low: z.number().positive().default(5).describe("At or below so many it is LowCycles."),
  critical: z
    .number()
    .positive()
    .default(1)
    .describe("At or below so many it is Critical: compact, and with few rounds."),
  rounds: z.int().min(1).max(100).default(2).describe("Model calls of one turn while it is Critical."),
});

const ACCOUNT = z.strictObject({
  address: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, "an Ethereum address, 0x and 40 hexadecimal digits")
    .describe("Its address."),
  rpc: server().describe("A JSON-RPC server of its chain."),
  cached: z.int().min(1).max(86_400).default(300).describe("Seconds for which a balance that was read is shown."),
});

const LIFE = z
  .strictObject({
    tick: z
      .number()
      .min(0.1)
      .max(43_200)
      .optional()
      .describe("Minutes between two turns of its own, which `strata start` runs. Default: none."),
    credits: CREDITS.optional().describe(
      "It lives on credits, in US dollars: `strata credits add` tops them up, each turn draws what it cost, and at zero it sleeps. Default: it never runs low.",
    ),
    account: ACCOUNT.optional().describe(
      "An account on an EVM chain whose native balance `vitals` shows. Default: none.",
    ),
  })
  .optional()
  .describe("Turns of its own, credits that it lives on, and an account. Default: it only answers.");

/** How an agent lives by itself. */
export const KEYS = {
  life: agentKey(LIFE, {
    servers: ["account.rpc"],
    check: (life, { agent, refuse }) => {
      if (life?.credits !== undefined && life.credits.critical > life.credits.low)
        refuse(["credits", "critical"], `expected at most \`low\`, which is ${life.credits.low}`);
      if (life?.tick !== undefined && agent.history !== "log")
        refuse(["tick"], "needs `history: log`: turns of its own stand alone");
    },
  }),
};

/** Balance, runway, tier, account, turn, time and state. */
export const SOURCES = {
  vitals: sourceForm({ fills: "how the agent is", isOurs: true, kept: {}, make: () => ({}) }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends Kept<typeof KEYS> {}
}

export type Life = NonNullable<Agent["life"]>;

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
