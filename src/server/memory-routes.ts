import { z } from "zod";
import { StrataError } from "../protocol/index.ts";
import { MEMORY } from "./answers.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";
import { scopeOf } from "./scope-of.ts";

const WHOSE = { agent: FIELDS.agent, contact: FIELDS.contact.optional() };

/** What an agent remembers of a contact; without a contact, what belongs to the agent alone. */
export const MEMORY_ROUTES: readonly Route[] = [
  route({
    method: "get",
    url: "/v1/memories",
    says: "Memories: the newest, or with `query` those that fit best.",
    path: NOTHING,
    query: z.strictObject({ ...WHOSE, query: FIELDS.query.optional(), limit: FIELDS.limit }),
    body: NOTHING,
    answer: z.object({ memories: z.array(MEMORY).readonly() }),
    handle: async ({ runtime }, { actor, query: { query, limit, ...whose } }) => {
      const scope = scopeOf(runtime, actor, whose);
      if (query === undefined) return { memories: await runtime.memories(actor, scope, limit) };
      return { memories: await runtime.searchMemories(actor, scope, { query, limit }) };
    },
  }),
  route({
    method: "post",
    url: "/v1/memories",
    says: "Saves a memory, with the trust of whoever holds the token.",
    path: NOTHING,
    query: NOTHING,
    body: z.strictObject({ ...WHOSE, content: FIELDS.content, tags: FIELDS.tags }),
    answer: MEMORY,
    handle: async ({ runtime }, { actor, body: { content, tags, ...whose } }) =>
      (await runtime.remember(actor, scopeOf(runtime, actor, whose), { content, tags })).memory,
  }),
  route({
    method: "delete",
    url: "/v1/memories/{id}",
    says: "Forgets a memory.",
    path: z.strictObject({ id: FIELDS.memory }),
    query: z.strictObject(WHOSE),
    body: NOTHING,
    answer: z.object({ forgotten: z.literal(true) }),
    handle: async ({ runtime }, { actor, path: { id }, query: whose }) => {
      if (await runtime.forget(actor, scopeOf(runtime, actor, whose), id)) return { forgotten: true as const };
      const message = `there is no memory ${id} in that scope; GET /v1/memories lists those there are`;
      throw new StrataError("memory_not_found", message, { memory: id });
    },
  }),
];
