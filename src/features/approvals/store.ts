import {
  ANSWER_KIND,
  type Approval,
  type ApprovalId,
  type ApprovalStatus,
  type ContactScope,
  type Digest,
  type DoneBy,
  HELD_CALLS,
  isoSecond,
  type PlannedWrite,
  type Scope,
  type ThreadId,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import {
  type ArrivingEvent,
  addEvents,
  applyWrites,
  atMost,
  below,
  callLeftOpen,
  type EndedTurn,
  fixed,
  inOrder,
  keepOwn,
  linkedTable,
  newColumn,
  newTable,
  type OneTurn,
  openRow,
  owner,
  ownText,
  type Position,
  type StorePart,
  scopeKey,
  type Tx,
  tables,
  toDoneBy,
  within,
} from "../../store/index.ts";
import {
  ALREADY_DECIDED,
  type ApprovalTable,
  answeredAfter,
  approvalsDerived,
  type Change,
  checkStates,
  closeApprovals,
  type DecisionTable,
  decisionLink,
  NOT_FOUND,
  noteDecision,
  notInState,
  retractApprovals,
} from "./decision-store.ts";

const { query, insert } = tables<{ approval: ApprovalTable }>();

/** Which approvals to list; all by default. */
export interface ApprovalFilter {
  readonly status?: ApprovalStatus;
  /** Only questions to a person, or only calls that are approved or denied. */
  readonly about?: "questions" | "calls";
  readonly thread?: ThreadId;
  readonly after?: Position | undefined;
}

/**
 * A person's decision about a waiting call, or the answer to a question. The event, if any, informs the agent; both are committed together.
 */
export interface Decision extends DoneBy {
  readonly verdict: "approved" | "denied" | { readonly answer: Untrusted };
  readonly note?: Untrusted;
  readonly at: number;
  readonly event?: ToldEvent;
}

/** The event that informs an agent, and the text for an agent that still waits for the call; by default the same. */
export type ToldEvent = ArrivingEvent & {
  readonly answer?: { readonly text: Untrusted; readonly failed: boolean };
};

/** The outcome of an approved call: its result, its writes with an id for each, and the event that informs the agent. */
export interface Finish {
  readonly outcome: { readonly text: Untrusted; readonly failed: boolean };
  readonly writes: readonly PlannedWrite[];
  readonly event: ToldEvent;
  readonly at: number;
}

/** Calls that wait or waited for a person. */
export const APPROVAL_STORE = {
  name: "approvals",
  tables: {
    approval: {
      linked: "org agent contact id thread turn position call tool input taint asked_at schema answers linked due",
      derived: "note outcome status decided_at decided_by decided_by_id taken_by taken_by_id taken_at",
      since: "schema answers linked due",
    },
    approval_decision: { linked: "agent approval n status by by_id note outcome at", derived: "org contact link" },
  },
  migrations: [
    {
      number: 26,
      name: "who decided",
      statements: [
        newColumn("approval", "decided_by_id", "text"),
        // Stored a second time, so that SQLite's own check finds a flipped bit: no link covers a decision.
        { sqlite: "create index approval_decider_checked on approval (+decided_by_id)", postgres: "" },
      ],
    },
    { number: 30, name: "approvals that are waited for", statements: [newColumn("approval", "answers", "text")] },
    {
      number: 37,
      name: "linked decisions",
      statements: [
        newColumn("approval", "linked", "int"),
        newTable("approval_decision", {
          columns: `org text!, agent text!, contact text!, approval text!, n int!, status text!, by text, by_id text, note text,
            outcome text, at int!, link int!`,
          key: "org, approval, n",
        }),
      ],
    },
    {
      number: 40,
      name: "questions to a person",
      statements: [
        newColumn("approval", "due", "int"),
        newColumn("approval", "taken_by", "text"),
        newColumn("approval", "taken_by_id", "text"),
        newColumn("approval", "taken_at", "int"),
      ],
    },
  ],
  functions: ({ reading, writing }) => ({
    /** Newest first. A scope with `contact: null` lists those of all contacts of the agent. */
    approvals: reading(approvals),
    approval: reading(approval),
    /** Questions that a person answered, in the order of the record from a link on. */
    answeredAfter: reading(answeredAfter),
    /**
     * Decides about a waiting call: of two decisions, the second is refused.
     * @throws StrataError `approval_not_found`, `approval_decided`, `thread_not_found` when its contact was erased
     */
    decideApproval: writing(decideApproval),
    /**
     * Notes who looks after a waiting question; this replaces whoever took it before.
     * @throws StrataError `approval_not_found`, `approval_decided`, `thread_not_found` when its contact was erased
     */
    takeQuestion: writing(takeQuestion),
    /**
     * Stores the result of an approved call, all of it or nothing.
     * @throws StrataError `approval_not_found`, `approval_decided` when it is not approved or has run already
     */
    finishApproval: writing(finishApproval),
  }),
  changes: {
    decideApproval: (scope: Scope, id: ApprovalId) => ({ kind: "approval", scope, ids: [id] }),
    finishApproval: (scope: Scope, id: ApprovalId) => ({ kind: "approval", scope, ids: [id] }),
    takeQuestion: (scope: Scope, id: ApprovalId) => ({ kind: "approval", scope, ids: [id] }),
  },
  onCommit: keepApprovals,
  inLink: async (tx, of, ending) =>
    ending !== undefined && (ending.done === undefined || HELD_CALLS.of(ending.done.outcome) === undefined)
      ? {}
      : { approvals: await collectAsked(tx, of) },
  named: async (tx, of) =>
    (await approvalsOfTurn(tx, of)).flatMap(({ input, note, outcome }) => [input, note ?? [], outcome ?? []].flat()),
  linked: {
    decision: linkedTable<DecisionTable>(
      "approval_decision",
      ({ approval, n }) => `decision ${n} about ${approval}`,
      (_, row) => decisionLink(row),
    ),
  },
  erase: closeApprovals,
  derived: approvalsDerived,
  retract: retractApprovals,
  verify: checkStates,
} satisfies StorePart;

/** Keeps the calls that wait from now on, and reports each: it can be decided at once. Part of the turn's commit. */
async function keepApprovals(tx: Tx, { scope, turn, done, report }: EndedTurn): Promise<void> {
  if (done === undefined) return;
  const { claim, outcome, keep } = done;
  for (const [position, { id, call, tool, input, schema = null, taint, answers = null, due = null, decidedWith }] of (
    HELD_CALLS.of(outcome) ?? []
  ).entries()) {
    const asks = { id, thread: claim.thread.id, turn, position, call, tool, input: await keep(JSON.stringify(input)) };
    const decided = { decided_at: null, decided_by: null, decided_by_id: null, note: null, outcome: null } as const;
    const taken = { due, taken_by: null, taken_by_id: null, taken_at: null } as const;
    const open = { status: "waiting", ...decided, asked_at: outcome.at } as const;
    await tx.run(
      insert("approval", { ...owner(scope), ...asks, taint, ...open, ...taken, schema, answers, linked: 1 }),
    );
    const next =
      decidedWith ??
      (due === null
        ? `/approve or /deny in a chat, \`strata approval approve ${id}\` or \`POST /v1/approvals/${id}/approve\``
        : `\`strata escalation answer ${id} TEXT\` or \`POST /v1/escalations/${id}/answer\``);
    const message = `→ ${tool} ${JSON.stringify(input)} waits for a person: ${next}`;
    const data = { approval: id, tool, input, ...(answers !== null && { answers }) };
    report({ what: "approval", message, data });
  }
}

/** A turn's requests to a person, as they were made: a decision comes later. Absent if there were none. */
async function collectAsked(tx: Tx, of: OneTurn): Promise<unknown> {
  const rows = await approvalsOfTurn(tx, of);
  if (rows.length === 0) return undefined;
  return rows.map(({ position, id, thread, call, tool, input, schema, taint, asked_at, answers, linked, due }) => {
    // Links of calls that were asked for before the schema was kept do not have it.
    return {
      position,
      id,
      thread,
      call,
      tool,
      input,
      taint,
      asked_at,
      ...(schema !== null && { schema }),
      ...(answers !== null && { answers }),
      ...(linked !== null && { linked }),
      ...(due !== null && { due }),
    };
  });
}

/** In order. */
async function approvalsOfTurn(tx: Tx, of: OneTurn): Promise<readonly ApprovalTable[]> {
  return (await tx.all(askedByTurn(of))).sort((a, b) => a.position - b.position);
}

const askedByTurn = fixed((of: OneTurn) =>
  query
    .selectFrom("approval")
    .selectAll()
    .where((eb) => eb.and({ ...owner(of), turn: of.turn })),
);

async function approvals(
  tx: Tx,
  scope: Scope,
  { status, about, thread, after }: ApprovalFilter,
  limit: number,
): Promise<readonly Approval[]> {
  const wanted = { ...within(scope), ...(status && { status }), ...(thread && { thread }) };
  const all = query
    .selectFrom("approval")
    .selectAll()
    .where((eb) => eb.and(wanted))
    .orderBy("asked_at", "desc")
    .orderBy("id", "desc")
    .limit(atMost(limit));
  const chosen = about === undefined ? all : all.where("due", about === "questions" ? "is not" : "is", null);
  const newest = after ? chosen.where(below("asked_at", "id", after)) : chosen;
  return inOrder(await tx.all(newest), (row) => readApproval(tx, row));
}

async function approval(tx: Tx, scope: Scope, id: ApprovalId): Promise<Approval | undefined> {
  const row = await findApproval(tx, scope, id);
  return row && (await readApproval(tx, row));
}

async function findApproval(tx: Tx, scope: Scope, id: ApprovalId): Promise<ApprovalTable | undefined> {
  const wanted = { ...within(scope), id };
  return tx.first(
    query
      .selectFrom("approval")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
}

/** After a contact is erased, only what holds no text stays. */
async function readApproval(tx: Tx, row: ApprovalTable): Promise<Approval> {
  const { id, thread, turn, call, tool, schema, taint, status, answers, due } = row;
  const text = async (piece: Digest): Promise<string> => (await ownText(tx, row, piece)) ?? "null";
  const outcome: Approval["outcome"] | null = row.outcome && JSON.parse(await text(row.outcome));
  return {
    id,
    scope: owner(row),
    thread,
    turn,
    call,
    tool,
    input: JSON.parse(await text(row.input)),
    ...(schema !== null && { schema }),
    ...(answers !== null && { answers }),
    ...(due !== null && { due }),
    ...(row.taken_by !== null &&
      row.taken_at !== null && {
        taken: { ...toDoneBy({ by: row.taken_by, by_id: row.taken_by_id }), at: row.taken_at },
      }),
    taint,
    status,
    askedAt: row.asked_at,
    ...(row.decided_at !== null && { decidedAt: row.decided_at }),
    ...(row.decided_by !== null && { decidedBy: row.decided_by }),
    ...(row.decided_by_id !== null && { decidedById: row.decided_by_id }),
    ...(row.note !== null && { note: untrusted(String(JSON.parse(await text(row.note)) ?? "")) }),
    ...(row.outcome !== null && {
      outcome: { text: outcome?.text ?? untrusted(""), failed: outcome?.failed ?? false },
    }),
  };
}

/** From waiting to decided in one step: of two people the second learns that it is already decided. */
async function decideApproval(
  tx: Tx,
  scope: ContactScope,
  id: ApprovalId,
  { verdict, by, byId, note, at, event }: Decision,
): Promise<Approval> {
  const row = await inState(tx, scope, id, "waiting");
  await openRow(tx, scope, row.thread);
  const key = await scopeKey(tx, scope);
  const piece = note === undefined ? null : await keepOwn(tx, scope, key, JSON.stringify(note));
  if (event) await tell(tx, row, event);
  const decided = { decided_at: at, decided_by: by, decided_by_id: byId ?? null, note: piece };
  if (typeof verdict === "string") return change(tx, row, { status: verdict, ...decided }, at);
  const answer = await keepOwn(tx, scope, key, JSON.stringify({ text: verdict.answer, failed: false }));
  return change(tx, row, { status: "done", ...decided, outcome: answer }, at);
}

async function takeQuestion(
  tx: Tx,
  scope: ContactScope,
  id: ApprovalId,
  { by, byId, at }: DoneBy & { readonly at: number },
): Promise<Approval> {
  const row = await inState(tx, scope, id, "waiting");
  await openRow(tx, scope, row.thread);
  return change(tx, row, { taken_by: by, taken_by_id: byId ?? null, taken_at: at }, at);
}

/** The outcome of an approved call: its result, its writes and the event about it are committed together. */
async function finishApproval(tx: Tx, scope: ContactScope, id: ApprovalId, finish: Finish): Promise<Approval> {
  const row = await inState(tx, scope, id, "approved");
  await openRow(tx, scope, row.thread);
  const outcome = await keepOwn(tx, scope, await scopeKey(tx, scope), JSON.stringify(finish.outcome));
  await applyWrites(tx, scope, { ...finish, turn: row.turn });
  await tell(tx, row, finish.event);
  return change(tx, row, { status: "done", outcome }, finish.at);
}

/** If the agent still waits for the call, it reads the answer as its result; otherwise it gets a separate event. */
async function tell(tx: Tx, row: ApprovalTable, { answer, ...event }: ToldEvent): Promise<void> {
  const { thread, answers } = row;
  const call = answers === null ? undefined : await callLeftOpen(tx, owner(row), thread, answers);
  if (call?.state !== "open") return void (await addEvents(tx, owner(row), thread, [event]));
  const content = answer === undefined ? event.content : ([{ type: "text", text: answer.text }] as const);
  const failed = answer?.failed ? ({ failed: true } as const) : {};
  await addEvents(tx, owner(row), thread, [{ ...event, kind: ANSWER_KIND, content, answers: call.id, ...failed }]);
}

/** @throws StrataError `approval_not_found`, `approval_decided` */
async function inState(
  tx: Tx,
  scope: ContactScope,
  id: ApprovalId,
  state: "waiting" | "approved",
): Promise<ApprovalTable> {
  const row = await findApproval(tx, scope, id);
  if (!row) {
    throw NOT_FOUND.of(`approval ${id} is not in reach: list those that wait`, {
      approval: id,
    });
  }
  if (row.status === state) return row;
  const details = { approval: id, status: row.status };
  if (row.due === null) {
    throw ALREADY_DECIDED.of(notInState(id, row.status, state), details);
  }
  // Answered and closed questions are kept like calls that ran and that were denied.
  const was = row.status === "denied" ? "closed" : "answered";
  const when = row.decided_at === null ? "" : ` at ${isoSecond(row.decided_at)}`;
  const message = `the question ${id} was ${was}${when} already, so nothing was changed: \`strata escalation list\` shows those that are open`;
  throw ALREADY_DECIDED.of(message, details);
}

async function change(tx: Tx, row: ApprovalTable, columns: Change, at: number): Promise<Approval> {
  await noteDecision(tx, row, columns, at);
  await tx.run(
    query
      .updateTable("approval")
      .set(columns)
      .where((eb) => eb.and({ ...owner(row), id: row.id })),
  );
  return readApproval(tx, { ...row, ...columns });
}
