import { z } from "zod";
import { AGENT, COMPOSED, USAGE } from "../../features/index.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";
import { scopeOf } from "./scope-of.ts";

/** What is declared, what would be sent, and what was spent. */
export const AGENT_ROUTES: readonly Route[] = [
  route({
    method: "get",
    url: "/v1/agents",
    says: "The agents that are served.",
    path: NOTHING,
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ agents: z.array(AGENT).readonly() }),
    handle: async ({ runtime, modelNameOf }, { actor }) => ({
      agents: runtime.agents(actor).map((agent) => {
        const { name, version, description, tools } = agent;
        return { name, version, description, model: modelNameOf(agent), tools };
      }),
    }),
  }),
  route({
    method: "post",
    url: "/v1/compose",
    says: "The request that a message would lead to. Nothing is sent or stored.",
    path: NOTHING,
    query: NOTHING,
    body: z.strictObject({
      agent: FIELDS.agent,
      contact: FIELDS.contact,
      channel: FIELDS.channel,
      key: FIELDS.key,
      text: FIELDS.text,
    }),
    answer: COMPOSED,
    handle: async ({ runtime }, { actor, body: { text, ...conversation } }) => {
      const { agent, ledger, ...rest } = await runtime.compose(actor, conversation, text);
      const { name, version } = agent;
      return { agent: { name, version }, ...rest, ledger, tokens: ledger.tokens };
    },
  }),
  route({
    method: "get",
    url: "/v1/usage",
    says: "Turns, requests, tokens and dollars of an agent, or of one contact with it.",
    path: NOTHING,
    query: z.strictObject({ agent: FIELDS.agent, contact: FIELDS.contact.optional() }),
    body: NOTHING,
    answer: USAGE,
    handle: async ({ runtime }, { actor, query }) => runtime.usage(actor, scopeOf(runtime, actor, query)),
  }),
];
