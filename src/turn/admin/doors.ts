import type { Actor, AgentName, TextKey } from "../../protocol/index.ts";
import { CONVERSATION_LIMITS } from "../../protocol/index.ts";
import type { AgentDoors, AgentSnapshot } from "../agent-doors.ts";
import { type Desk, deskOf, desksOf, note } from "../desk.ts";
import type { Parts } from "../parts.ts";
import { attention } from "./attention.ts";
import { compareTexts } from "./compare.ts";
import { conversation, conversations } from "./conversations.ts";
import { textNamed } from "./editable-text.ts";
import { layerView, layerViews } from "./layers.ts";
import { delivered, inbox, outbox } from "./mail.ts";
import { rollbackText } from "./rollback.ts";
import { skillsOf } from "./skills.ts";
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

/** What operators see and change of an agent, but its life and its turns. */
export type AdminDoors = Omit<AgentDoors, "life" | "funds" | "topUp" | "topUps" | "tick" | "tickDue" | "runInbox">;

/** How an agent is, and what it lives on. */
type Lives = Pick<AgentDoors, "life" | "funds">;

/** Each door asks who is asking before it looks at anything. */
export function adminDoors(parts: Parts, lives: Lives): AdminDoors {
  const at = (actor: Actor, agent: AgentName): Desk => deskOf(parts, actor, agent);
  const each = (actor: Actor, agent: AgentName | undefined): readonly Desk[] => desksOf(parts, actor, agent);
  /** The desk, and which of the agent's texts is meant there. */
  const about = <K extends TextKey | undefined>(actor: Actor, agent: AgentName, key: K): readonly [Desk, K] => {
    const desk = at(actor, agent);
    return [desk, key && textNamed(desk.agent, key)];
  };
  return {
    snapshot: async (actor, agent) => snapshot(at(actor, agent), lives),
    layers: async (actor, agent) => layerViews(at(actor, agent)),
    layer: async (actor, agent, layer) => layerView(at(actor, agent), layer),
    skills: async (actor, agent) => skillsOf(at(actor, agent)),
    editText: async (actor, agent, edit) => editText(...about(actor, agent, edit)),
    textVersions: async (actor, agent, choice = {}) => textVersions(at(actor, agent), choice),
    compareTexts: async (actor, agent, pair) => compareTexts(...about(actor, agent, pair)),
    textMoves: async (actor, agent, choice = {}) => textMoves(at(actor, agent), choice),
    proposals: async (actor, agent, limit) => proposals(each(actor, agent), limit),
    decideText: async (actor, agent, choice) => decideText(...about(actor, agent, choice)),
    activateText: async (actor, agent, choice) => activateText(...about(actor, agent, choice)),
    rollbackText: async (actor, agent, choice) => rollbackText(...about(actor, agent, choice)),
    disableSkill: async (actor, agent, skill) => disableSkill(at(actor, agent), skill),
    enableSkill: async (actor, agent, skill) => enableSkill(at(actor, agent), skill),
    attention: async (actor, agent) => attention(each(actor, agent), lives.funds),
    conversations: async (actor, agent, limit) => conversations(at(actor, agent), limit),
    conversation: async (actor, agent, sender) => conversation(at(actor, agent), sender),
    inbox: async (actor, agent, limit) => inbox(at(actor, agent), limit),
    outbox: async (actor, agent, wish) => outbox(at(actor, agent), wish),
    acts: async (actor, agent, limit) => parts.store.acts(at(actor, agent).owner, limit),
    delivered: async (actor, agent, id) => delivered(at(actor, agent), id),
  };
}

async function snapshot(desk: Desk, { life }: Lives): Promise<AgentSnapshot> {
  const { parts, owner, actor, agent } = desk;
  await note(desk, "read snapshot", agent.version);
  return {
    agent,
    layers: await layerViews(desk),
    ...(agent.life !== undefined && { life: await life(actor, agent.name) }),
    conversations: await parts.store.conversations(owner, CONVERSATION_LIMITS.senders),
    ...(await parts.store.mailCounts(owner)),
  };
}
