import { z } from "zod";
import type { Consolidated } from "../../turn/index.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { MEMORY } from "./memory-answers.ts";
import { type Route, route } from "./route.ts";
import { scopeOf } from "./scope-of.ts";

const SUMMARY = z.object({
  session: z
    .string()
    .optional()
    .describe("The stretch of talk that it is about: its thread, or the conversation of an import."),
  topic: z.string().optional().describe("Or the subject, in a word or two."),
  sources: z.number().describe("How many messages or other memories it is about."),
  turn: z.string().describe("Where the request and the answer are recorded."),
  dollars: z.number(),
  summary: MEMORY.optional(),
  evicted: z.array(z.string()).readonly().optional().describe("Less useful memories that had to go to make room."),
  because: z.string().optional().describe("Why there is none: the model's answer could not be kept."),
});

/** Sums up what was said, on request. */
export const consolidateRoute: Route = route({
  method: "post",
  url: "/v1/memories/consolidate",
  says: "Has the agent's model sum up what a contact's ended conversations said, or what is remembered of a subject, as memories.",
  path: NOTHING,
  query: NOTHING,
  body: z.strictObject({
    agent: FIELDS.agent,
    contact: FIELDS.contact,
    by: z.enum(["session", "topic"]).default("session").describe("What a summary is about."),
    limit: z.int().min(1).max(1_000).default(20).describe("At most so many summaries."),
  }),
  answer: z.object({ summaries: z.array(SUMMARY).readonly() }),
  handle: async ({ runtime }, { actor, body: { by, limit, ...whose }, gone }) => {
    const summaries: Omit<Consolidated, "usage">[] = [];
    const wish = { by, limit, signal: gone };
    for await (const { usage: _, ...one } of runtime.consolidate(actor, scopeOf(runtime, actor, whose), wish))
      summaries.push(one);
    return { summaries };
  },
});
