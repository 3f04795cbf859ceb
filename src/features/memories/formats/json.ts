import { z } from "zod";
import {
  actorId,
  MEMORY_KINDS,
  memoryId,
  ROLES,
  StrataError,
  TRUSTS,
  turnId,
  untrusted,
} from "../../../protocol/index.ts";
import { conversationDrafts, isConversation, savedContext } from "./chatgpt.ts";
import { type DraftReading, type MemoryDraft, notReadable, type ReadEntry, tagsOf, timeOf } from "./draft.ts";
import { isTalk, talkDrafts } from "./talk.ts";

/** Lists that others put around their memories. */
const AROUND = ["results", "memories", "conversations"];

/** Lists in lists are read so deep. */
const DEEPEST = 8;

/** The content of a JSON value: a memory, a conversation, or a list of them. */
export function entriesOf(value: unknown, where: string, above: DraftReading): readonly ReadEntry[] {
  const reading = { ...above, depth: (above.depth ?? 0) + 1 };
  if (reading.depth > DEEPEST) return [{ where, message: `is nested deeper than ${DEEPEST} lists` }];
  if (isMessages(value)) return talkDrafts({ messages: value }, where, reading);
  if (Array.isArray(value)) return listEntries(value, where, reading);
  if (typeof value === "string") return [plainDraft(value, where)];
  const fields = fieldsOf(value);
  if (isConversation(fields)) return [...conversationDrafts(fields, where, reading), ...savedContext([fields], where)];
  if (isTalk(fields)) return talkDrafts(fields, where, reading);
  if (typeof fields["memory"] === "string") return [mem0Entry(fields, where)];
  if ("content" in fields && typeof fields["content"] !== "string")
    return [
      { where, message: `has a \`content\` that is not a text: ${JSON.stringify(fields["content"])?.slice(0, 60)}` },
    ];
  if (typeof fields["content"] === "string" || typeof fields["text"] === "string") {
    return isOfOthers(fields) ? listedEntry(fields, where) : [ownEntry(fields, where)];
  }
  const around = AROUND.find((name) => Array.isArray(fields[name]));
  if (around !== undefined) return entriesOf(fields[around], where, reading);
  if (where === "") throw notReadable(reading.file, "its JSON contains nothing that Strata recognizes as memories");
  return [{ where, message: "is not a memory: it has neither `content` nor `memory`, `messages` or `mapping`" }];
}

function listEntries(values: readonly unknown[], where: string, reading: DraftReading): readonly ReadEntry[] {
  const at = (n: number): string => [where, `entry ${n + 1}`].filter((part) => part !== "").join(", ");
  const talks = values.map(fieldsOf).filter(isConversation);
  if (talks.length === 0) return values.flatMap((value, n) => entriesOf(value, at(n), reading));
  // ChatGPT repeats its memories in many conversations: the newest list counts, once.
  const said = values.flatMap((value, n) => {
    const fields = fieldsOf(value);
    return isConversation(fields) ? conversationDrafts(fields, at(n), reading) : entriesOf(value, at(n), reading);
  });
  return [...said, ...savedContext(talks, where)];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

const isMessages = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof fieldsOf(one)["role"] === "string");

const plainDraft = (text: string, where: string): MemoryDraft => ({
  where,
  memory: { content: untrusted(text), tags: [] },
});

const TEXTS = z.array(z.string()).nullish();

/** A memory as mem0's `get_all` and its exports give it. */
function mem0Entry(fields: Readonly<Record<string, unknown>>, where: string): MemoryDraft {
  const { id, memory, categories, created_at, updated_at, expiration_date, user_id } = fields;
  const at = timeOf(updated_at) ?? timeOf(created_at);
  const until = timeOf(expiration_date);
  return {
    where,
    ...(typeof user_id === "string" && { owner: user_id }),
    memory: {
      content: untrusted(`${memory}`),
      tags: tagsOf(TEXTS.safeParse(categories).data ?? []),
      ...(typeof id === "string" && { sources: [`mem0:${id}`] }),
      ...(at !== undefined && { at }),
      ...(until !== undefined && { validUntil: until }),
    },
  };
}

/** Only others date their memories so; ours say `at`. */
const OF_OTHERS = ["created_at", "updated_at", "create_time", "created_timestamp", "enabled", "text"];
const isOfOthers = (fields: Readonly<Record<string, unknown>>): boolean => OF_OTHERS.some((name) => name in fields);

