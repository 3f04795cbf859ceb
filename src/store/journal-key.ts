import type { ContactScope, Json, ThreadId, ToolName, ToolOutcome, TurnId } from "../protocol/index.ts";

/** One call of a tool with an effect outside the store, journaled before it acts. */
export interface JournalKey {
  readonly thread: ThreadId;
  readonly turn: TurnId;
  /** 1 for the turn's first call of this tool with this input. Its position among other calls does not matter. */
  readonly ordinal: number;
  readonly tool: ToolName;
  readonly input: Json;
  /** In a turn of several senders: the turns of those whose messages it handles. The call counts for each of them. */
  readonly senders?: readonly JournalTurn[];
}

/** One sender's part of a turn of several senders. */
export interface JournalTurn {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
}

/**
 * `new`: act. `done`: it acted, and this was the result. `elsewhere`: it acted in a turn that also had other senders, and the result is not
 * for those of this one. `unknown`: it began, and its end was not recorded. Tool and input are part of the identity: another call at the
 * same ordinal is new, and the first one stays known.
 */
export type JournalState =
  | { readonly state: "new" }
  | { readonly state: "done"; readonly outcome: ToolOutcome }
  | { readonly state: "elsewhere" }
  | { readonly state: "unknown" };
