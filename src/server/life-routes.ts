import { z } from "zod";
import type { LifeView } from "../runtime/index.ts";
import { ATTENTION, CREDITS, LIFE, SNAPSHOT, TOP_UP } from "./agent-answers.ts";
import { AGENT_PATH, given, OF } from "./agent-fields.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";
import { TURN_RUN, turnRun } from "./turn-run.ts";

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
      return { agent: { name, version, description }, ...given("life", life && told(life)), ...rest };
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
    url: "/v1/agents/{agent}/life",
    says: "The agent's state, tier, credits, runway and account, and when its next turn is due.",
    path: AGENT_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: LIFE,
    handle: async ({ runtime }, { actor, path: { agent } }) => told(await runtime.life(actor, agent)),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/life/tick",
    says: "One turn of the agent's own, now.",
    path: AGENT_PATH,
    body: NOTHING,
    ...TURN_RUN,
    handle: ({ runtime, turns }, { actor, path: { agent }, query, gone }) =>
      turnRun(turns, { begin: (signal) => runtime.tick(actor, agent, { signal }), query, gone }),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/credits",
    says: "The payments that topped the agent up, the newest first.",
    path: AGENT_PATH,
    query: z.strictObject({ limit: FIELDS.limit }),
    body: NOTHING,
    answer: z.object({ payments: z.array(TOP_UP).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent }, query: { limit } }) => ({
      payments: await runtime.topUps(actor, agent, limit),
    }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/credits",
    says: "Tops the agent up. One that sleeps for want of credits wakes.",
    path: AGENT_PATH,
    query: NOTHING,
    body: z.strictObject({ dollars: OF.dollars, note: OF.note }),
    answer: CREDITS,
    handle: ({ runtime }, { actor, path: { agent }, body }) => runtime.topUp(actor, agent, body),
  }),
];

/** JSON knows no such numbers: wei stand there in digits. */
function told({ vitals: { native, ...vitals }, ...life }: LifeView) {
  return { ...life, vitals: { ...vitals, ...given("native", native && { ...native, wei: String(native.wei) }) } };
}
