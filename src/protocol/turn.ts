import type { ModelRef } from "./agent.ts";
import type { Brand } from "./brand.ts";
import type { StrataError } from "./errors.ts";
import type { CallId, LayerId, ThreadId, ToolName, TurnId } from "./ids.ts";
import type { Ledger } from "./ledger.ts";
import type { RetryEvent, Usage } from "./model.ts";
import type { CommitReport, NewApproval } from "./tool.ts";
import type { Trust, Untrusted } from "./trust.ts";

/**
 * A program's source of time, milliseconds since 1970. It is passed in whenever time is needed; tests and recordings set it. The two differ
 * when a recording is played: its messages keep their times, while leases and deadlines run on.
 */
export interface Clock {
  /** The threads' own time: frames, the clock layer and records show it. */
  readonly recorded: () => number;
  /** Real time, for leases, deadlines, durations, and ages on pages. */
  readonly real: () => number;
}

/** Why a successful turn ended, in the core's words. */
export const STOP_REASONS = [
  "answered",
  "length",
  "refused",
  "modelCalls",
  "toolCalls",
  "maxCost",
  "recording ended",
] as const;
export type CoreStop = (typeof STOP_REASONS)[number];

/** Why a successful turn ended. A feature brings more with `ownStop`; what is stored is the word. */
export type StopReason = CoreStop | Brand<string, "StopReason">;

/** A feature's reason to end a turn, and the sentence for people. */
export interface OwnStop {
  readonly reason: StopReason;
  readonly message: string;
}

export const ownStop = (reason: string, message: string): OwnStop => ({ reason: reason as StopReason, message });

/** A turn runs until it ends, in one of three ways; its ending never changes. `waiting`: with calls whose answers come later. */
export const TURN_STATUSES = ["running", "done", "waiting", "failed"] as const;
export type TurnStatus = (typeof TURN_STATUSES)[number];

/** Endings that keep what the turn did: it has consumed its events and continued the transcript. A failed turn has done neither. */
export type KeptStatus = Extract<TurnStatus, "done" | "waiting">;

/** Whether a turn's ending was stored. The only place that decides this: no other code compares a turn's status with `done`. */
export const isKept = <Ended extends { readonly status: TurnStatus }>(
  ended: Ended,
): ended is Ended & { readonly status: KeptStatus } => ended.status === "done" || ended.status === "waiting";

/** Who answers an open call: another agent, the program that talks with the agent, or a person who decides. */
export const WAITS_FOR = ["agent", "client", "person"] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/** The effects of features' steps in a turn: in their own words, which name no one. */
export interface StepRecord {
  /**
   * Who answered in place of the model, in order, and the lowest trust of their inputs. `interrupted`: the last one had begun in an earlier
   * try, and it is unknown how far it came. `failed`: the last one threw, and the turn ended with that.
   */
  readonly answered?: {
    readonly by: readonly string[];
    readonly taint: Trust;
    readonly interrupted?: true;
    readonly failed?: true;
  };
  /** The changes to the reply before it was sent. The model's own text is in its messages. */
  readonly outgoing?: readonly {
    readonly by: string;
    readonly did: "changed" | "withheld";
    /** Why it was withheld. */
    readonly because?: string;
    /** A person decides whether it is sent. */
    readonly drafted?: true;
    /** The agent reads what was sent instead. */
    readonly told?: true;
  }[];
}

/** A token for what steps and calls of a turn leave to `onCommit` of their feature. It lives as long as the turn; the core stores none of it. */
export interface OutcomePart<Value> {
  readonly put: (extras: object, value: Value) => void;
  readonly of: (outcome: { readonly extras: object }) => Value | undefined;
}

export function outcomePart<Value>(): OutcomePart<Value> {
  const all = new WeakMap<object, Value>();
  return { put: (extras, value) => void all.set(extras, value), of: ({ extras }) => all.get(extras) };
}

