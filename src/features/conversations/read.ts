import type { ContactId } from "../../protocol/index.ts";
import type { ConversationHead, ConversationLog } from "../../store/index.ts";
import { type AgentDoors, checkOutside, type Desk, deskOf, knownScope, note, type Parts } from "../../turn/index.ts";

/** What was said with each sender, for operators. */
export function conversationDoors(parts: Parts): Pick<AgentDoors, "conversations" | "conversation"> {
  return {
    conversations: async (actor, name, limit) => conversations(deskOf(parts, actor, name), limit),
    conversation: async (actor, name, sender) => conversation(deskOf(parts, actor, name), sender),
  };
}

/** Who has a log, the last active first. */
async function conversations(desk: Desk, limit: number): Promise<readonly ConversationHead[]> {
  const heads = await desk.parts.store.conversations(desk.owner, limit);
  await note(desk, "read conversations", `senders: ${heads.length}`);
  return heads;
}

/**
 * What was said with one sender. The record names a thread of theirs, and not who they are.
 * @throws StrataError `not_allowed` for the agent itself, `invalid_id`
 */
async function conversation(desk: Desk, sender: ContactId): Promise<ConversationLog | undefined> {
  const { parts, owner } = desk;
  const scope = await knownScope(parts, { ...owner, contact: sender });
  checkOutside(scope);
  const log = await parts.store.conversation(scope);
  const [thread] = await parts.store.threads(scope, 1);
  if (log !== undefined) await note(desk, "read conversation", thread?.id ?? "no thread");
  return log;
}
