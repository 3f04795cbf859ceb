import type { ContactScope, DraftId, OrgId, Scope, ThreadId } from "../../protocol/index.ts";
import {
  type AgentOwner,
  atMost,
  below,
  type EndedTurn,
  type Finding,
  inOrder,
  linkedTable,
  newColumn,
  newTable,
  type OneTurn,
  owner,
  ownText,
  plain,
  problem,
  type StorePart,
  type Tx,
  within,
} from "../../store/index.ts";

import { decidedCases } from "./case-store.ts";
import {
  DRAFT,
  type Draft,
  type DraftActTable,
  type DraftFilter,
  type DraftTable,
  decideDraft,
  decidedAfter,
  decidedTurns,
  findDraft,
  insert,
  linkOf,
  query,
  read,
  sentBefore,
  type Verdict,
} from "./decision-store.ts";
import { draftsDerived, NEWER, retractDrafts } from "./retract-store.ts";

/** Replies that wait for a person. */
export const DRAFT_STORE = {
  name: "drafts",
  tables: {
    draft: { linked: "org agent contact id thread turn line piece trust at", derived: "status", volatile: "retracted" },
    draft_act: {
      linked: "agent thread draft verdict outbox position piece note by by_id at",
      derived: "org contact link",
    },
  },
  migrations: [
    {
      number: 36,
      name: "drafts",
      statements: [
        newTable("draft", {
          columns:
            "org text!, agent text!, contact text!, id text!, thread text!, turn text!, line text, piece text!, trust text!, at int!, status text!",
          key: "org, agent, contact, id",
          references: [
            "org, agent, contact, turn -> turn (org, agent, contact, id)",
            "org, agent, contact, piece -> piece (org, agent, contact, digest)",
          ],
        }),
        "create index draft_open on draft (org, agent, at, id) where status = 'open'",
        "create index draft_thread on draft (org, agent, contact, thread)",
        newTable("draft_act", {
          columns: `org text!, agent text!, contact text!, draft text!, thread text!, verdict text!, outbox text, position int, piece text, note text, by text!, by_id text, at int!, link int!`,
          key: "org, agent, contact, draft",
          references: ["org, agent, contact, draft -> draft (org, agent, contact, id)"],
        }),
        "create index draft_act_link on draft_act (org, link)",
      ],
    },
    { number: 46, name: "retracted drafts", statements: [newColumn("draft", "retracted", "int")] },
  ],
  functions: ({ reading, writing }) => ({
    /** Newest first. A scope with `contact: null` lists those of all contacts of the agent. */
    drafts: reading(drafts),
    draft: reading(draft),
    /**
     * Decides about an open draft: of two decisions, the second is refused. What is sent appears in the outbox, in the thread's history and
     * among the memories from then on.
     * @throws StrataError `draft_not_found`, `draft_decided`, `thread_not_found` when its contact was erased
     */
    decideDraft: writing(decideDraft),
    /** Reviewed drafts, in the order of the record after a link. */
    decidedAfter: reading(decidedAfter),
    /** The newest of them, with their turns. */
    decidedTurns: reading(decidedTurns),
    /** What was sent for which message. */
    decidedCases: reading(decidedCases),
    sentBefore: reading(sentBefore),
    /** How many wait on a thread. */
    openDrafts: reading(openDrafts),
    /** How many of an agent's wait that were written at that time or before. */
    waitingDrafts: reading(waitingDrafts),
  }),
  changes: { decideDraft: (scope: Scope, id: DraftId) => ({ kind: "draft", scope, ids: [id] }) },
  linked: {
    draft: linkedTable<DraftActTable>(
      "draft_act",
      ({ draft: id }) => `decision about ${id}`,
      async (tx, row) => {
        for (const piece of [row.piece, row.note]) if (piece !== null) await ownText(tx, row, piece);
        return linkOf(row);
      },
    ),
  },
  onCommit: keepDraft,
  inLink: async (tx, of, ending) => {
    if (ending !== undefined && (ending.done === undefined || DRAFT.of(ending.done.outcome) === undefined)) return {};
    const rows = await draftsOfTurn(tx, of);
    return rows.length === 0
      ? {}
      : { drafts: rows.map(({ id, thread, line, piece, trust, at }) => ({ id, thread, line, piece, trust, at })) };
  },
  named: async (tx, of) => (await draftsOfTurn(tx, of)).map(({ piece }) => piece),
  // Drafts, decisions and notes are pieces of the contact, which are blanked with all others.
  erase: async () => undefined,
  derived: draftsDerived,
  retract: retractDrafts,
  verify: checkStates,
} satisfies StorePart;

