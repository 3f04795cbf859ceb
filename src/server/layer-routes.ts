import { z } from "zod";
import type { LayerId, TextKey } from "../protocol/index.ts";
import { COMPARISON, LAYER, MOVE, PROPOSAL, VERSION } from "./agent-answers.ts";
import { AGENT_PATH, given, LAYER_PATH, OF } from "./agent-fields.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";

const PART = z.strictObject({ part: OF.part.optional() });

const keyOf = (layer: LayerId, part: string | undefined): TextKey => ({ layer, ...given("part", part) });

/** What an agent is told, and what of it operators change. */
export const LAYER_ROUTES: readonly Route[] = [
  route({
    method: "get",
    url: "/v1/agents/{agent}/layers",
    says: "All layers in the order of the prompt: which nobody may change, what is sent of each now, and whose words it is.",
    path: AGENT_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ layers: z.array(LAYER).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent } }) => ({ layers: await runtime.layers(actor, agent) }),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/layers/{layer}",
    says: "One layer, by its id, or by its rank where no other layer shares it.",
    path: LAYER_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: LAYER,
    handle: ({ runtime }, { actor, path: { agent, layer } }) => runtime.layer(actor, agent, layer),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/layers/{layer}/versions",
    says: "Versions of a layer's text, the newest first, each with its writer, reason and the guard's word.",
    path: LAYER_PATH,
    query: PART.extend({ before: OF.before.optional(), limit: FIELDS.limit }),
    body: NOTHING,
    answer: z.object({ versions: z.array(VERSION).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent, layer }, query: { part, before, limit } }) => ({
      versions: await runtime.textVersions(actor, agent, { ...keyOf(layer, part), ...given("before", before), limit }),
    }),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/layers/{layer}/diff",
    says: "How two versions of a layer's text differ, line by line.",
    path: LAYER_PATH,
    query: PART.extend({ from: OF.compared, to: OF.compared }),
    body: NOTHING,
    answer: COMPARISON,
    handle: ({ runtime }, { actor, path: { agent, layer }, query: { part, from, to } }) =>
      runtime.compareTexts(actor, agent, { ...keyOf(layer, part), from, to }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/layers/{layer}/versions",
    says: "Gives a versioned layer another text, active from the next turn on. Size and guard may refuse it.",
    path: LAYER_PATH,
    query: NOTHING,
    body: z.strictObject({
      text: OF.newText,
      line: OF.line.optional(),
      part: OF.part.optional(),
      reason: OF.reason,
    }),
    answer: VERSION,
    handle: ({ runtime }, { actor, path: { agent, layer }, body: { text, line, part, reason } }) =>
      runtime.editText(actor, agent, { ...keyOf(layer, part), text, ...given("line", line), reason }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/layers/{layer}/versions/{n}",
    says: "Approves a proposal, whose size and meaning are looked at once more, or rejects it.",
    path: z.strictObject({ ...LAYER_PATH.shape, n: OF.n }),
    query: NOTHING,
    body: z.strictObject({
      verdict: z.enum(["approved", "rejected"]).describe("What shall become of it."),
      over: OF.over.optional(),
      part: OF.part.optional(),
      reason: OF.reason,
    }),
    answer: VERSION,
    handle: ({ runtime }, { actor, path: { agent, layer, n }, body: { verdict, over, part, reason } }) =>
      runtime.decideText(actor, agent, { ...keyOf(layer, part), n, verdict, ...given("over", over), reason }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/layers/{layer}/active",
    says: "Makes a version active that is there already, an earlier one too; 0 is the declared text.",
    path: LAYER_PATH,
    query: NOTHING,
    body: z.strictObject({ n: OF.version, part: OF.part.optional(), reason: OF.reason }),
    answer: MOVE,
    handle: ({ runtime }, { actor, path: { agent, layer }, body: { n, part, reason } }) =>
      runtime.activateText(actor, agent, { ...keyOf(layer, part), n, reason }),
  }),
  route({
    method: "post",
    url: "/v1/agents/{agent}/layers/{layer}/rollback",
    says: "Goes back to what stood there before the active version was made active.",
    path: LAYER_PATH,
    query: NOTHING,
    body: z.strictObject({ part: OF.part.optional(), reason: OF.reason }),
    answer: MOVE,
    handle: ({ runtime }, { actor, path: { agent, layer }, body: { part, reason } }) =>
      runtime.rollbackText(actor, agent, { ...keyOf(layer, part), reason }),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/layers/{layer}/moves",
    says: "What was done with a layer's versions, the newest first.",
    path: LAYER_PATH,
    query: PART.extend({ before: OF.beforeMove.optional(), limit: FIELDS.limit }),
    body: NOTHING,
    answer: z.object({ moves: z.array(MOVE).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent, layer }, query: { part, before, limit } }) => ({
      moves: await runtime.textMoves(actor, agent, { ...keyOf(layer, part), ...given("before", before), limit }),
    }),
  }),
  route({
    method: "get",
    url: "/v1/agents/{agent}/proposals",
    says: "Edits of the agent's own that wait for an operator, the oldest first.",
    path: AGENT_PATH,
    query: z.strictObject({ limit: FIELDS.limit }),
    body: NOTHING,
    answer: z.object({ proposals: z.array(PROPOSAL).readonly() }),
    handle: async ({ runtime }, { actor, path: { agent }, query: { limit } }) => ({
      proposals: await runtime.proposals(actor, agent, limit),
    }),
  }),
];
