import { z } from "zod";
import { clean, cleanName, secretProblem } from "../guard/index.ts";
import {
  isoSecond,
  lowestTrust,
  type Memory,
  type MemoryId,
  memoryId,
  readFrames,
  type Scope,
  type Tool,
  type ToolContext,
  TRUSTS,
  untrusted,
} from "../protocol/index.ts";
import type { MemoryHit, Store } from "../stores/index.ts";
import { defineTool } from "./define-tool.ts";
import { answered, refused } from "./outcome.ts";

/** What the tools ask the store: they read; what they write goes into the turn's commit. */
type Reads = Pick<Store, "searchMemories" | "memory">;

/**
 * The tools by which an agent remembers. What they save and forget belongs to the contact of the turn, and to no other; a search
 * gives the agent's own memories, too, which operators keep for all its contacts and no turn writes (law 5).
 */
export function memoryTools(store: Reads): readonly Tool[] {
  return [memorySave(store), memorySearch(store), memoryForget(store)];
}

/** As many characters and tags as one memory of a tool has. */
const LONGEST = 4_000;
const MOST_TAGS = 8;
const LONGEST_TAG = 40;

const TAGS = z.array(z.string().min(1).max(LONGEST_TAG)).max(MOST_TAGS);

// The forms are told in words: every sign of a schema stands in every prompt.
const ID_FORM = /^mem_[0-9a-hjkmnp-tv-z]{26}$/;
const ID = z.string().refine((text) => ID_FORM.test(text), "it must be an id as memory_search shows it, mem_…");

function memorySave(store: Reads): Tool {
  return defineTool({
    name: "memory_save",
    description:
      "Remembers one fact about this contact or conversation for later. Save what will still matter in another " +
      "conversation: one self-contained sentence or short note each, with names and dates instead of 'he' and 'today'. " +
      "No secrets.",
    input: z.object({
      content: z
        .string()
        .min(1)
        .max(LONGEST)
        .refine((text) => text.trim() !== "", "it must say something")
        .describe("What to remember."),
      tags: TAGS.optional().describe("Words to find it by."),
      supersedes: ID.optional().describe("Id of a memory that is no longer true; this one replaces it."),
    }),
    effect: "store",
    // Its answers are the sentences below and nothing else.
    trust: "platform",
    run: async ({ content, tags = [], supersedes }, context) => {
      const names = cleanTags(tags);
      const problem = contentProblem(content) ?? secretProblem(names.join("\n"), "a tag");
      if (problem !== undefined) return refused(`Not saved: the text ${problem}.`);
      const old = supersedes === undefined ? undefined : memoryId(supersedes);
      const kept = old === undefined ? undefined : await whyKept(store, old, context);
      if (kept !== undefined) return refused(`Not saved: ${kept}`);
      const memory = {
        content: untrusted(content),
        tags: names,
        trust: context.taint,
        turn: context.turn,
        sources: context.events,
        at: context.at,
        ...(old !== undefined && { supersedes: old }),
      };
      return answered(await savedText(store, content, context.scope, old), [{ kind: "memory", memory }]);
    },
  });
}

/** A tag is shown in the line of its memory and must not make another. */
function cleanTags(tags: readonly string[]): readonly string[] {
  return [...new Set(tags.map((tag) => cleanName(untrusted(tag))).filter((tag) => tag !== ""))];
}

/** Law 12: what the platform showed in a frame was remembered or is in the record already; copied, it would be fed on itself. */
function contentProblem(content: string): string | undefined {
  const plain = clean(untrusted(content));
  if (readFrames(plain).length > 0) return "holds a frame that was shown to you; say in your own words what is new";
  const secret = secretProblem(plain);
  return secret === undefined ? undefined : `${secret}; secrets are not remembered: say where it is kept instead`;
}

async function savedText(store: Reads, content: string, scope: Scope, old: MemoryId | undefined): Promise<string> {
  if (old !== undefined) return `Saved. It takes the place of ${old}, which is found no more.`;
  const texts = [{ text: content, weight: 1 }];
  const alike = await store.searchMemories([scope], { texts, kinds: ["fact", "block", "summary"], limit: 3 });
  const same = alike.find((hit) => folded(hit.content) === folded(content));
  if (same === undefined) return "Saved.";
  return `Known already as ${same.id}: it counts as said ${same.support + 1} times now, and nothing was added.`;
}

