import { z } from "zod";
import {
  type AgentName,
  type Allowed,
  type ContactId,
  MEMORY_KINDS,
  type MemoryFilter,
  memoryId,
  ROLES,
  type Scope,
  TRUSTS,
  untrusted,
} from "../../protocol/index.ts";
import { DONE_BY, FIELDS, given, list, TIME } from "../fields.ts";
import type { OperationContext } from "../operation.ts";
import { TOKENS } from "../shapes.ts";

const INSTANT = /^(?:\d{1,16}|\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?)$/;
const AN_INSTANT = "a date such as 2026-11-21, a time such as 2026-11-21T09:30:00Z, or milliseconds since 1970";

const millisecondsOf = (text: string): number => (/^\d{5,}$/.test(text) ? Number(text) : Date.parse(text));

const instant = () =>
  z
    .string()
    .regex(INSTANT, AN_INSTANT)
    .refine((text) => !Number.isNaN(millisecondsOf(text)), AN_INSTANT)
    .meta({ title: "date" })
    .transform(millisecondsOf);

/** A time in a body, where numbers are numbers. */
const time = () => z.int().min(-8.64e15).max(8.64e15).or(instant()).meta({ title: "date" });

const TAG = "1 to 40 letters, digits, blanks, '-' and '_', a letter or digit first";
const tag = () => z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N} _-]{0,39}$/u, TAG);

const kinds = () => z.array(z.enum(MEMORY_KINDS)).optional();

/** Whose memories. */
export const WHOSE = z.strictObject({
  agent: FIELDS.agent,
  contact: FIELDS.contact.optional().describe("about which contact"),
});

export interface Whose {
  readonly agent: AgentName;
  /** By default the agent's own. */
  readonly contact?: ContactId | undefined;
}

/** @throws StrataError `agent_not_found` */
export function scopeOf({ runtime }: OperationContext, actor: Allowed<"view">, { agent, contact }: Whose): Scope {
  const { org, name } = runtime.recordedAgent(actor, agent);
  return { org, agent: name, contact: contact ?? null };
}

/** Fields that leave memories out. */
export const FILTER = {
  kind: kinds().describe("only of this kind"),
  tag: z.array(tag()).optional().describe("only with this tag"),
  since: instant().optional().describe("only from this date or time on, such as 2026-11-21"),
  before: instant().optional().describe("only before this date or time"),
  trust: z.enum(TRUSTS).optional().describe("only with at least this trust"),
};

/** The same as the runtime takes it. */
export function filterOf({
  kind,
  tag: tags,
  since,
  before,
  trust,
}: z.output<z.ZodObject<typeof FILTER>>): MemoryFilter {
  return {
    ...given("kinds", kind),
    ...given("tags", tags),
    ...given("since", since),
    ...given("before", before),
    ...given("trust", trust),
  };
}

/** What a person wants remembered. */
export const NOTE = {
  content: z
    .string()
    .max(50_000)
    .regex(/\S/, "a text that says something")
    .describe("the text to remember")
    .transform((text) => untrusted(text.trim())),
  tags: z.array(tag()).max(8).default([]).describe("a tag"),
  kind: z.enum(["fact", "block"]).default("fact").describe("a fact, or a longer text that is kept whole"),
  supersedes: z
    .string()
    .meta({ title: "id" })
    .describe("the memory that it replaces: that one stays in the record and is no longer found")
    .transform(memoryId)
    .optional(),
  validFrom: time().optional().describe("valid from this date or time on"),
  validUntil: time().optional().describe("valid until this date or time"),
};

/** A file of memories. */
export const FILE = {
  text: z.string().describe("JSON lines, JSON or Markdown"),
  name: z.string().min(1).max(1_000).default("import").describe("the file's name in sources and messages"),
  format: z.enum(["jsonl", "json", "markdown"]).optional().describe("the format (default: detected)"),
  kinds: kinds().describe("only of this kind, such as `fact` without the conversations"),
  user: z.string().min(1).optional().describe("only what belongs to this user of the system it comes from"),
  check: z.literal(true).optional().describe("read and check it, and save nothing"),
};

