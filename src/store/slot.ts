import type { ThreadId, TurnId, Untrusted } from "../protocol/index.ts";

/** One entry of a thread's pure history: what was said, no prompt, no configuration. `kind` is the event's, or `reply`. */
export interface Slot {
  readonly thread: ThreadId;
  readonly index: number;
  /** The turn that took it up, or said it. */
  readonly turn: TurnId;
  readonly from: string;
  readonly to: string;
  readonly kind: string;
  readonly text: Untrusted;
  readonly at: number;
}
