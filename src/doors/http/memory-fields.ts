import { z } from "zod";
import { MEMORY_KINDS, type MemoryFilter, memoryId, TRUSTS, untrusted } from "../../protocol/index.ts";
import { FIELDS } from "./fields.ts";

const INSTANT = /^(?:\d{1,16}|\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?)$/;
const AN_INSTANT = "a date such as 2026-11-21, a time such as 2026-11-21T09:30:00Z, or milliseconds since 1970";

const millisecondsOf = (text: string): number => (/^\d{5,}$/.test(text) ? Number(text) : Date.parse(text));

const instant = () =>
  z
    .string()
    .regex(INSTANT, AN_INSTANT)
    .refine((text) => !Number.isNaN(millisecondsOf(text)), AN_INSTANT)
    .transform(millisecondsOf);

const yes = () => z.literal("true").transform(() => true as const);
const time = () =>
  z
    .int()
    .min(-8.64e15)
    .max(8.64e15)
    .or(instant())
    .describe("Milliseconds since 1970, or a date or time such as 2026-11-21T09:30:00Z.");

/** Whose memories a request is about. */
export const WHOSE = { agent: FIELDS.agent, contact: FIELDS.contact.optional() };

/** Fields of a query that leave memories out. */
export const FILTER = {
  kind: z.enum(MEMORY_KINDS).optional().describe("Only this kind."),
  tag: z.string().min(1).optional().describe("Only with this tag."),
  since: instant().optional().describe("Only from this date or time on."),
  before: instant().optional().describe("Only before this date or time."),
  trust: z.enum(TRUSTS).optional().describe("Only the word of somebody at least as trusted."),
};

/** The same as the runtime takes it. */
export function filterOf({ kind, tag, since, before, trust }: z.output<z.ZodObject<typeof FILTER>>): MemoryFilter {
  return {
    ...(kind !== undefined && { kinds: [kind] }),
    ...(tag !== undefined && { tags: [tag] }),
    ...(since !== undefined && { since }),
    ...(before !== undefined && { before }),
    ...(trust !== undefined && { trust }),
  };
}

export const SUPERSEDED = yes().optional().describe("`true`: also what another memory took the place of.");

export const INVALID = yes()
  .optional()
  .describe("`true`: a search also gives what is no longer so, or not yet, by its `validFrom` and `validUntil`.");

/** What a person wants remembered. */
export const NOTE = {
  kind: z.enum(["fact", "block"]).default("fact").describe("A fact, or a longer text kept whole."),
  content: z
    .string()
    .max(50_000)
    .regex(/\S/, "a text that says something")
    .describe("What to remember.")
    .transform(untrusted),
  tags: FIELDS.tags,
  supersedes: z.string().describe("The memory it takes the place of, `mem_…`.").transform(memoryId).optional(),
  validFrom: time().optional(),
  validUntil: time().optional(),
};

/** A file of memories. */
export const FILE = {
  name: z.string().min(1).max(200).default("import").describe("What the file is called in sources and in sentences."),
  text: z.string().max(1_000_000).describe("JSON lines of an export, Markdown, or the JSON of mem0 or ChatGPT."),
  format: z.enum(["jsonl", "json", "markdown"]).optional().describe("How it is written; left out, as it looks."),
  kinds: z.array(z.enum(MEMORY_KINDS)).optional().describe("Only these kinds."),
  user: z.string().min(1).optional().describe("Only what belongs to this user of the system it comes from."),
  check: z.literal(true).optional().describe("Reads and checks it, and saves nothing."),
};
