import { z } from "zod";
import { ACT, MESSAGE, WAITING } from "./agent-answers.ts";
import { AGENT_PATH, given, OF } from "./agent-fields.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";
import { TURN_RUN, turnRun } from "./turn-run.ts";

/** What waits for an agent, what it said, and who looked. */
export const MAIL_ROUTES: readonly Route[] = [
  route({
    method: "get",
    url: "/v1/agents/{agent}/inbox",
    says: "What waits for the agent, the oldest first. The look is recorded.",
    path: AGENT_PATH,
    query: z.strictObject({ limit: FIELDS.limit }),
    body: NOTHING,
    answer: z.object({ messages: z.array(WAITING).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent }, query: { limit } }) => ({
      messages: await runtime.inbox(actor, agent, limit),
    }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/inbox/run",
    says: "One turn over what waits for longest: of one sender, or of several with `inbox: batch`. Null where nothing waits.",
    path: AGENT_PATH,
    body: NOTHING,
    ...TURN_RUN,
    handle: ({ runtime, turns }, { actor, path: { agent }, query, gone }) =>
      turnRun(turns, { begin: (signal) => runtime.runInbox(actor, agent, { signal }), query, gone }),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/outbox",
    says: "What the agent said, the newest first, and how far it came. The look is recorded.",
    path: AGENT_PATH,
    query: z.strictObject({
      status: z.enum(["waiting", "delivered", "undeliverable"]).optional().describe("Only those; left out, all."),
      limit: FIELDS.limit,
    }),
    body: NOTHING,
    answer: z.object({ messages: z.array(MESSAGE).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent }, query: { status, limit } }) => ({
      messages: await runtime.outbox(actor, agent, { limit, ...given("status", status) }),
    }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/outbox/{id}/delivered",
    says: "Says that a waiting message was delivered by other means; false where it does not wait.",
    path: z.strictObject({ agent: OF.agent, id: OF.message }),
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ delivered: z.boolean() }),
    handle: async ({ runtime }, { actor, path: { agent, id } }) => ({
      delivered: await runtime.delivered(actor, agent, id),
    }),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/acts",
    says: "What operators did with the agent and looked at, the newest first.",
    path: AGENT_PATH,
    query: z.strictObject({ limit: FIELDS.limit }),
    body: NOTHING,
    answer: z.object({ acts: z.array(ACT).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent }, query: { limit } }) => ({
      acts: await runtime.acts(actor, agent, limit),
    }),
  }),
];
