import { z } from "zod";
import { HEAD } from "../../features/conversations/index.ts";
import { LIFE } from "../../features/life/index.ts";
import { LAYER, PASSED_OVER } from "../../features/texts/index.ts";

// The shapes of answers about an agent's texts, conversations, life and mail.

const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();
const TIME = z.number().describe("Milliseconds since 1970.");
export const ACT = z
  .object({ id: z.number(), role: z.string(), what: z.string(), about: z.string(), at: TIME })
  .meta({ id: "Act", description: "What somebody did who looks after an agent." });

export const ATTENTION = z
  .object({
    agent: z.string(),
    proposals: z.number(),
    displaced: z.number(),
    outdated: z.number(),
    passedOver: list(PASSED_OVER).describe("Which edited texts those are."),
    undeliverable: z.number(),
    unanswered: list(z.string()).describe(
      "Turns of the last seven days that left their sender without a reply, while nothing was said on their thread since.",
    ),
    asleep: z.string().optional().describe("Why it sleeps until somebody does something about it."),
  })
  .meta({ id: "Attention", description: "What of an agent waits for an operator." });

export const SNAPSHOT = z
  .object({
    agent: z.object({ name: z.string(), version: z.string(), description: z.string() }),
    layers: list(LAYER),
    life: LIFE.optional(),
    conversations: list(HEAD),
    inbox: z.number().describe("How many messages wait."),
    outbox: z.number(),
    undeliverable: z.number(),
  })
  .meta({ id: "Snapshot", description: "All that can be seen of an agent at once." });
