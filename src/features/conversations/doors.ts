import type { Actor, AgentName, ContactId } from "../../protocol/index.ts";
import { type AgentAccess, accessTo, checkOutside, knownScope, type Parts, recordAct } from "../../turn/index.ts";
import { CONVERSATION_STORE, type ConversationHead, type ConversationLog } from "./store.ts";

export type { ConversationHead } from "./store.ts";

/** What was said with each sender. Each look is recorded. @throws StrataError `not_allowed`, `agent_not_found` */
export interface ConversationDoors {
  /** The last active first. */
  conversations(actor: Actor, agent: AgentName, limit: number): Promise<readonly ConversationHead[]>;
  conversation(actor: Actor, agent: AgentName, sender: ContactId): Promise<ConversationLog | undefined>;
}

declare module "../../turn/runtime.ts" {
  interface Runtime extends ConversationDoors {}
}

/** What was said with each sender, for operators. */
export function conversationDoors(parts: Parts): ConversationDoors {
  return {
    conversations: async (actor, name, limit) => conversations(accessTo(parts, actor, name), limit),
    conversation: async (actor, name, sender) => readLog(accessTo(parts, actor, name), sender),
  };
}

/** Who has a log, the last active first. */
async function conversations(access: AgentAccess, limit: number): Promise<readonly ConversationHead[]> {
  const heads = await access.parts.store.part(CONVERSATION_STORE).conversations(access.owner, limit);
  await recordAct(access, "read conversations", `senders: ${heads.length}`);
  return heads;
}

/**
 * What was said with one sender. The record names a thread of theirs, and not who they are.
 * @throws StrataError `not_allowed` for the agent itself, `invalid_id`
 */
async function readLog(access: AgentAccess, sender: ContactId): Promise<ConversationLog | undefined> {
  const { parts, owner } = access;
  const scope = await knownScope(parts, { ...owner, contact: sender });
  checkOutside(scope);
  const log = await parts.store.part(CONVERSATION_STORE).conversation(scope);
  const [thread] = await parts.store.threads(scope, 1);
  if (log !== undefined) await recordAct(access, "read conversation", thread?.id ?? "no thread");
  return log;
}
