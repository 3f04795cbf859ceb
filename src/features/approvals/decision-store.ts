import {
  type ActorId,
  type ApprovalId,
  type ApprovalStatus,
  type CallId,
  type ContactScope,
  canonicalJson,
  type Digest,
  type EventId,
  errorKind,
  type OrgId,
  ownKind,
  type Role,
  type ThreadId,
  type ToolName,
  type Trust,
  type TurnId,
} from "../../protocol/index.ts";
import {
  type AgentOwner,
  append,
  atMost,
  type Erasing,
  type Finding,
  owner,
  plain,
  problem,
  type Retracting,
  type Tx,
  tables,
} from "../../store/index.ts";

/** `input`, `note` and `outcome` name pieces; `schema` digests that of the tool. */
export interface ApprovalTable extends ContactScope {
  readonly id: ApprovalId;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly position: number;
  readonly call: string;
  readonly tool: ToolName;
  readonly input: Digest;
  readonly taint: Trust;
  readonly status: ApprovalStatus;
  readonly asked_at: number;
  readonly decided_at: number | null;
  readonly decided_by: Role | null;
  readonly decided_by_id: ActorId | null;
  readonly note: Digest | null;
  readonly outcome: Digest | null;
  readonly schema: Digest | null;
  readonly answers: CallId | null;
  readonly due: number | null;
  readonly taken_by: Role | null;
  readonly taken_by_id: ActorId | null;
  readonly taken_at: number | null;
  /** 1: each decision about it has its own link. Rows from before this change have none. */
  readonly linked: 1 | null;
}

/** One decision about a call, who took a question (it stays `waiting`), or a result: `by` is null for a result. It says in rows what the columns of the call say now. */
export interface DecisionTable extends ContactScope, Pick<ApprovalTable, "status" | "note" | "outcome"> {
  readonly approval: ApprovalId;
  readonly n: number;
  readonly by: Role | null;
  readonly by_id: ActorId | null;
  readonly at: number;
  readonly link: number;
}

export const NOT_FOUND = errorKind("approval_not_found", {
  status: 404,
  exit: 3,
  retry: false,
  message: "no approval of that id is in reach",
});
/** An approved call ran and failed: the decision stays, and the agent reads of the failure. */
export const CALL_FAILED = errorKind("call_failed", {
  status: 502,
  exit: 11,
  retry: false,
  message: "an approved call ran and failed",
});

/** Why nothing is decided. */
export const notInState = (id: ApprovalId, is: ApprovalStatus, wanted: ApprovalStatus): string =>
  `approval ${id} is ${is} and not ${wanted}, so nothing was changed: list those that wait`;

export const ALREADY_DECIDED = errorKind("approval_decided", {
  status: 409,
  exit: 7,
  retry: false,
  message: "that call is already decided",
});

/** The event that informs an agent about a decision. */
export const DECIDED = ownKind("approval");

/** Decisions about requests of turns that were removed. */
export async function approvalsDerived(tx: Tx, retracting: Retracting): Promise<void> {
  for (const { scope, whole } of retracting.lineages()) {
    const { org, agent, contact } = scope;
    const notices = plain<EventId>(TOLD, DECIDED, org, agent, contact, JSON.stringify([...whole]));
    retracting.addNotices(scope, await tx.column(notices));
  }
}

const TOLD = `select event.id from approval join approval_decision as one on one.org = approval.org and one.agent = approval.agent
    and one.contact = approval.contact and one.approval = approval.id
  join event on event.org = approval.org and event.agent = approval.agent and event.contact = approval.contact
    and event.thread = approval.thread and event.at = one.at and event.kind = ?
  where approval.org = ? and approval.agent = ? and approval.contact = ? and approval.turn in (select value from json_each(?))`;

const { query, insert } = tables<{ approval: ApprovalTable; approval_decision: DecisionTable }>();

/** Requests of turns that were removed completely can no longer be decided. */
export async function retractApprovals(tx: Tx, retracting: Retracting): Promise<void> {
  const asked = `select * from approval where org = ? and agent = ? and contact = ? and turn in (select value from json_each(?)) order by id`;
  for (const { scope, whole } of retracting.lineages())
    for (const row of await tx.all(
      plain<ApprovalTable>(asked, scope.org, scope.agent, scope.contact, JSON.stringify([...whole])),
    )) {
      retracting.drop(scope, { table: "approval_decision", column: "approval", value: row.id });
      const approved = `select 1 from approval_decision where org = ? and approval = ? and status = 'approved'`;
      if ((await tx.column(plain<number>(approved, row.org, row.id))).length > 0)
        retracting.leave({ what: "call", name: row.tool, turn: row.turn });
      await deny(tx, row, retracting);
    }
}

/** Requests of an erased contact's turns can no longer be decided. */
export async function closeApprovals(tx: Tx, scope: ContactScope, erasing: Erasing): Promise<void> {
  const all = query
    .selectFrom("approval")
    .selectAll()
    .where((eb) => eb.and(owner(scope)))
    .orderBy("id");
  for (const row of await tx.all(all)) await deny(tx, row, erasing);
}

