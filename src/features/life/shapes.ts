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
        .describe("why the account could not be read the last time it was tried"),
      turn: z.number(),
      state: z.enum(SEEN_STATES).describe("of a turn that another program runs, `in a turn`"),
      at: TIME,
    }),
    since: TIME.optional().describe("of a step of a turn, since when the turn runs"),
    because: z.string().optional(),
    credits: CREDITS.optional(),
    asleep: z.string().optional().describe("why no turn of it begins until somebody pays"),
    nextTick: TIME.optional(),
  })
  .meta({ id: "Life", description: "How an agent is, and what it lives on." });
