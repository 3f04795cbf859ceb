import { z } from "zod";
import {
  type CommitReport,
  issueId,
  lowestTrust,
  MEMORY_KINDS,
  type Memory,
  type MemoryId,
  memoryId,
  memoryScope,
  type NewMemory,
  ROLES,
  type Scope,
  StrataError,
  TRUSTS,
  type Trust,
  type TurnId,
  turnId,
  untrusted,
} from "../../protocol/index.ts";
import type { Tx } from "../tx.ts";
import { writeKind } from "../write-kind.ts";
import { memory } from "./memories.ts";
import { addMemory, forgetMemory } from "./save-memory.ts";

/** The last millisecond that a date can tell, either way. */
const LAST = 8_640_000_000_000_000;

const TIME = z.int().min(-LAST).max(LAST);
const ID = z
  .string()
  .regex(/^mem_[0-9a-hjkmnp-tv-z]{26}$/, "it must be the id of a memory")
  .transform(memoryId);

/**
 * A memory as a tool writes it: `tags` defaults to none. Whoever wrote the tool, the agent saves, a fact or a block: `by` and `session` are
 * refused, and so are the kinds that the platform keeps.
 */
const FROM_TOOLS = {
  kind: z.enum(["fact", "block"]).exactOptional(),
  content: z.string().transform(untrusted),
  tags: z.array(z.string()).default([]),
  trust: z.enum(TRUSTS),
  speaker: z.string().exactOptional(),
  turn: z.string().transform(turnId).exactOptional(),
  sources: z.array(z.string()).exactOptional(),
  at: TIME,
  validFrom: TIME.exactOptional(),
  validUntil: TIME.exactOptional(),
  supersedes: ID.exactOptional(),
};

const MEMORY: z.ZodType<NewMemory> = z.strictObject({
  ...FROM_TOOLS,
  kind: z.enum(MEMORY_KINDS).exactOptional(),
  by: z.enum(ROLES).exactOptional(),
  session: z.string().exactOptional(),
});

const SAVES = z.literal("memory");

/** The id of a memory that will be. */
export const newMemoryId = (at: number, random: (bytes: number) => Uint8Array): MemoryId =>
  memoryId(issueId("memory", at, random(10)));

/** Saves a memory of the turn's contact, or of the agent's own. */
export const SAVE_MEMORY = writeKind<{ readonly kind: "memory"; readonly memory: NewMemory }>({
  kind: "memory",
  schema: z.strictObject({ kind: SAVES, memory: MEMORY }),
  newId: newMemoryId,
  forTools: ({ turn }) => {
    const own = z.custom<TurnId>((given) => given === turn, "it is not the `turn` of the call's context");
    return z.strictObject({ kind: SAVES, memory: z.strictObject({ ...FROM_TOOLS, turn: own.exactOptional() }) });
  },
  limited: (write, most) => ({
    ...write,
    memory: { ...write.memory, trust: lowestTrust([write.memory.trust, ...most]) },
  }),
  hidden: (write, hide) => {
    const { content, tags, speaker } = write.memory;
    const texts = { content: untrusted(hide(content)), tags: tags.map(hide) };
    return {
      ...write,
      memory: { ...write.memory, ...texts, ...(speaker !== undefined && { speaker: hide(speaker) }) },
    };
  },
  apply: async (tx, write, { scope, id }) => {
    if (id === undefined) throw new StrataError("invalid_input", "a memory is saved without an id: issue one for each");
    const own = memoryScope(scope);
    const added = { id: memoryId(id), memory: await current(tx, own, write.memory) };
    const { evicted } = await addMemory(tx, own, added);
    if (evicted.length === 0) return [];
    const what = evicted.length === 1 ? "1 less useful memory was" : `${evicted.length} less useful memories were`;
    const message = `${what} deleted to make room: ${evicted.join(", ")}`;
    return [{ what: EVICTED, message, data: { memories: evicted } }];
  },
});

const EVICTED = "evicted";

/** The memories that were deleted to make room, according to the reports of a commit. */
export const evictedIn = (reports: readonly CommitReport[]): readonly MemoryId[] =>
  reports.flatMap(({ what, data }) => (what === EVICTED ? z.array(ID).parse(data["memories"]) : []));

/** Deletes a memory that the agent itself saved: those that a person saved stay, whoever asks. */
export const FORGET_MEMORY = writeKind<{ readonly kind: "forget"; readonly memory: MemoryId }>({
  kind: "forget",
  forgets: true,
  schema: z.strictObject({ kind: z.literal("forget"), memory: ID }),
  forTools: () => z.strictObject({ kind: z.literal("forget"), memory: ID }),
  apply: async (tx, { memory: id }, { scope, turn }) => {
    const own = memoryScope(scope);
    if (isAgents(await memory(tx, own, id))) await forgetMemory(tx, own, id, turn);
    return [];
  },
});

/**
 * The tool has checked what it forgets or replaces, but a person may have saved the same meanwhile. A memory that is not the agent's stays,
 * whatever a turn asks for.
 */
function isAgents(kept: Memory | undefined): kept is Memory {
  return kept !== undefined && kept.kind !== "message" && (kept.by ?? "agent") === "agent";
}

/**
 * The memory that it was meant to replace may be gone by now, may no longer be the agent's, or may be trusted more than the turn (law 6).
 * Then it is stored as a separate memory, and the commit succeeds.
 */
async function current(tx: Tx, scope: Scope, given: NewMemory): Promise<NewMemory> {
  const { supersedes, ...alone } = given;
  if (supersedes === undefined) return given;
  const old = await memory(tx, scope, supersedes);
  const most: readonly Trust[] = old === undefined ? [] : [old.trust, given.trust];
  if (isAgents(old) && lowestTrust(most) === old.trust) return given;
  return { ...alone, sources: [...(given.sources ?? []), supersedes] };
}
