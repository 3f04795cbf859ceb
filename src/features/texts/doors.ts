import type { Actor, Agent, AgentName, TextKey } from "../../protocol/index.ts";
import { type Desk, deskOf, desksOf, type Parts } from "../../turn/index.ts";
import { compareTexts } from "./compare.ts";
import { textLimitsOf } from "./config.ts";
import type { TextDoors } from "./door-types.ts";
import { textNamed } from "./editable-text.ts";
import { layerView, layerViews } from "./layer-views.ts";
import { rollbackText } from "./rollback.ts";
import { skillsOf } from "./skill-views.ts";
import {
  activateText,
  decideText,
  disableSkill,
  editText,
  enableSkill,
  proposals,
  textMoves,
  textVersions,
} from "./texts.ts";

/** The agent with what stands beside its declaration: the skills of its folders. */
type Complete = (agent: Agent) => Promise<Agent>;

/** Each door asks who is asking before it looks at anything. */
export function textDoors(parts: Parts, complete: Complete): TextDoors {
  const at = async (actor: Actor, agent: AgentName): Promise<Desk> => {
    const desk = deskOf(parts, actor, agent);
    return { ...desk, agent: await complete(desk.agent) };
  };
  const each = (actor: Actor, agent: AgentName | undefined): readonly Desk[] => desksOf(parts, actor, agent);
  /** The desk, and which of the agent's texts is meant there. */
  const about = async <K extends TextKey | undefined>(
    actor: Actor,
    agent: AgentName,
    key: K,
  ): Promise<readonly [Desk, K]> => {
    const desk = await at(actor, agent);
    return [desk, key && textNamed(desk.agent, key)];
  };
  return {
    textLimits: async (actor, agent) => textLimitsOf(deskOf(parts, actor, agent).agent),
    layers: async (actor, agent) => layerViews(await at(actor, agent)),
    layer: async (actor, agent, layer) => layerView(await at(actor, agent), layer),
    skills: async (actor, agent) => skillsOf(await at(actor, agent)),
    editText: async (actor, agent, edit) => editText(...(await about(actor, agent, edit))),
    textVersions: async (actor, agent, choice = {}) => textVersions(await at(actor, agent), choice),
    compareTexts: async (actor, agent, pair) => compareTexts(...(await about(actor, agent, pair))),
    textMoves: async (actor, agent, choice = {}) => textMoves(await at(actor, agent), choice),
    proposals: async (actor, agent, limit) => proposals(each(actor, agent), limit),
    decideText: async (actor, agent, choice) => decideText(...(await about(actor, agent, choice))),
    activateText: async (actor, agent, choice) => activateText(...(await about(actor, agent, choice))),
    rollbackText: async (actor, agent, choice) => rollbackText(...(await about(actor, agent, choice))),
    disableSkill: async (actor, agent, skill) => disableSkill(await at(actor, agent), skill),
    enableSkill: async (actor, agent, skill) => enableSkill(await at(actor, agent), skill),
  };
}