/** A newer draft for the same thread and line takes the place of the open one. */
async function keepDraft(tx: Tx, { scope, turn, done, report }: EndedTurn): Promise<void> {
  const left = done && DRAFT.of(done.outcome);
  if (done === undefined || left === undefined) return;
  const { id, text, line = null, trust } = left;
  const { thread } = done.claim;
  await tx.run(
    query
      .updateTable("draft")
      .set({ status: "superseded" })
      .where((eb) => eb.and({ ...owner(scope), thread: thread.id, status: "open" }))
      .where((eb) => (line === null ? eb("line", "is", null) : eb("line", "=", line))),
  );
  const piece = await done.keep(JSON.stringify(text));
  const { at } = done.outcome;
  await tx.run(
    insert("draft", {
      ...owner(scope),
      id,
      thread: thread.id,
      turn,
      line,
      piece,
      trust,
      at,
      status: "open",
      retracted: null,
    }),
  );
  const message = `→ a draft waits for a person: \`strata draft approve ${id}\`, \`draft edit\` or \`draft discard\``;
  report({ what: "draft", message, data: { draft: id } });
}

const draftsOfTurn = (tx: Tx, { turn, ...of }: OneTurn): Promise<readonly DraftTable[]> =>
  tx.all(
    query
      .selectFrom("draft")
      .selectAll()
      .where((eb) => eb.and({ ...owner(of), turn })),
  );

async function drafts(
  tx: Tx,
  scope: Scope,
  { status, thread, turn, after }: DraftFilter,
  limit: number,
): Promise<readonly Draft[]> {
  const wanted = { ...within(scope), ...(status && { status }), ...(thread && { thread }), ...(turn && { turn }) };
  const all = query
    .selectFrom("draft")
    .selectAll()
    .where((eb) => eb.and(wanted))
    .where("retracted", "is", null)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(atMost(limit));
  return inOrder(await tx.all(after ? all.where(below("at", "id", after)) : all), (row) => read(tx, row));
}

async function draft(tx: Tx, scope: Scope, id: DraftId): Promise<Draft | undefined> {
  const row = await findDraft(tx, scope, id);
  return row && read(tx, row);
}

const openDrafts = async (tx: Tx, scope: ContactScope, thread: ThreadId): Promise<number> =>
  (
    await tx.column(
      plain<number>(
        "select count(*) from draft where org = ? and agent = ? and contact = ? and thread = ? and status = 'open'",
        ...[scope.org, scope.agent, scope.contact, thread],
      ),
    )
  )[0] ?? 0;

const waitingDrafts = async (tx: Tx, { org, agent }: AgentOwner, until: number): Promise<number> =>
  (
    await tx.column(
      plain<number>(
        "select count(*) from draft where org = ? and agent = ? and status = 'open' and at <= ?",
        org,
        agent,
        until,
      ),
    )
  )[0] ?? 0;

/** A draft's status must follow from the decisions and from later drafts. */
async function checkStates(tx: Tx, org: OrgId): Promise<readonly Finding[]> {
  const odd = `select draft.id, draft.status, draft_act.verdict from draft left join draft_act
    on draft_act.org = draft.org and draft_act.agent = draft.agent and draft_act.contact = draft.contact and draft_act.draft = draft.id
    where draft.org = ? and draft.retracted is null and draft.status != coalesce(draft_act.verdict, case when exists (${NEWER}) then 'superseded' else 'open' end)`;
  const rows = await tx.all(plain<Pick<DraftTable, "id" | "status"> & { readonly verdict: Verdict | null }>(odd, org));
  return rows.map(({ id, status, verdict }) =>
    problem(
      `draft ${id}`,
      `it is marked as ${status}, but ${verdict === null ? "nobody decided so" : `the decision was ${verdict}`}`,
    ),
  );
}
