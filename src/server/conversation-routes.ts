import { z } from "zod";
import { CONVERSATION, HEAD } from "./agent-answers.ts";
import { AGENT_PATH, OF } from "./agent-fields.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";

/** What was said with each sender. Whoever looks is recorded. */
export const CONVERSATION_ROUTES: readonly Route[] = [
  route({
    method: "get",
    url: "/v1/agents/{agent}/conversations",
    says: "The senders of whom the agent keeps a log, the last active first. The look is recorded.",
    path: AGENT_PATH,
    query: z.strictObject({ limit: FIELDS.limit }),
    body: NOTHING,
    answer: z.object({ conversations: z.array(HEAD).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent }, query: { limit } }) => ({
      conversations: await runtime.conversations(actor, agent, limit),
    }),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/conversations/{sender}",
    says: "What was said with one sender, the oldest first; null where no log is kept. The look is recorded.",
    path: z.strictObject({ agent: OF.agent, sender: OF.sender }),
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ conversation: CONVERSATION.nullable() }),
    handle: async ({ runtime }, { actor, path: { agent, sender } }) => ({
      conversation: (await runtime.conversation(actor, agent, sender)) ?? null,
    }),
  }),
];