/** The calls of a turn that wait for a person from its commit on. */
export const HELD_CALLS = outcomePart<readonly NewApproval[]>();

/** Totals of a turn. `milliseconds` of real time. */
export interface TurnTotals {
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  readonly dollars: number;
  readonly milliseconds: number;
}

/** The events of a running turn, limited to what the actor may know. There is always exactly one `done`, `waiting` or `failed`, at the end. */
export type TurnEvent =
  | {
      readonly type: "turn-start";
      readonly turn: TurnId;
      readonly thread: ThreadId;
      /** Absent for a contact. */
      readonly model?: ModelRef;
      readonly events: number;
      /** Set if what is said may be changed or withheld before it goes out: what `done` says is what went out. */
      readonly held?: true;
    }
  /** A layer's source failed or was late; the turn continues without it. */
  | { readonly type: "note"; readonly layer: LayerId; readonly message: string }
  /** The transcript was cut. `because` says why the removed messages have no summary; if omitted, they have one. */
  | { readonly type: "cut"; readonly messages: number; readonly because?: string }
  | { readonly type: "compiled"; readonly round: number; readonly ledger: Ledger }
  /** The model did not answer and is called again after a pause. */
  | RetryEvent
  /**
   * The provider rejected the model's earlier reasoning and is called again without it. That is a bug in Strata: `changed` names what
   * differs from the last answered request, or is missing if nothing does.
   */
  | { readonly type: "refused"; readonly changed: string | null; readonly because: string }
  | { readonly type: "text-delta"; readonly text: string }
  /** Words of a private layer or, if no layer is named, the value of a secret were removed from the model's words. */
  | { readonly type: "withheld"; readonly layer?: LayerId; readonly words?: number }
  | { readonly type: "reasoning-delta"; readonly text: string }
  /** The commit's additional effects. Sent after the commit. */
  | ({ readonly type: "report" } & CommitReport)
  /**
   * The number of the turn's senders without a reply, and `because` of what the turn ended. Their messages count as handled, or wait if the
   * agent's money ended a turn of several. Sent after the commit.
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
  /** The progress of a long call, in the tool's words. */
  | { readonly type: "tool-progress"; readonly call: string; readonly tool: ToolName; readonly message: Untrusted }
  /** `skipped`: it was not run, because the turn ends here, and the agent does not see it. */
  | {
      readonly type: "tool-end";
      readonly call: string;
      readonly tool: ToolName;
      readonly failed: boolean;
      readonly skipped?: true;
      /** The text of a failed call for the agent, in the tool's words. */
      readonly message?: Untrusted;
    }
  /** The turn ended with calls whose answers come later: the run continues with them in a new turn. `text` is the agent's text so far. */
  | {
      readonly type: "waiting";
      readonly turn: TurnId;
      readonly text: string;
      /** The calls it waits for. For a contact, without the tools. */
      readonly calls: readonly {
        readonly id: CallId;
        readonly waitsFor: WaitsFor;
        readonly tool?: ToolName;
        readonly due?: number;
      }[];
      readonly totals?: TurnTotals;
    }
  | {
      readonly type: "done";
      readonly turn: TurnId;
      readonly text: string;
      readonly because: StopReason;
      /** Why, in a sentence, if `because` is a feature's word. */
      readonly message?: string;
      /** How many senders got no reply; absent if each has one. */
      readonly unanswered?: number;
      /** Why the agent's text was not sent, if a step withheld it. Omitted for a contact. */
      readonly withheld?: string;
      /** What the agent said was not sent: a person decides whether something is. A contact sees this, too. */
      readonly drafted?: true;
      /** Left out for a contact, like those of a failed turn. */
      readonly totals?: TurnTotals;
    }
  /** `isOver`: it continued a run that cannot go on, so nothing of it is tried again. */
  | {
      readonly type: "failed";
      readonly turn: TurnId;
      readonly error: StrataError;
      readonly isOver?: true;
      readonly totals?: TurnTotals;
    };
