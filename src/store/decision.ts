import type {
  ApprovalStatus,
  EventId,
  MemoryId,
  NewEvent,
  Role,
  StoreWrite,
  ThreadId,
  Untrusted,
} from "../protocol/index.ts";

/** Which approvals a listing shows; left out, all. */
export interface ApprovalFilter {
  readonly status?: ApprovalStatus;
  readonly thread?: ThreadId;
}

/** An event for the thread, with the id that it gets. */
export type ArrivingEvent = NewEvent & { readonly id: EventId };

/** What a person decided about a waiting call. The event, if any, tells the agent; it lands with the decision. */
export interface Decision {
  readonly verdict: "approved" | "denied";
  readonly by: Role;
  readonly note?: Untrusted;
  readonly at: number;
  readonly event?: ArrivingEvent;
}

/** What came of an approved call: its result, its writes with an id for each, and the event that tells the agent. */
export interface Finish {
  readonly outcome: { readonly text: Untrusted; readonly failed: boolean };
  readonly writes: readonly StoreWrite[];
  readonly memories: readonly MemoryId[];
  readonly event: ArrivingEvent;
  readonly at: number;
}
