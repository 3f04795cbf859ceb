import type { ApprovalId, ThreadId, ToolName, TurnId } from "./ids.ts";
import type { Digest, Json } from "./json.ts";
import type { ContactScope, Role } from "./scope.ts";
import type { Trust, Untrusted } from "./trust.ts";

/** The status of a call that needs a person's approval: it waits, was approved or denied, or has run. */
export const APPROVAL_STATUSES = ["waiting", "approved", "denied", "done"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** A tool call that has to wait for a person, as the turn passes it to its commit. */
export interface NewApproval {
  readonly id: ApprovalId;
  /** The provider's id of the call. */
  readonly call: string;
  readonly tool: ToolName;
  readonly input: Json;
  /** The digest of the tool's schema when the call was made; none for a call that an earlier Strata asked for. */
  readonly schema?: Digest;
  /** The lowest trust in the prompt that led to the call. */
  readonly taint: Trust;
}

/** A tool call that waits or waited for a person's decision. Of an erased contact the input is null and the texts are empty. */
export interface Approval extends NewApproval {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly status: ApprovalStatus;
  /** Milliseconds since 1970, like all times here. */
  readonly askedAt: number;
  readonly decidedAt?: number;
  readonly decidedBy?: Role;
  /** What the person said about it. */
  readonly note?: Untrusted;
  /** The result of the call, once it has run. */
  readonly outcome?: { readonly text: Untrusted; readonly failed: boolean };
}
