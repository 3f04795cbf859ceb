import type { OutboxId } from "../../protocol/index.ts";
import type { OutboxMessage } from "../../store/index.ts";
import type { InboxMessage, OutgoingMessage } from "../agent-doors.ts";
import { type Desk, note } from "../desk.ts";

/** What waits for the agent, the oldest first. */
export async function inbox(desk: Desk, limit: number): Promise<readonly InboxMessage[]> {
  const { parts, owner } = desk;
  const found = await parts.store.inbox(owner, { now: parts.wall(), limit });
  await note(desk, "read inbox", `messages: ${found.length}`);
  return found.map(({ contact, event, staged }) => ({ contact, event, status: staged ? "staged" : "waiting" }));
}

/** What the agent said, the newest first. */
export async function outbox(
  desk: Desk,
  wish: { readonly status?: OutboxMessage["status"]; readonly limit: number },
): Promise<readonly OutgoingMessage[]> {
  const found = await desk.parts.store.mail(desk.owner, wish);
  await note(desk, "read outbox", `messages: ${found.length}`);
  return found;
}

/** Says that a message was delivered by other means. */
export async function delivered(desk: Desk, id: OutboxId): Promise<boolean> {
  const { parts, owner } = desk;
  const isDone = await parts.store.deliver({ ...owner, contact: null }, id, parts.clock());
  if (isDone) await note(desk, "delivered", id);
  return isDone;
}
