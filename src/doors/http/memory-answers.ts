import { z } from "zod";
import { MEMORY_KINDS, ROLES, TRUSTS } from "../../protocol/index.ts";

// The shapes of memories in answers. They are those of `--json` on the command line.

const TIME = z.number().describe("Milliseconds since 1970.");

export const MEMORY = z
  .object({
    id: z.string(),
    kind: z.enum(MEMORY_KINDS),
    content: z.string(),
    tags: z.array(z.string()).readonly(),
    trust: z.enum(TRUSTS).describe("The lowest trust of what it was made from."),
    by: z.enum(ROLES).optional().describe("Who wrote it down; left out, the agent."),
    speaker: z.string().optional().describe("Who said it."),
    session: z.string().optional().describe("Which stretch of talk it is of."),
    turn: z.string().optional().describe("Where it was written down."),
    sources: z.array(z.string()).readonly().optional().describe("What it was made from."),
    at: TIME,
    validFrom: TIME.optional(),
    validUntil: TIME.optional(),
    support: z.number().describe("How often the very same was saved."),
    supersedes: z.string().optional().describe("The memory it took the place of."),
    supersededBy: z.object({ memory: z.string(), at: TIME }).optional().describe("What took its place, and when."),
  })
  .meta({ id: "Memory" });

export const SAVED = MEMORY.extend({
  merged: z.boolean().describe("Whether the very same was there already."),
  evicted: z.array(z.string()).readonly().describe("Less useful memories that had to go for it."),
}).meta({ id: "SavedMemory" });

export const HIT = MEMORY.extend({
  scope: z.object({ org: z.string(), agent: z.string(), contact: z.string().nullable() }),
  score: z.number().describe("Higher is better."),
  evidence: z.number().describe("How far the words alone speak for it."),
  features: z.record(z.string(), z.number()).describe("What the score is made of."),
  place: z.number().describe("Hits count up by it as they were said."),
}).meta({ id: "FoundMemory" });

export const STATS = z
  .object({ kind: z.enum(MEMORY_KINDS), memories: z.number(), characters: z.number(), newest: TIME })
  .meta({ id: "MemoryStats" });

export const IMPORTED = z
  .object({
    saved: z.number(),
    known: z.number().describe("Were there already."),
    evicted: z.number(),
    refused: z
      .array(z.object({ where: z.string(), says: z.string() }))
      .readonly()
      .describe("What cannot be kept, and where it stands. The rest is saved."),
    notes: z
      .array(z.string())
      .readonly()
      .optional()
      .describe("What the file could have said and did not, where that costs recall. Left out where there is nothing."),
  })
  .meta({ id: "ImportReport" });
