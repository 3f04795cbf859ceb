import { z } from "zod";
import { count, number, type Style, shellWord, table } from "../../print/index.ts";
import { isoSecond, type MemoryId, StrataError } from "../../protocol/index.ts";
import { FIELDS, given, list, NEXT, nextAfter, PAGE, whole } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import type { MemoryApi } from "./api-types.ts";
import { MEMORY_API } from "./api-types.ts";
import { hitLines, memoryLines, memoryView, whyLines } from "./lines.ts";
import { FILTER, filterOf, HIT, MEMORY, NOTE, SAVED, STATS, scopeOf, TROUBLE, WHOSE, type Whose } from "./shapes.ts";

const ID = "mem_01jd8k3v5x9m2q7r4t6w8y0zab";
const ONE = WHOSE.extend({ id: FIELDS.memory });

/** Whose memories, behind "memories" in a sentence. */
export const about = ({ agent, contact }: Whose): string =>
  contact === undefined ? `of ${agent}'s own` : `about ${contact}`;

const memories = operation({
  name: "memory.list",
  does: "List the newest memories; messages only with the kind `message`.",
  may: "read",
  at: "GET /v1/memories",
  takes: WHOSE.extend({
    ...FILTER,
    superseded: z.literal(true).optional().describe("also memories that were replaced by another"),
    ...PAGE,
  }),
  gives: z.object({ memories: list(MEMORY), ...NEXT }),
  list: "memories",
  command: { contact: "me or own", examples: ["memory list companion --as ann --limit 5"], opens: "record" },
  run: async (world, { agent, contact, superseded, limit, after, ...filter }, { actor }) => {
    const listing = { ...filterOf(filter), ...given("superseded", superseded), ...given("after", after) };
    const scope = scopeOf(world, actor, { agent, contact });
    const found = await world.runtime.use(MEMORY_API).memories(actor, scope, limit, listing);
    return { memories: found, ...nextAfter(found, limit, ({ at, id }) => ({ at, id })) };
  },
  show: ({ memories: found }, { style, given: asked }) => {
    const isFiltered = Object.keys(filterOf(asked)).length > 0;
    return memoryLines(found, style, isFiltered ? `No memory ${about(asked)} is of that kind.` : nothing(asked));
  },
  hints: ({ memories: found }, { given: asked }) =>
    found.length > 0 || asked.kind !== undefined ? [] : ["Messages are listed separately, with `--kind message`."],
});

const nothing = (whose: Whose): string => `Nothing is remembered ${about(whose)} yet.`;

const showMemory = operation({
  name: "memory.show",
  does: "Show everything stored about one memory, even a superseded one: who said it, where it comes from, what replaced it.",
  may: "read",
  at: "GET /v1/memories/{id}",
  takes: ONE,
  gives: MEMORY,
  command: { words: ["id"], contact: "me or own", examples: [`memory show ${ID} --as ann`], opens: "record" },
  run: async (world, { id, ...whose }, { actor }) => {
    const found = await world.runtime.use(MEMORY_API).memory(actor, scopeOf(world, actor, whose), id);
    if (found === undefined) throw unknownMemory(id, whose);
    return found;
  },
  show: (memory, { style }) => memoryView(memory, style),
});

function unknownMemory(id: MemoryId, whose: Whose): StrataError {
  const whom = whose.contact === undefined ? "of its own" : about(whose);
  const next = "`strata memory list` or `GET /v1/memories` lists them; agent and contact choose whose";
  return new StrataError("memory_not_found", `${whose.agent} has no memory ${id} ${whom}: ${next}`, { id });
}

const save = operation({
  name: "memory.save",
  does: "Save a memory yourself, with the trust of an operator. Secrets are refused; saving the same text again counts as support.",
  may: "operate",
  at: "POST /v1/memories",
  takes: WHOSE.extend(NOTE),
  gives: SAVED,
  command: {
    words: ["content"],
    contact: "me or own",
    names: { validFrom: "from", validUntil: "until" },
    examples: ["memory save 'The bicycle is green.' --tag bicycle"],
    opens: "everything",
  },
  run: async (world, { agent, contact, content, tags, kind, supersedes, validFrom, validUntil }, { actor }) => {
    const { memory, ...rest } = await world.runtime
      .use(MEMORY_API)
      .remember(actor, scopeOf(world, actor, { agent, contact }), {
        kind,
        content,
        tags: [...new Set(tags)],
        ...given("supersedes", supersedes),
        ...given("validFrom", validFrom),
        ...given("validUntil", validUntil),
      });
    return { ...memory, ...rest };
  },
  show: ({ id, support, merged, evicted, supersedes }, { given: { contact }, agentWords }) => {
    const whose = `${agentWords} ${contact === undefined ? "--agent-own" : `--as ${shellWord(contact)}`}`;
    const first = merged
      ? `${id} already says the same: it now counts as said ${count(support, "time")}.`
      : `${id} is saved; \`strata memory forget ${id}${whose}\` undoes this.`;
    const gone = `${count(evicted.length, "less useful memory", "less useful memories")} were deleted to make room for it`;
    return [
      first,
      ...(supersedes === undefined ? [] : [`It replaces ${supersedes}, which is no longer found.`]),
      ...(evicted.length === 0 ? [] : [`${gone}: ${evicted.join(", ")}.`]),
    ];
  },
});

