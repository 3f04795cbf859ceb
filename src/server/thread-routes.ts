import { z } from "zod";
import { SLOT, THREAD, TURN } from "./answers.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";

const THREAD_PATH = z.strictObject({ id: FIELDS.thread });

/** Conversations: open, list, look. */
export const THREAD_ROUTES: readonly Route[] = [
  route({
    method: "post",
    url: "/v1/threads",
    says: "The conversation's thread, made when there is none.",
    path: NOTHING,
    query: NOTHING,
    body: z.strictObject({
      agent: FIELDS.agent,
      contact: FIELDS.contact,
      channel: FIELDS.channel,
      key: FIELDS.key,
    }),
    answer: THREAD,
    handle: ({ runtime }, { actor, body }) => runtime.open(actor, body),
  }),
  route({
    method: "get",
    url: "/v1/threads",
    says: "Threads, newest activity first: of all agents, of one, or of one contact with it.",
    path: NOTHING,
    query: z.strictObject({
      agent: FIELDS.agent.optional(),
      contact: FIELDS.contact.optional(),
      limit: FIELDS.limit,
    }),
    body: NOTHING,
    answer: z.object({ threads: z.array(THREAD).readonly() }),
    handle: async ({ runtime }, { actor, query: { agent, contact, limit } }) => {
      return { threads: await runtime.newestThreads(actor, { agent, contact, limit }) };
    },
  }),
  route({
    method: "get",
    url: "/v1/threads/{id}",
    says: "One thread.",
    path: THREAD_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: THREAD,
    handle: ({ runtime }, { actor, path: { id } }) => runtime.thread(actor, id),
  }),
  route({
    method: "post",
    url: "/v1/threads/{id}/fork",
    says: "A new thread that goes on where a turn of this one ended; this one stays as it is.",
    path: THREAD_PATH,
    query: NOTHING,
    body: z.strictObject({
      turn: FIELDS.turn.optional().describe("After which turn; left out, the last one that is done."),
      key: FIELDS.key
        .unwrap()
        .optional()
        .describe("The new conversation's key: sent twice, the same fork is given. Left out, a name of its own."),
      channel: FIELDS.channel
        .unwrap()
        .optional()
        .describe("Where the new conversation takes place. Left out, where the other does; of a recording, `chat`."),
    }),
    answer: THREAD,
    handle: ({ runtime }, { actor, path: { id }, body: { turn, key, channel } }) =>
      runtime.fork(actor, id, {
        ...(turn !== undefined && { turn }),
        ...(key !== undefined && { key }),
        ...(channel !== undefined && { channel }),
      }),
  }),
  route({
    method: "get",
    url: "/v1/threads/{id}/slots",
    says: "The thread's history: what was said, without any prompt.",
    path: THREAD_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ slots: z.array(SLOT).readonly() }),
    handle: async ({ runtime }, { actor, path: { id } }) => ({ slots: await runtime.slots(actor, id) }),
  }),
  route({
    method: "get",
    url: "/v1/threads/{id}/turns",
    says: "The thread's turns as recorded, oldest first.",
    path: THREAD_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ turns: z.array(TURN).readonly() }),
    handle: async ({ runtime }, { actor, path: { id } }) => ({ turns: await runtime.turns(actor, id) }),
  }),
];