export const MEMORY = z
  .object({
    id: z.string(),
    kind: z.enum(MEMORY_KINDS),
    content: z.string(),
    tags: list(z.string()),
    trust: z.enum(TRUSTS).describe("the lowest trust of what it was made from"),
    by: z.enum(ROLES).optional().describe("who wrote it down; left out, the agent"),
    byId: DONE_BY.byId,
    speaker: z.string().optional().describe("who said it"),
    session: z.string().optional().describe("the session in which it was said"),
    turn: z.string().optional().describe("where it was said or saved"),
    sources: list(z.string()).optional().describe("what it was made from"),
    at: TIME,
    validFrom: TIME.optional(),
    validUntil: TIME.optional(),
    support: z.number().describe("how often the same memory was saved"),
    supersedes: z.string().optional().describe("the memory that it replaced"),
    supersededBy: z.object({ memory: z.string(), at: TIME }).optional().describe("what replaced it, and when"),
  })
  .meta({ id: "Memory" });

const EVICTED = list(z.string()).describe("less useful memories that were deleted to make room for it");

export const SAVED = MEMORY.extend({
  merged: z.boolean().describe("whether the same memory already existed"),
  evicted: EVICTED,
}).meta({ id: "SavedMemory" });

export const HIT = MEMORY.extend({
  scope: z.object({ org: z.string(), agent: z.string(), contact: z.string().nullable() }),
  score: z.number().describe("higher is better"),
  evidence: z.number().describe("the score of the words alone"),
  features: z.record(z.string(), z.number()).describe("how the score is made up"),
  place: z.number().describe("a number that orders hits by when they were said"),
}).meta({ id: "FoundMemory" });

export const TROUBLE = z.string().optional().describe("why only words were compared although vectors are configured");

export const STATS = z
  .object({ kind: z.enum(MEMORY_KINDS), memories: z.number(), characters: z.number(), newest: TIME })
  .meta({ id: "MemoryStats" });

export const IMPORTED = z
  .object({
    saved: z.number(),
    known: z.number().describe("already existed"),
    evicted: z.number(),
    refused: list(z.object({ where: z.string(), message: z.string() })).describe(
      "entries that cannot be saved, and where they are; the rest is saved",
    ),
    notes: list(z.string()).optional().describe("what is missing in the file and reduces recall; absent if nothing is"),
  })
  .meta({ id: "ImportReport" });

export const VECTORS = z
  .object({
    agent: z.string(),
    embedder: z.string().optional().describe("absent: its memories are found by their words alone"),
    vectors: z.number().describe("texts with a vector of this model"),
    waiting: z.number().describe("memories that may still need one"),
    serving: z.record(z.string(), z.number()).describe("the models that searches use, and in how many scopes each"),
    trouble: TROUBLE,
  })
  .meta({ id: "MemoryVectors" });

export const EMBEDDED = VECTORS.extend({
  made: z.number().optional().describe("vectors computed; absent, like the two below, if none was missing"),
  refused: z.number().optional().describe("texts that the provider refused"),
  tokens: z.number().optional().describe("as the provider reports them"),
}).meta({ id: "EmbeddedMemories" });

export const SUMMARY = z
  .object({
    session: z
      .string()
      .optional()
      .describe("the session that it is about: its thread, or the conversation of an import"),
    topic: z.string().optional().describe("or the subject, in a word or two"),
    sources: z.number().describe("how many messages or other memories it is about"),
    turn: z.string().describe("where the request and the answer are recorded"),
    usage: TOKENS,
    dollars: z.number(),
    summary: MEMORY.optional(),
    evicted: EVICTED.optional(),
    because: z.string().optional().describe("why there is none: the model's answer could not be used"),
  })
  .meta({ id: "Summary" });
