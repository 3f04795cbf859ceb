import type { Budgets, Mode, Model, TurnEvent, TurnTotals, Untrusted } from "../protocol/index.ts";
import type { Thread } from "../store/index.ts";

/** A tool's answer that is known before the call: what a recording holds. */
export interface RecordedResult {
  readonly text: Untrusted;
  readonly failed: boolean;
}

/** How one turn may differ from the agent's own way. */
export interface RunOptions {
  /** Ends the turn as `failed: turn_cancelled`; its events keep waiting. */
  readonly signal?: AbortSignal;
  /** Who answers instead of the agent's model. */
  readonly model?: Model;
  /** Answers of a recording by call id: such a call is answered, not run. */
  readonly recorded?: ReadonlyMap<string, RecordedResult>;
  /** Its reply counts as delivered: what a recording holds was said in its time, and is sent to nobody now. */
  readonly toNobody?: boolean;
  /**
   * Nobody reads the reply directly; it stays in the outbox for the agent's `deliver`, or for whoever fetches it. Left out: it counts
   * as delivered when `done` was read.
   */
  readonly noReader?: boolean;
  /** How much of the prompt is sent, whatever the agent's own mode is. A running conversation begins an epoch where it had another. */
  readonly mode?: Mode;
  /** How far the turn may go instead of the agent's own limits. */
  readonly limits?: Budgets["turn"];
  /** Told what the turns of its calls used: it counts for whoever called this one, too. */
  readonly used?: (totals: Pick<TurnTotals, "rounds" | "calls" | "dollars">) => void;
}

/** One turn of a thread; it can be cancelled like any other. */
export type Run = (thread: Thread, options: RunOptions) => AsyncGenerator<TurnEvent>;
