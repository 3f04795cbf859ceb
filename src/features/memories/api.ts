import { clean, secretProblem } from "../../guard/index.ts";
import {
  type Allowed,
  authorize,
  doneBy,
  MEMORY_KINDS,
  type Memory,
  type MemoryQuery,
  type ModelRef,
  reaches,
  type Scope,
  StrataError,
  trustOf,
  untrusted,
} from "../../protocol/index.ts";
import { newMemoryId } from "../../store/index.ts";
import { type Parts, reach, recordedAgent, writableScope } from "../../turn/index.ts";
import type { EmbedApi, MemoryApi, MemoryExport, MemoryWish, Note } from "./api-types.ts";
import { everyMemory } from "./every-memory.ts";
import { spanProblem } from "./formats/draft.ts";
import { markdownOf } from "./formats/markdown.ts";
import { importMemories } from "./import.ts";
import { isChatter } from "./recall/small-talk.ts";
import { PAUSE, sessions } from "./summaries/stretches.ts";
import type { Vectors } from "./vectors/embed.ts";

export type * from "./api-types.ts";

/** How many more are read if small talk is omitted. */
const CHATTER = 50;

/** Memories for people and programs, each call under its actor. */
export function memoryApi(parts: Parts): MemoryApi {
  const { store, agents } = parts;
  const write = async (actor: Allowed<"view">, scope: Scope) => writableScope(agents, await reach(parts, actor, scope));
  const search = async (actor: Allowed<"view">, asked: Scope, wish: MemoryWish) => {
    const scope = await reach(parts, actor, asked);
    const { withoutChatter, ...asks } = wish;
    const find = (limit: number) =>
      store.searchMemories(scopesFor(actor, scope), queryOf(scope, { ...asks, limit }, parts.clock.recorded()));
    if (withoutChatter !== true) return find(wish.limit);
    return (await find(wish.limit + CHATTER)).filter((hit) => !isChatter(hit)).slice(0, wish.limit);
  };
  return {
    memories: async (actor, scope, limit, listing) => store.memories(await reach(parts, actor, scope), limit, listing),
    memory: async (actor, scope, id) => store.memory(await reach(parts, actor, scope), id),
    searchMemories: search,
    explainMemories: search,
    remember: async (actor, whose, note) => {
      const scope = await write(actor, whose);
      checkNote(note);
      await checkPlace(store, scope, note);
      const memory = { ...note, trust: trustOf(actor), ...doneBy(actor), at: parts.clock.recorded() };
      return store.saveMemory(scope, newMemoryId(parts.clock.real(), parts.random), memory);
    },
    forget: async (actor, scope, id) => store.forgetMemory(await reach(parts, actor, scope), id),
    memoryStats: async (actor, scope) => store.memoryStats(await reach(parts, actor, scope)),
    async *importMemories(actor, scope, file) {
      return yield* importMemories(parts, { actor, scope: await write(actor, scope) }, file);
    },
    async *exportMemories(actor, scope, wish) {
      yield* exportMemories(parts, { actor, scope: await reach(parts, actor, scope) }, wish);
    },
  };
}

/** A contact's memories and the agent's own, as recall searches them; an actor limited to the contact finds only the contact's. */
function scopesFor(actor: Allowed<"view">, scope: Scope): readonly Scope[] {
  const own = { ...scope, contact: null };
  return scope.contact === null || !reaches(actor, own) ? [scope] : [scope, own];
}

/** A person's query is one text; "I" and "my" mean the contact. */
function queryOf({ contact }: Scope, { query, invalid, ...rest }: MemoryWish, now: number): MemoryQuery {
  const valid = invalid === true ? {} : { validAt: now };
  const asks = { texts: [{ text: query, weight: 1 }], at: now, ...(contact !== null && { asker: contact }) };
  return { ...rest, ...valid, ...asks };
}

/** A superseded memory has exactly one successor. @throws StrataError `invalid_input` */
async function checkPlace(store: Parts["store"], scope: Scope, { supersedes }: Note): Promise<void> {
  const old = supersedes === undefined ? undefined : await store.memory(scope, supersedes);
  if (old?.supersededBy === undefined) return;
  const { memory } = old.supersededBy;
  const message = `${memory} has already replaced ${old.id}: supersede ${memory}, or save without it`;
  throw new StrataError("invalid_input", message, { memory: old.id, supersededBy: memory });
}

/** At most this many characters, as for an agent's tool. */
const LONGEST_FACT = 4_000;

