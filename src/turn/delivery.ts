import type { Agent, AgentName, ContactId } from "../protocol/index.ts";
import type { OutboxMessage } from "../store/index.ts";

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

/** What came of one try. */
export interface DeliveryReport {
  readonly agent: Agent["name"];
  readonly outbox: OutboxMessage["id"];
  /** None: it was taken. */
  readonly failed?: string;
  /** False: it is not tried again, and stays in the outbox as undeliverable. */
  readonly again: boolean;
}

/** Milliseconds in which who listens to a turn takes its `done`, and in which who waits for what another's turn said finds it. */
const LISTENS = 60_000;
const FINDS = 3_000;

/** From when on a reply that is committed now may be sent by itself: nobody shall get it twice who is there to take it. */
export const deliverAfter = (now: number, isUnheard: boolean): number => now + (isUnheard ? FINDS : LISTENS);
