import type { AgentName, ContactId } from "../../protocol/index.ts";
import type { OutboxMessage } from "../../store/index.ts";

/** A reply on its way to the server that takes it. */
export interface Delivery extends Pick<OutboxMessage, "id" | "thread" | "turn" | "channel" | "text" | "at"> {
  readonly agent: AgentName;
  readonly contact: ContactId;
}

/** Hands a reply over. Throws where it was not taken: the sentence is kept with the message. */
export type SendDelivery = (
  delivery: Delivery,
  to: { readonly url: string; readonly token: string | undefined; readonly signal: AbortSignal },
) => Promise<void>;
