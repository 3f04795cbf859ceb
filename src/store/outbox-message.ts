import type { OutboxId, Spoken, ThreadId, TurnId } from "../protocol/index.ts";

/** A message on its way out, written in the turn's commit. */
export interface OutboxMessage {
  readonly id: OutboxId;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly channel: string;
  readonly text: Spoken;
  readonly status: "waiting" | "delivered" | "undeliverable";
  readonly at: number;
  /** Why the last try to deliver it failed, while it is not delivered. */
  readonly failed?: string;
}
