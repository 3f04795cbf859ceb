import { z } from "zod";
import { layerWith } from "../protocol/index.ts";
import { MOVE, SKILL, VERSION } from "./agent-answers.ts";
import { AGENT_PATH, given, OF, SKILL_PATH } from "./agent-fields.ts";
import { NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";

const WHY = z.strictObject({ reason: OF.reason });

/** An agent's short name for itself, and its skills. */
export const SOUL_ROUTES: readonly Route[] = [
  route({
    method: "get",
    url: "/v1/agents/{agent}/soul",
    says: "The agent's short name for itself.",
    path: AGENT_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ layer: z.string(), soul: z.string().optional(), version: z.number() }),
    handle: async ({ runtime }, { actor, path: { agent } }) => {
      const { id } = layerWith(runtime.agent(actor, agent), "soul");
      const { text, version = 0 } = await runtime.layer(actor, agent, id);
      return { layer: id, ...given("soul", text), version };
    },
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/soul",
    says: "Gives the agent another soul, from the next turn on.",
    path: AGENT_PATH,
    query: NOTHING,
    body: z.strictObject({ soul: OF.newText.describe("The new soul, a slug."), reason: OF.reason }),
    answer: VERSION,
    handle: ({ runtime }, { actor, path: { agent }, body: { soul: text, reason } }) =>
      runtime.editText(actor, agent, { layer: layerWith(runtime.agent(actor, agent), "soul").id, text, reason }),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/skills",
    says: "The agent's skills by name, enabled or not.",
    path: AGENT_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ skills: z.array(SKILL).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent } }) => ({ skills: await runtime.skills(actor, agent) }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/skills/{skill}",
    says: "Writes a skill, a new one or another text of one, and enables it from the next turn on.",
    path: SKILL_PATH,
    query: NOTHING,
    body: z.strictObject({ text: OF.newText, reason: OF.reason }),
    answer: VERSION,
    handle: ({ runtime }, { actor, path: { agent, skill: part }, body }) =>
      runtime.editText(actor, agent, { layer: layerWith(runtime.agent(actor, agent), "skills").id, part, ...body }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/skills/{skill}/enable",
    says: "Puts a disabled skill back, as it was last.",
    path: SKILL_PATH,
    query: NOTHING,
    body: WHY,
    answer: MOVE,
    handle: ({ runtime }, { actor, path: { agent, skill: name }, body: { reason } }) =>
      runtime.enableSkill(actor, agent, { name, reason }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/skills/{skill}/disable",
    says: "Takes a skill out of the prompt; it stays in the record.",
    path: SKILL_PATH,
    query: NOTHING,
    body: WHY,
    answer: MOVE,
    handle: ({ runtime }, { actor, path: { agent, skill: name }, body: { reason } }) =>
      runtime.disableSkill(actor, agent, { name, reason }),
  }),
];