/** @throws StrataError `invalid_input` for a note that says nothing, or that holds a secret: it names the kind and the place, not the value */
function checkNote({ kind = "fact", content, tags, speaker = "", validFrom, validUntil }: Note): void {
  const span = spanProblem({ validFrom, validUntil });
  if (span !== undefined) throw new StrataError("invalid_input", `the memory ${span}`, { validFrom, validUntil });
  const { length } = content.trim();
  if (length === 0)
    throw new StrataError("invalid_input", "the memory is empty; give the text to remember", { length });
  if (kind === "fact" && length > LONGEST_FACT) {
    const message = `a fact has at most ${LONGEST_FACT} characters, and this one has ${length}: save it as a block, or in parts`;
    throw new StrataError("invalid_input", message, { length });
  }
  const problem =
    secretProblem(clean(content)) ??
    secretProblem(clean(untrusted(speaker)), "the speaker's name") ??
    secretProblem(clean(untrusted(tags.join("\n"))), "a tag");
  if (problem === undefined) return;
  const next = "secrets are not remembered: say where it is kept instead";
  throw new StrataError("invalid_input", `the memory ${problem}; ${next}`, { problem });
}

/** Vectors for people and programs, each call under its actor. */
export function embedApi(parts: Parts, vectors: Vectors | undefined): EmbedApi {
  return {
    vectorReport: async (actor, name) => {
      const agent = recordedAgent(parts, actor, name);
      authorize(actor, { org: agent.org, agent: name, contact: null });
      const { embedder } = agent;
      const states = (await vectors?.states(agent)) ?? [];
      const own = states.filter(({ model }) => model === embedder);
      const serving: Record<ModelRef, number> = {};
      for (const one of states) if (one.serving) serving[one.model] = (serving[one.model] ?? 0) + 1;
      const trouble = vectors?.trouble(name);
      return {
        ...(embedder !== undefined && { embedder }),
        vectors: own.reduce((sum, one) => sum + one.vectors, 0),
        waiting: own.reduce((sum, { waiting }) => sum + waiting, 0),
        serving,
        ...(trouble !== undefined && { trouble }),
      };
    },
    vectorTrouble: (actor, name) => vectors?.trouble(recordedAgent(parts, actor, name).name),
    async *embedMemories(actor, name, signal = new AbortController().signal) {
      const agent = recordedAgent(parts, actor, name);
      authorize(actor, { org: agent.org, agent: name, contact: null });
      if (vectors !== undefined) yield* vectors.catchUp(agent, signal);
    },
    embedLater: async (actor) => {
      for (const agent of parts.agents.all) {
        if (agent.org !== actor.org || agent.embedder === undefined) continue;
        authorize(actor, { org: agent.org, agent: agent.name, contact: null });
        await vectors?.later(agent);
      }
    },
  };
}

const SAVED = MEMORY_KINDS.filter((kind) => kind !== "message");

/**
 * The scope's memories as text, piece by piece, oldest first, so that a file reads in the order of the conversation and is imported in that
 * order. Messages are included only if `kinds` names them. JSON lines also include superseded memories, for the record.
 */
async function* exportMemories(
  { store }: Parts,
  { actor, scope }: { readonly actor: Allowed<"view">; readonly scope: Scope },
  { format, ...listing }: MemoryExport,
): AsyncGenerator<string> {
  authorize(actor, scope);
  const wanted = { kinds: SAVED, ...listing, ...(format === "jsonl" && { superseded: true as const }) };
  const all: Memory[] = [];
  for await (const memory of everyMemory(store, scope, wanted)) all.push(memory);
  const labelled = label(store, scope);
  const inOrder: Memory[] = [];
  for (const memory of all.reverse()) inOrder.push(memory.kind === "message" ? await labelled(memory) : memory);
  if (format === "markdown") yield* markdownOf(inOrder, scope.agent);
  else for (const memory of inOrder) yield `${toJsonLine(memory)}\n`;
}

/** Labels each message with its author and its stretch of talk, since an import has no other way to know. */
function label(store: Parts["store"], scope: Scope): (message: Memory) => Promise<Memory> {
  const sessionOf = sessions({ store }, scope);
  const stretches = new Map<string, { n: number; at: number }>();
  return async (message) => {
    const { by = "contact" } = message;
    const thread = message.session === undefined ? await sessionOf(message) : undefined;
    if (thread === undefined) return { ...message, by };
    const last = stretches.get(thread);
    const n = last === undefined ? 1 : last.n + (message.at - last.at > PAUSE ? 1 : 0);
    stretches.set(thread, { n, at: message.at });
    return { ...message, by, session: `${thread}#${n}` };
  };
}

/** Times to the millisecond; the author is always included. */
function toJsonLine({ at, validFrom, validUntil, supersededBy, by = "agent", ...memory }: Memory): string {
  const iso = (time: number): string => new Date(time).toISOString();
  return JSON.stringify({
    ...memory,
    by,
    at: iso(at),
    ...(validFrom !== undefined && { validFrom: iso(validFrom) }),
    ...(validUntil !== undefined && { validUntil: iso(validUntil) }),
    ...(supersededBy !== undefined && { supersededBy: { ...supersededBy, at: iso(supersededBy.at) } }),
  });
}
