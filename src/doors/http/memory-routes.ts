import { z } from "zod";
import { StrataError } from "../../protocol/index.ts";
import type { Runtime } from "../../turn/index.ts";
import { consolidateRoute } from "./consolidate-route.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { HIT, IMPORTED, MEMORY, SAVED, STATS } from "./memory-answers.ts";
import { FILE, FILTER, filterOf, INVALID, NOTE, SUPERSEDED, WHOSE } from "./memory-fields.ts";
import { type Route, route } from "./route.ts";
import { scopeOf } from "./scope-of.ts";

const list: Route = route({
  method: "get",
  url: "/v1/memories",
  says: "Memories: the newest, or with `query` those that fit best, the agent's own among them.",
  path: NOTHING,
  query: z.strictObject({
    ...WHOSE,
    ...FILTER,
    query: FIELDS.query.optional(),
    superseded: SUPERSEDED,
    invalid: INVALID,
    limit: FIELDS.limit,
  }),
  body: NOTHING,
  answer: z.object({ memories: z.array(z.union([HIT, MEMORY])).readonly() }),
  handle: async ({ runtime }, { actor, query: { agent, contact, query, superseded, invalid, limit, ...filter } }) => {
    const scope = scopeOf(runtime, actor, { agent, contact });
    const wanted = filterOf(filter);
    if (query !== undefined)
      return {
        memories: await runtime.searchMemories(actor, scope, { query, limit, ...wanted, ...(invalid && { invalid }) }),
      };
    const listing = { ...wanted, ...(superseded && { superseded }) };
    return { memories: await runtime.memories(actor, scope, limit, listing) };
  },
});

const save: Route = route({
  method: "post",
  url: "/v1/memories",
  says: "Saves a memory, with the trust of whoever holds the token. Secrets are refused; the very same again counts as support.",
  path: NOTHING,
  query: NOTHING,
  body: z.strictObject({ ...WHOSE, ...NOTE }),
  answer: SAVED,
  handle: async ({ runtime }, { actor, body }) => {
    const { agent, contact, kind, content, tags, supersedes, validFrom, validUntil } = body;
    const { memory, ...rest } = await runtime.remember(actor, scopeOf(runtime, actor, { agent, contact }), {
      kind,
      content,
      tags,
      ...(supersedes !== undefined && { supersedes }),
      ...(validFrom !== undefined && { validFrom }),
      ...(validUntil !== undefined && { validUntil }),
    });
    return { ...memory, ...rest };
  },
});

const why: Route = route({
  method: "get",
  url: "/v1/memories/why",
  says: "A search explained: each candidate, its score, and what that is made of.",
  path: NOTHING,
  query: z.strictObject({ ...WHOSE, ...FILTER, query: FIELDS.query, limit: FIELDS.limit }),
  body: NOTHING,
  answer: z.object({ query: z.string(), hits: z.array(HIT).readonly() }),
  handle: async ({ runtime }, { actor, query: { agent, contact, query, limit, ...filter } }) => {
    const scope = scopeOf(runtime, actor, { agent, contact });
    return { query, hits: await runtime.explainMemories(actor, scope, { query, limit, ...filterOf(filter) }) };
  },
});

const stats: Route = route({
  method: "get",
  url: "/v1/memories/stats",
  says: "How many memories of each kind there are, and how long they are.",
  path: NOTHING,
  query: z.strictObject(WHOSE),
  body: NOTHING,
  answer: z.object({ stats: z.array(STATS).readonly() }),
  handle: async ({ runtime }, { actor, query }) => ({
    stats: await runtime.memoryStats(actor, scopeOf(runtime, actor, query)),
  }),
});

const TYPES = { jsonl: "application/jsonl", markdown: "text/markdown" } as const;

const download: Route = route({
  method: "get",
  url: "/v1/memories/export",
  says: "The memories as a file: JSON lines, which lose nothing and can be imported, or Markdown.",
  path: NOTHING,
  query: z.strictObject({ ...WHOSE, ...FILTER, format: z.enum(["jsonl", "markdown"]).default("jsonl") }),
  body: NOTHING,
  answer: z.unknown(),
  otherwise: Object.values(TYPES).map((type) => ({ status: 200, says: "The file.", type, schema: z.string() })),
  handle: async ({ runtime }, { actor, query: { agent, contact, format, ...filter } }) => {
    const scope = scopeOf(runtime, actor, { agent, contact });
    const texts = runtime.exportMemories(actor, scope, { format, ...filterOf(filter) });
    const headers = { "content-type": `${TYPES[format]}; charset=utf-8` };
    return new Response(ReadableStream.from(texts).pipeThrough(new TextEncoderStream()), { headers });
  },
});

const load: Route = route({
  method: "post",
  url: "/v1/memories/import",
  says: "Saves the memories of a file, each entry that is good; the same file again saves nothing. Larger files in parts.",
  path: NOTHING,
  query: NOTHING,
  body: z.strictObject({ ...WHOSE, ...FILE }),
  answer: IMPORTED,
  handle: async ({ runtime }, { actor, body: { agent, contact, name, text, format, kinds, user, check } }) => {
    const scope = scopeOf(runtime, actor, { agent, contact });
    const file = {
      ...{ name, text },
      ...(format !== undefined && { format }),
      ...(kinds !== undefined && { kinds }),
      ...(user !== undefined && { user }),
      ...(check !== undefined && { check }),
    };
    return ended(runtime.importMemories(actor, scope, file));
  },
});

/** An import to its end. */
async function ended(work: ReturnType<Runtime["importMemories"]>) {
  for (;;) {
    const step = await work.next();
    if (step.done === true) return step.value;
  }
}

const show: Route = route({
  method: "get",
  url: "/v1/memories/{id}",
  says: "One memory, also one that was superseded.",
  path: z.strictObject({ id: FIELDS.memory }),
  query: z.strictObject(WHOSE),
  body: NOTHING,
  answer: MEMORY,
  handle: async ({ runtime }, { actor, path: { id }, query: whose }) => {
    const memory = await runtime.memory(actor, scopeOf(runtime, actor, whose), id);
    if (memory === undefined) throw notThere(id);
    return memory;
  },
});

const forget: Route = route({
  method: "delete",
  url: "/v1/memories/{id}",
  says: "Forgets a memory.",
  path: z.strictObject({ id: FIELDS.memory }),
  query: z.strictObject(WHOSE),
  body: NOTHING,
  answer: z.object({ forgotten: z.literal(true) }),
  handle: async ({ runtime }, { actor, path: { id }, query: whose }) => {
    if (await runtime.forget(actor, scopeOf(runtime, actor, whose), id)) return { forgotten: true as const };
    throw notThere(id);
  },
});

function notThere(id: string): StrataError {
  const message = `there is no memory ${id} in that scope; GET /v1/memories lists those there are`;
  return new StrataError("memory_not_found", message, { memory: id });
}

/** What an agent remembers of a contact; without a contact, what belongs to the agent alone. Words stand before ids. */
export const MEMORY_ROUTES: readonly Route[] = [list, save, why, stats, download, load, consolidateRoute, show, forget];