const FOUND = { query: FIELDS.query.describe("the question, in the words of a user"), ...FILTER };

const search = operation({
  name: "memory.search",
  does: "Search the memories by words, best first, including the agent's own; recall uses the same search.",
  may: "read",
  at: "GET /v1/memories/search",
  takes: WHOSE.extend({
    ...FOUND,
    invalid: z.literal(true).optional().describe("also memories that are no longer or not yet valid by their dates"),
    limit: FIELDS.limit,
  }),
  gives: z.object({ memories: list(HIT), trouble: TROUBLE }),
  list: "memories",
  command: { rest: "query", contact: "me or own", examples: ["memory search green bicycle"], opens: "record" },
  run: async (world, { agent, contact, query, invalid, limit, ...filter }, { actor }) => {
    const wish = { query, limit, ...filterOf(filter), ...given("invalid", invalid) };
    const found = await world.runtime
      .use(MEMORY_API)
      .searchMemories(actor, scopeOf(world, actor, { agent, contact }), wish);
    return { memories: found, ...given("trouble", world.runtime.use(MEMORY_API).vectorTrouble(actor, agent)) };
  },
  show: ({ memories: found }, { style, given: asked }) => {
    const none = `No memory ${about(asked)} matches ${JSON.stringify(asked.query)}; try other or fewer words.`;
    return hitLines(found, asked.query, none, style);
  },
  hints: ({ trouble }) => (trouble === undefined ? [] : [trouble]),
});

const explain = operation({
  name: "memory.explain",
  does: "Explain a search: each candidate, its score, and how the score is made up.",
  may: "explain",
  at: "GET /v1/memories/explain",
  takes: WHOSE.extend({ ...FOUND, limit: whole(1, 1_000).default(10).describe("how many at most") }),
  gives: z.object({ query: z.string(), hits: list(HIT), trouble: TROUBLE }),
  command: {
    rest: "query",
    contact: "me or own",
    examples: ["memory explain 'Which colour is my bicycle?' --as ann"],
    opens: "record",
  },
  run: async (world, { agent, contact, query, limit, ...filter }, { actor }) => {
    const scope = scopeOf(world, actor, { agent, contact });
    const hits = await world.runtime
      .use(MEMORY_API)
      .explainMemories(actor, scope, { query, limit, ...filterOf(filter) });
    return { query, hits, ...given("trouble", world.runtime.use(MEMORY_API).vectorTrouble(actor, agent)) };
  },
  show: ({ query, hits }, { style, given: whose }) =>
    hits.length === 0
      ? [`Nothing ${about(whose)} shares a word with ${JSON.stringify(query)}.`]
      : whyLines(hits, query, style),
  hints: ({ trouble }) => (trouble === undefined ? [] : [trouble]),
});

const forget = operation({
  name: "memory.forget",
  does: "Forget one memory; past requests that contained it stay in the record.",
  may: "operate",
  at: "DELETE /v1/memories/{id}",
  takes: ONE,
  gives: z.object({ id: z.string(), forgotten: z.literal(true) }),
  command: { words: ["id"], contact: "me or own", examples: [`memory forget ${ID} --as ann`], opens: "record" },
  run: async (world, { id, ...whose }, { actor }) => {
    if (await world.runtime.use(MEMORY_API).forget(actor, scopeOf(world, actor, whose), id))
      return { id, forgotten: true as const };
    throw unknownMemory(id, whose);
  },
  show: ({ id }) => [`${id} is forgotten.`],
});

const stats = operation({
  name: "memory.stats",
  does: "Count the memories by kind, with their total length.",
  may: "read",
  at: "GET /v1/memories/stats",
  takes: WHOSE,
  gives: z.object({ stats: list(STATS) }),
  list: "stats",
  command: { contact: "me or own", examples: ["memory stats --as ann"], opens: "record" },
  run: async (world, whose, { actor }) => ({
    stats: await world.runtime.use(MEMORY_API).memoryStats(actor, scopeOf(world, actor, whose)),
  }),
  show: ({ stats: found }, { style, given: whose }) =>
    found.length === 0 ? [nothing(whose)] : statsLines(found, style),
});

const COLUMNS = [
  { head: "kind" },
  { head: "memories", right: true },
  { head: "characters", right: true },
  { head: "newest" },
] as const;

type Stats = Awaited<ReturnType<MemoryApi["memoryStats"]>>;

const statsLines = (found: Stats, style: Style): readonly string[] =>
  table(
    COLUMNS,
    found.map((one) => [one.kind, number(one.memories), number(one.characters), isoSecond(one.newest)]),
    style,
  );

/** What an agent remembers of a contact, or as its own. */
export const MEMORY_OPERATIONS: readonly Operation[] = [memories, showMemory, save, search, explain, forget, stats];
