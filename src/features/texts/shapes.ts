import { z } from "zod";
import { LAYER_SCOPES, MOVE_KINDS, MUTABILITIES, TEXT_STATUSES, TRUSTS } from "../../protocol/index.ts";
import { list, TIME } from "../fields.ts";

// The shapes of answers about an agent's texts.

const TRUST = z.enum(TRUSTS);
const KEY = { layer: z.string(), part: z.string().optional().describe("a skill, in the layer that holds skills") };

export const PASSED_OVER = z.object({ ...KEY, n: z.number(), state: z.enum(["displaced", "outdated"]) }).meta({
  id: "PassedOver",
  description:
    "An edited text. `displaced`: not sent, because its layer has since been locked, removed, or declared with another rank or source. `outdated`: still sent, although the declared text has changed.",
});

export const LAYER = z
  .object({
    id: z.string(),
    rank: z.number(),
    mutability: z.enum(MUTABILITIES).describe("`immutable`: cannot change at run time"),
    editors: z.literal("operators").optional().describe("for a versioned text: only operators; absent: the agent, too"),
    scope: z.enum(LAYER_SCOPES),
    trust: TRUST,
    text: z.string().optional().describe("what is sent of it now; absent if it is filled in each turn"),
    characters: z.number().optional(),
    version: z.number().optional().describe("the active version; 0 is the declared text"),
    wordsOf: TRUST,
    proposals: z.number().describe("how many wait"),
    source: z.string().optional(),
    passedOver: list(PASSED_OVER).optional().describe("which of its edited texts; absent: none"),
  })
  .meta({ id: "Layer" });

export const VERSION = z
  .object({
    ...KEY,
    n: z.number(),
    text: z.string(),
    line: z.string().optional(),
    status: z.enum(TEXT_STATUSES),
    active: z.boolean(),
    trust: TRUST.describe("whose words"),
    inputs: TRUST.describe("the lowest trust of everything that its author had read"),
    by: z.string(),
    turn: z.string().optional(),
    reason: z.string(),
    verdict: z.object({ verdict: z.enum(["pass", "review", "reject"]), findings: list(z.string()) }),
    parent: z.number().describe("the version that it replaces"),
    place: z
      .object({ rank: z.number(), source: z.string(), declared: z.string().optional() })
      .describe("what it was written for: rank and source of its layer, and the digest of the declared text"),
    digest: z.string().describe("the SHA-256 of the text in UTF-8"),
    at: TIME,
  })
  .meta({ id: "TextVersion", description: "One version of a text; versions are never deleted." });

const SIDE = z.object({ n: z.number().describe("the version; 0 is the declared text"), text: z.string() });

export const COMPARISON = z
  .object({
    ...KEY,
    before: SIDE,
    after: SIDE,
    lines: list(z.object({ sign: z.enum(["-", "+", " "]), line: z.string() })),
  })
  .meta({ id: "TextComparison", description: "How two versions of a text differ, line by line." });

export const PROPOSAL = VERSION.extend({ agent: z.string() }).meta({ id: "Proposal" });

export const MOVE = z
  .object({
    ...KEY,
    seq: z.number().describe("1 for the first of its text"),
    kind: z.enum(MOVE_KINDS),
    n: z.number(),
    from: z.number().nullable(),
    to: z.number().nullable().describe("what is active afterwards: 0 is the declared text, null is nothing"),
    by: z.string(),
    turn: z.string().optional(),
    reason: z.string(),
    at: TIME,
  })
  .meta({ id: "TextMove", description: "What was done with a text's versions." });

export const SKILL = z
  .object({
    name: z.string(),
    enabled: z.boolean(),
    text: z.string(),
    version: z.number(),
    wordsOf: TRUST,
    proposals: z.number(),
  })
  .meta({ id: "Skill" });
