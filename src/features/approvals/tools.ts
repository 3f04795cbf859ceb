import { z } from "zod";
import { type Json, type Tool, toolName } from "../../protocol/index.ts";
import { defineTool } from "../../turn/tools/index.ts";
import { ESCALATE_DESCRIPTION } from "./wording.ts";

export const ESCALATE = toolName("escalate");

/** How many questions of a conversation may wait for a person at once. */
export const MOST_QUESTIONS = 5;

/** Minutes within which an answer is wanted, by default. */
export const USUAL_MINUTES = 240;

export const QUESTION = z.object({
  question: z
    .string()
    .min(1)
    .max(1_000)
    .describe("What you need to know or have decided, with all that is needed to answer."),
  reason: z.string().max(500).optional().describe("Why you cannot answer by yourself."),
  minutes: z
    .int()
    .min(1)
    .max(43_200)
    .default(USUAL_MINUTES)
    .describe(`Within how many minutes you need the answer; left out, ${USUAL_MINUTES}.`),
});

/** Every call of it waits for a person, whose answer is its result. */
export const escalateTool = (): Tool =>
  defineTool({
    name: ESCALATE,
    description: ESCALATE_DESCRIPTION,
    input: QUESTION,
    effect: "none",
    trust: "member",
    needsApproval: true,
    run: () => ({ text: "", failed: true }),
  });

/** By when the question of such a call is to be answered. */
export const dueOf = (input: Json, now: number): number => now + QUESTION.parse(input).minutes * 60_000;
