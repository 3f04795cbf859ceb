/** Tool calls that wait for a person: listed, decided, and told to the agent. */
import type { Actor, Approval, ApprovalId, ApprovalStatus, Scope } from "../../protocol/index.ts";
import { newestOf, type Parts, reach, type Whose } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import { approvalOf, decide, type Verdict } from "./decide.ts";
import { OPERATIONS } from "./operations.ts";
import { APPROVAL_STORE, type ApprovalFilter } from "./store.ts";

export { APPROVAL_STORE } from "./store.ts";

export const FEATURE: Feature = { name: "approvals", store: APPROVAL_STORE, operations: OPERATIONS };

/** Which calls are listed. */
interface ApprovalWish extends Pick<Whose, "agent" | "contact" | "limit"> {
  /** Left out, all. */
  readonly statuses?: readonly ApprovalStatus[] | undefined;
}

/** Tool calls that wait or waited for a person, and their decisions. */
export interface ApprovalDoors {
  /** Newest first. A scope with `contact: null` lists those of all contacts. */
  approvals(actor: Actor, scope: Scope, filter: ApprovalFilter, limit: number): Promise<readonly Approval[]>;
  /** Of one agent or of all, newest first. @throws StrataError `agent_not_found` for a name never heard of */
  newestApprovals(actor: Actor, wish: ApprovalWish): Promise<readonly Approval[]>;
  /** @throws StrataError `approval_not_found` */
  approval(actor: Actor, id: ApprovalId): Promise<Approval>;
  /**
   * Approves a waiting call, which runs it once and now, or denies it; or settles an approved call without a recorded result, because
   * the program ended, the database was locked or a tool that acts outside was abandoned. In each case an event then waits on its
   * thread: run a turn so that the agent reports it. Operators only.
   * @throws StrataError `approval_not_found`, `approval_decided`, `tool_not_found` and `invalid_input` when it cannot run any
   * more; where an outcome cannot be kept, `store_busy` or `store_failed` with the outcome in its details
   */
  decide(actor: Actor, id: ApprovalId, verdict: Verdict): Promise<Approval>;
}

declare module "../../turn/runtime.ts" {
  interface Runtime extends ApprovalDoors {}
}

/** The doors to calls that wait for a person. */
export function approvalDoors(parts: Parts): ApprovalDoors {
  const acting = new Set<ApprovalId>();
  const { approvals } = parts.store.part(APPROVAL_STORE);
  return {
    approvals: async (actor, scope, filter, limit) =>
      approvals(await reach(parts, actor, { scope, action: "read" }), filter, limit),
    newestApprovals: (actor, { statuses, ...whose }) => {
      const filters: readonly ApprovalFilter[] = statuses?.map((status) => ({ status })) ?? [{}];
      const find = async (scope: Scope): Promise<readonly Approval[]> =>
        (await Promise.all(filters.map((filter) => approvals(scope, filter, whose.limit)))).flat();
      return newestOf(parts, actor, whose, { find, at: ({ askedAt }) => askedAt });
    },
    approval: (actor, id) => approvalOf(parts, actor, id, "read"),
    decide: (actor, id, verdict) => decide({ ...parts, acting }, actor, id, verdict),
  };
}
