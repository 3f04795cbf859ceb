import type {
  AgentName,
  CallId,
  CallLimits,
  ReservedLimits,
  ThreadId,
  ToolName,
  TurnId,
  WaitsFor,
} from "../protocol/index.ts";

/** An open call that a thread answers: on which thread of which agent it waits. The contact is the called thread's own. */
export interface Caller {
  readonly thread: ThreadId;
  readonly agent: AgentName;
  readonly call: CallId;
}

/** The caller on a thread and the one who answers, if the counterpart is not the contact: what its slots say. */
export interface Parties {
  readonly initiator: string;
  readonly target: string;
}

/** A call whose answer comes later. */
export interface NewOpenCall {
  readonly id: CallId;
  /** The provider's id, as the transcript has it. */
  readonly call: string;
  readonly tool: ToolName;
  readonly waitsFor: WaitsFor;
  /** Whether other messages wait until it is answered. */
  readonly keeps: boolean;
  /** Real time, from which on it is answered with a sentence. */
  readonly due?: number;
  /** How much of the run's limits it may use. Without `dollars`, they do not limit it. */
  readonly reserved?: ReservedLimits;
}

/** The same as the turn left it, and what became of it. `closed`: the transcript has its result. */
export interface OpenCall extends NewOpenCall {
  readonly turn: TurnId;
  readonly state: "open" | "answered" | "cancelled" | "closed";
}

/** The run that a claimed turn continues. */
export interface ContinuedRun {
  readonly id: TurnId;
  /** The turn that left the calls open. */
  readonly turn: TurnId;
  /** What its kept turns came to, and what the calls used that they left open. Waiting costs no time. */
  readonly used: CallLimits & { readonly milliseconds: number };
}