/** One entry of a list of saved memories, as ChatGPT and similar products export it. Disabled entries are skipped. */
function listedEntry(fields: Readonly<Record<string, unknown>>, where: string): readonly MemoryDraft[] {
  const { id, content, text, enabled, created_at, updated_at, create_time, created_timestamp, tags } = fields;
  if (enabled === false) return [];
  const at = [updated_at, created_at, create_time, created_timestamp].map(timeOf).find((one) => one !== undefined);
  const memory = {
    content: untrusted(`${content ?? text}`),
    tags: tagsOf(TEXTS.safeParse(tags).data ?? []),
    ...(typeof id === "string" && { sources: [`memory:${id}`] }),
    ...(at !== undefined && { at }),
  };
  return [{ where, memory }];
}

const TIME = z.union(
  [
    z.iso
      .date()
      .or(z.iso.datetime({ offset: true }))
      .transform((text) => Date.parse(text)),
    z.int().min(-8.64e15).max(8.64e15),
  ],
  {
    error: ({ input }) =>
      `${JSON.stringify(input)?.slice(0, 60)} is not a time; write a date such as 2026-11-21, a time such as 2026-11-21T09:30:00Z, or milliseconds since 1970`,
  },
);

/** A line of our own export, or one written by hand: only `content` must be there. */
const OWN = z.strictObject({
  id: z.string().transform(memoryId).optional(),
  kind: z.enum(MEMORY_KINDS).optional(),
  content: z.string().transform(untrusted),
  tags: z.array(z.string().min(1)).default([]),
  trust: z.enum(TRUSTS).optional(),
  by: z.enum(ROLES).optional(),
  byId: z
    .string()
    .regex(/^(?!contact:)/, "a contact's id is not kept with a memory: leave it out")
    .transform(actorId)
    .optional(),
  speaker: z.string().optional(),
  session: z.string().optional(),
  turn: z.string().transform(turnId).optional(),
  sources: z.array(z.string()).optional(),
  at: TIME.optional(),
  validFrom: TIME.optional(),
  validUntil: TIME.optional(),
  support: z.int().min(1).max(10_000).default(1),
  supersedes: z.string().transform(memoryId).optional(),
  supersededBy: z.strictObject({ memory: z.string().transform(memoryId), at: TIME }).optional(),
});

function ownEntry(fields: Readonly<Record<string, unknown>>, where: string): ReadEntry {
  try {
    const { data, error } = OWN.safeParse(fields);
    if (data === undefined) return { where, message: describeIssue(error.issues[0]) };
    const { id, support, supersedes, supersededBy, ...memory } = data;
    return {
      where,
      memory: presentFields(memory),
      support,
      ...(id !== undefined && { id }),
      ...(supersedes !== undefined && { supersedes }),
      ...(supersededBy !== undefined && { supersededBy }),
    };
  } catch (thrown) {
    if (!(thrown instanceof StrataError)) throw thrown;
    return { where, message: `has an invalid id: ${thrown.message}` };
  }
}

/** Only the fields that are present: an absent field must not become one that is `undefined`. */
function presentFields(
  memory: Omit<z.output<typeof OWN>, "id" | "support" | "supersedes" | "supersededBy">,
): MemoryDraft["memory"] {
  const { content, tags, kind, trust, by, byId, speaker, session, turn, sources } = memory;
  const { at, validFrom, validUntil } = memory;
  return {
    content,
    tags,
    ...(kind !== undefined && { kind }),
    ...(trust !== undefined && { trust }),
    ...(by !== undefined && { by, ...(byId !== undefined && { byId }) }),
    ...(speaker !== undefined && { speaker }),
    ...(session !== undefined && { session }),
    ...(turn !== undefined && { turn }),
    ...(sources !== undefined && { sources }),
    ...(at !== undefined && { at }),
    ...(validFrom !== undefined && { validFrom }),
    ...(validUntil !== undefined && { validUntil }),
  };
}

function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === "unrecognized_keys") return `has an unknown field: ${issue.keys.join(", ")}`;
  return `has a \`${issue?.path.join(".") ?? ""}\` that does not fit: ${issue?.message ?? "look at the line"}`;
}
