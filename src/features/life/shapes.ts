import { z } from "zod";
import { SEEN_STATES, SURVIVAL_TIERS } from "../../protocol/index.ts";
import { list, TIME } from "../fields.ts";

// The shapes of answers about how an agent lives by itself.

export const CREDITS = z
  .object({
    toppedUp: z.number(),
    spent: z.number(),
    balance: z.number(),
    lastDay: z.object({ spent: z.number(), hours: z.number() }),
  })
  .meta({ id: "Credits", description: "US dollars." });

export const PAYMENTS = z.object({
  payments: list(
    z
      .object({ id: z.number(), dollars: z.number(), by: z.string(), note: z.string(), at: TIME })
      .meta({ id: "Payment" }),
  ),
});

export const LIFE = z
  .object({
    agent: z.string(),
    vitals: z.object({
      balance: z.number().optional(),
      runway: z.number().optional().describe("hours for which the balance lasts"),
      tier: z.enum(SURVIVAL_TIERS),
      wallet: z.string().optional(),
      native: z.object({ wei: z.string().describe("in digits"), at: TIME }).optional(),
      unread: z
        .object({ because: z.string(), at: TIME })
        .optional()
        .describe("why the last attempt to read the account failed"),
      turn: z.number(),
      state: z.enum(SEEN_STATES).describe("`in a turn` if another program runs the turn"),
      at: TIME,
    }),
    since: TIME.optional().describe("during a turn: when the turn began"),
    because: z.string().optional(),
    credits: CREDITS.optional(),
    asleep: z.string().optional().describe("why no turn begins until somebody pays"),
    nextTick: TIME.optional(),
  })
  .meta({ id: "Life", description: "The condition of an agent, and its credits." });
