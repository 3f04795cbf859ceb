import { z } from "zod";
import { HEAD } from "../conversations/index.ts";
import { list, TIME } from "../fields.ts";
import { LIFE } from "../life/index.ts";
import { LAYER, PASSED_OVER } from "../texts/index.ts";

// The shapes of answers about agents.

const MODEL = z.string().describe("`provider:name`, or `rehearsal`");
const PROBLEM = z.string().describe("why the model cannot answer now; absent if it can");

export const AGENT = z
  .object({
    name: z.string(),
    version: z.string().describe("digest of everything that the agent declares"),
    description: z.string(),
    model: MODEL,
    problem: PROBLEM.optional(),
    layers: list(z.string()),
    tools: list(z.string()),
  })
  .meta({ id: "Agent" });

/** A layer as it is declared. Text has tokens of its own; what is gathered again each turn has not. */
const DECLARED_LAYER = z.looseObject({
  id: z.string(),
  rank: z.number(),
  scope: z.string(),
  mutability: z.string(),
  trust: z.string(),
  source: z.string().describe("the file with its text, or its source"),
  tokens: z.number().optional().describe("for a text in a file or in strata.yaml"),
});

/** An agent as it is declared, with all keys that it has. */
export const DECLARED = z
  .looseObject({
    ...AGENT.shape,
    layers: list(DECLARED_LAYER),
    guess: z.string().optional().describe("that the model's window is a guess, and the key that sets it"),
    file: z.string().optional().describe("the file that declares it; absent if a program does"),
    attention: list(z.string()).describe("what needs an operator, in sentences"),
  })
  .meta({ id: "DeclaredAgent", description: "An agent as it is declared." });

export const ACT = z
  .object({ id: z.number(), role: z.string(), what: z.string(), about: z.string(), at: TIME })
  .meta({ id: "Act", description: "What an operator did with an agent." });

export const ATTENTION = z
  .object({
    agent: z.string(),
    proposals: z.number(),
    displaced: z.number(),
    outdated: z.number(),
    passedOver: list(PASSED_OVER).describe("which edited texts these are"),
    undeliverable: z.number(),
    unanswered: list(z.string()).describe(
      "turns of the last seven days that left their sender without a reply, if nothing was said on their thread since",
    ),
    asleep: z.string().optional().describe("why it sleeps until somebody acts"),
  })
  .meta({ id: "Attention", description: "What of an agent needs an operator." });

export const SNAPSHOT = z
  .object({
    agent: z.object({ name: z.string(), version: z.string(), description: z.string() }),
    layers: list(LAYER),
    life: LIFE.optional(),
    conversations: list(HEAD),
    inbox: z.number().describe("how many messages wait"),
    outbox: z.number(),
    undeliverable: z.number(),
  })
  .meta({ id: "Snapshot", description: "Everything about an agent at once." });