async function deny(tx: Tx, row: ApprovalTable, { by, byId, at }: Erasing): Promise<void> {
  if (row.status !== "waiting" && row.status !== "approved") return;
  const denied = { status: "denied", decided_at: at, decided_by: by, decided_by_id: byId ?? null } as const;
  await noteDecision(tx, row, denied, at);
  await tx.run(
    query
      .updateTable("approval")
      .set(denied)
      .where((eb) => eb.and({ ...owner(row), id: row.id })),
  );
}

export type Change = Partial<
  Pick<
    ApprovalTable,
    | ("status" | "decided_at" | "decided_by" | "decided_by_id" | "note" | "outcome")
    | ("taken_by" | "taken_by_id" | "taken_at")
  >
>;

/** Links a decision. */
export async function noteDecision(tx: Tx, row: ApprovalTable, columns: Change, at: number): Promise<void> {
  if (row.linked === null) return;
  const { org, id: approval } = row;
  const before = `select count(*) from approval_decision where org = ? and approval = ?`;
  const n = ((await tx.column(plain<number>(before, org, approval)))[0] ?? 0) + 1;
  const {
    status = row.status,
    decided_by: by = columns.taken_by ?? null,
    decided_by_id: by_id = columns.taken_by_id ?? null,
    note = null,
    outcome = null,
  } = columns;
  const facts = { ...owner(row), approval, n, status, by, by_id, note, outcome, at };
  await tx.run(insert("approval_decision", { ...facts, link: (await append(tx, org, decisionLink(facts))).seq }));
}

/** It names no contact, because an erasure removes the name, and texts by their digests only. */
export const decisionLink = (row: Omit<DecisionTable, "link">): string => {
  const { agent, approval, n, status, by, by_id, note, outcome, at } = row;
  return canonicalJson({ decision: { agent, approval, n, status, by, by_id, note, outcome, at } });
};

/** Questions that a person answered, in the order of the record after a link: their locations only, without text. */
export const answeredAfter = (
  tx: Tx,
  { org, agent }: AgentOwner,
  link: number,
  limit: number,
): Promise<readonly Pick<DecisionTable, "org" | "agent" | "contact" | "approval" | "link">[]> =>
  tx.all(plain(ANSWERED, org, agent, link, atMost(limit)));

const ANSWERED = `select one.org, one.agent, one.contact, one.approval, one.link from approval_decision as one
  join approval on approval.org = one.org and approval.agent = one.agent and approval.contact = one.contact and approval.id = one.approval
  where one.org = ? and one.agent = ? and one.link > ? and one.status = 'done' and approval.due is not null order by one.link limit ?`;

/** A call's columns must match its decisions; in rows from before these were linked, the columns must fit together. */
export async function checkStates(tx: Tx, org: OrgId): Promise<readonly Finding[]> {
  const changed = await tx.column(plain<ApprovalId>(OTHERWISE_DECIDED, org));
  const stray = await tx.column(plain<ApprovalId>(STRAY_DECISIONS, org));
  return [
    ...changed.map((id) => problem(`approval ${id}`, "it is not as it was decided")),
    ...stray.map((id) => problem(`approval ${id}`, "a decision is recorded about it, and the call is not there")),
    ...(await unfitting(tx, org)),
  ];
}

const OF_APPROVAL = `one.org = approval.org and one.agent = approval.agent and one.contact = approval.contact and one.approval = approval.id`;

const lastOf = (name: string, which: string): string =>
  `left join approval_decision as ${name} on ${OF_APPROVAL.replaceAll("one.", `${name}.`)}
    and ${name}.n = (select max(n) from approval_decision as one where ${OF_APPROVAL} and ${which})`;

const DECIDING = `one."by" is not null and one.status != 'waiting'`;

const OTHERWISE_DECIDED = `select approval.id from approval ${lastOf("last", "true")} ${lastOf("said", DECIDING)}
  ${lastOf("taken", "one.status = 'waiting'")}
  where approval.org = ? and approval.linked = 1 and (approval.status is distinct from coalesce(last.status, 'waiting')
    or approval.outcome is distinct from last.outcome or approval.note is distinct from said.note
    or approval.decided_at is distinct from said.at or approval.decided_by is distinct from said."by"
    or approval.decided_by_id is distinct from said.by_id or approval.taken_at is distinct from taken.at
    or approval.taken_by is distinct from taken."by" or approval.taken_by_id is distinct from taken.by_id) limit 100`;

const STRAY_DECISIONS = `select distinct one.approval from approval_decision as one where one.org = ?
  and not exists (select 1 from approval where ${OF_APPROVAL}) limit 100`;

async function unfitting(tx: Tx, org: OrgId): Promise<readonly Finding[]> {
  const odd = `select id, status from approval where org = ? and ((status = 'waiting') != (decided_at is null)
    or (status = 'waiting') != (decided_by is null) or (status in ('waiting', 'approved', 'denied')) != (outcome is null))`;
  return (await tx.all(plain<Pick<ApprovalTable, "id" | "status">>(odd, org))).map(({ id, status }) =>
    problem(`approval ${id}`, `it is marked as ${status}, which is not what its decision and its result say`),
  );
}
