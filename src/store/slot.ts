import type { ThreadId, TurnId, Untrusted } from "../protocol/index.ts";

/** One entry of a thread's history: what was said, without any prompt or configuration. `kind` is that of the event, or `reply`. */
export interface Slot {
  readonly thread: ThreadId;
  readonly index: number;
  /** The turn that handled it, or that said it. */
  readonly turn: TurnId;
  readonly from: string;
  readonly to: string;
  readonly kind: string;
  readonly text: Untrusted;
  readonly at: number;
}
