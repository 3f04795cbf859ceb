import type { ModelRef } from "./agent.ts";
import type { StrataError } from "./errors.ts";
import type { ApprovalId, LayerId, MemoryId, ThreadId, ToolName, TurnId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { Ledger } from "./ledger.ts";
import type { RetryEvent, Usage } from "./model.ts";
import type { VersionKey } from "./text-version.ts";
import type { Untrusted } from "./trust.ts";

/** Why a turn that ended well ended when it did. */
export const STOP_REASONS = [
  "answered",
  "length",
  "refused",
  "rounds",
  "calls",
  "dollars",
  "credits",
  "recording ended",
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Totals of a turn. `milliseconds` by the wall clock. */
export interface TurnTotals {
  readonly rounds: number;
  readonly calls: number;
  readonly usage: Usage;
  readonly dollars: number;
  readonly milliseconds: number;
}

/** What a turn tells while it runs, cut to what the actor who asked may know. It always ends in exactly one `done` or `failed`. */
export type TurnEvent =
  | {
      readonly type: "turn-start";
      readonly turn: TurnId;
      readonly thread: ThreadId;
      /** Absent for a contact. */
      readonly model?: ModelRef;
      readonly events: number;
    }
  /** A layer's source failed or was late; the turn goes on without it. */
  | { readonly type: "note"; readonly layer: LayerId; readonly says: string }
  /** The transcript was cut. `because` says why the messages that are gone have no summary; left out, they have one. */
  | { readonly type: "cut"; readonly messages: number; readonly because?: string }
  | { readonly type: "compiled"; readonly round: number; readonly ledger: Ledger }
  /** The model did not answer and is asked again after a pause. */
  | RetryEvent
  /**
   * The provider would not have the model's earlier reasoning back and is asked once more without it. That is a mistake of
   * Strata's: `changed` names what is not as it was in the last request that was answered, none where all of it is.
   */
  | { readonly type: "refused"; readonly changed: string | null; readonly because: string }
  | { readonly type: "text-delta"; readonly text: string }
  /** Words of a private layer, or where no layer is named the value of a secret, were left out of what the model said. */
  | { readonly type: "withheld"; readonly layer?: LayerId; readonly words?: number }
  | { readonly type: "reasoning-delta"; readonly text: string }
  /** A call waits for a person's word; the turn went on without it. Told once it is committed, before `done`. */
  | { readonly type: "approval"; readonly approval: ApprovalId; readonly tool: ToolName; readonly input: Json }
  /** Less useful memories of the contact that had to go for what the turn saved. Told once it is committed. */
  | { readonly type: "evicted"; readonly memories: readonly MemoryId[] }
  /** Edits of the turn that wait for an operator after all: another text was changed before it ended. Told once it is committed. */
  | { readonly type: "overtaken"; readonly texts: readonly VersionKey[] }
  /**
   * So many of the turn's senders got no reply, and `because` of what the turn ended. Their messages count as handled, or wait where the
   * agent's credits ended a turn of several. Told once it is committed.
   */
  | {
      readonly type: "unanswered";
      readonly turn: TurnId;
      readonly senders: number;
      readonly of: number;
      readonly waits: boolean;
      readonly because: StopReason;
    }
  | { readonly type: "tool-start"; readonly call: string; readonly tool: ToolName }
  /** How far a long call has come: a tool's own words. */
  | { readonly type: "tool-progress"; readonly call: string; readonly tool: ToolName; readonly says: Untrusted }
  /** `skipped`: it was not run, for the turn ends here, and the agent hears no more of it. */
  | {
      readonly type: "tool-end";
      readonly call: string;
      readonly tool: ToolName;
      readonly failed: boolean;
      readonly skipped?: true;
      /** What the agent was told of a call that failed: a tool's own words. */
      readonly says?: Untrusted;
    }
  | {
      readonly type: "done";
      readonly turn: TurnId;
      readonly text: string;
      readonly because: StopReason;
      /** How many senders got no reply; absent if each has one. */
      readonly unanswered?: number;
      /** Left out for a contact, like those of a failed turn. */
      readonly totals?: TurnTotals;
    }
  | { readonly type: "failed"; readonly turn: TurnId; readonly error: StrataError; readonly totals?: TurnTotals };