/** As the store tells the very same: it decides, this only foretells it. */
const folded = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/gu, " ")
    .trim()
    .replace(/[.!。！]+$/u, "");

/** Why the agent may not put a memory away in this turn, as a sentence. */
async function whyKept(store: Reads, id: MemoryId, { scope, taint }: ToolContext): Promise<string | undefined> {
  const memory = await store.memory(scope, id);
  if (memory === undefined) return `there is no memory ${id} of this contact; memory_search shows their ids.`;
  if (memory.supersededBy !== undefined) return `${memory.supersededBy.memory} has taken the place of ${id} already.`;
  if (memory.kind === "message") return `${id} is what was said, and stays as it was said; save what is true now.`;
  const by = memory.by ?? "agent";
  if (by !== "agent") return `${id} was saved by the ${by}; ask a person to change it.`;
  // What was saved on better grounds is not put away on the word of somebody less trusted (law 6).
  if (lowestTrust([memory.trust, taint]) === memory.trust) return undefined;
  return `${id} has the trust of the ${memory.trust}, and this turn has seen text of a ${taint}; ask a person to change it.`;
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

const instant = () =>
  z
    .string()
    .refine(
      (text) => INSTANT.test(text) && !Number.isNaN(Date.parse(text)),
      "it must be a date such as 2026-11-21, or a time such as 2026-11-21T09:30:00Z",
    );

function memorySearch(store: Reads): Tool {
  return defineTool({
    name: "memory_search",
    description:
      "Searches what was remembered about this contact, by keywords. Gives the best matches with id, date, trust, speaker and tags.",
    input: z.object({
      query: z.string().min(1).max(1_000).describe("Keywords, such as names, things and places."),
      limit: z.int().min(1).max(20).default(5).describe("How many memories at most."),
      tags: z.array(z.string()).min(1).optional().describe("Only with one of these tags."),
      since: instant().optional().describe("Only from this date on, as 2026-11-21."),
      before: instant().optional().describe("Only before this date."),
      trust: z.enum(TRUSTS).optional().describe("Only the word of somebody as trusted."),
    }),
    effect: "none",
    trust: "contact",
    run: async ({ query, limit, tags, since, before, trust }, { scope, signal, at }) => {
      const hits = await store.searchMemories([scope, { ...scope, contact: null }], {
        texts: [{ text: query, weight: 1 }],
        limit,
        validAt: at,
        ...(tags !== undefined && { tags: cleanTags(tags) }),
        ...(since !== undefined && { since: Date.parse(since) }),
        ...(before !== undefined && { before: Date.parse(before) }),
        ...(trust !== undefined && { trust }),
        signal,
      });
      if (hits.length === 0) return answered("No memory matches; try other or fewer words.");
      return answered(hits.map(shown).join("\n"));
    },
  });
}

/**
 * One line of the platform's, then the content set in: no line of content begins where a line of the platform's does. A name or a
 * tag stands in brackets, and has none.
 */
function shown(hit: MemoryHit): string {
  const { id, at, trust, speaker, tags, content, scope } = hit;
  const said = speaker === undefined ? [] : [`said by [${cleanName(untrusted(speaker))}]`];
  const labels = tags.length === 0 ? [] : [`tags [${cleanTags(tags).join(", ")}]`];
  const own = scope.contact === null ? ["for all contacts"] : [];
  const line = [id, day(at), trust, ...own, ...until(hit), ...said, ...labels].join(" · ");
  return `- ${line}\n  ${clean(content).replaceAll("\n", "\n  ")}`;
}

const day = (at: number): string => isoSecond(at).slice(0, 10);

const until = ({ validUntil }: Memory): readonly string[] =>
  validUntil === undefined ? [] : [`so until ${day(validUntil)}`];

function memoryForget(store: Reads): Tool {
  return defineTool({
    name: "memory_forget",
    description:
      "Forgets one memory that you saved about this contact, for good: when they ask for it, or when it should never have " +
      "been saved. For what has changed, call memory_save with supersedes instead.",
    input: z.object({ id: ID.describe("The memory's id, as memory_search shows it.") }),
    effect: "store",
    // Its answers are the sentences below and nothing else.
    trust: "platform",
    run: async ({ id }, context) => {
      const memory = memoryId(id);
      const kept = await whyKept(store, memory, context);
      if (kept !== undefined) return refused(`Not forgotten: ${kept}`);
      return answered(`${memory} is forgotten when this turn ends.`, [{ kind: "forget", memory }]);
    },
  });
}
