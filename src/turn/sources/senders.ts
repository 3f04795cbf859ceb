import { type ContactId, SELF, type StoredEvent } from "../../protocol/index.ts";
import type { GatherContext } from "./context.ts";

type Sent = Pick<GatherContext, "scope" | "senders" | "events">;

/** Whose thread an event is of. */
export function senderOf({ thread }: StoredEvent, { scope, senders }: Sent): ContactId {
  return senders?.get(thread) ?? scope.contact;
}

/** Who wrote what the turn handles, each once, in the order of their first message. In a turn of its own nobody did. */
export function sendersOf(context: Sent): readonly ContactId[] {
  const all = context.events.map((event) => senderOf(event, context));
  return [...new Set(all)].filter((contact) => contact !== SELF);
}
