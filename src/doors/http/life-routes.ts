import { z } from "zod";
import { lifeAnswer } from "../../features/life/index.ts";
import { ACT, ATTENTION, SNAPSHOT } from "./agent-answers.ts";
import { AGENT_PATH, given } from "./agent-fields.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";

/** How an agent is, what it lives on, and a turn of its own. */
export const LIFE_ROUTES: readonly Route[] = [
  route({
    method: "get",
    url: "/v1/agents/{agent}",
    says: "All of an agent at once: layers, life, conversations, and how much waits. The look is recorded.",
    path: AGENT_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: SNAPSHOT,
    handle: async ({ runtime }, { actor, path }) => {
      const { agent, life, ...rest } = await runtime.snapshot(actor, path.agent);
      const { name, version, description } = agent;
      return { agent: { name, version, description }, ...given("life", life && lifeAnswer(life)), ...rest };
    },
  }),
  route({
    method: "get",
    url: "/v1/attention",
    says: "What waits for an operator, agent by agent: proposals, turns that left somebody without a reply, mail that nobody took, and who sleeps for want of credits.",
    path: NOTHING,
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ agents: z.array(ATTENTION).readonly() }),
    handle: async ({ runtime }, { actor }) => ({ agents: await runtime.attention(actor) }),
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
