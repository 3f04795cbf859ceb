import {
  type ActorId,
  type ContactScope,
  canonicalJson,
  type Digest,
  type DoneBy,
  type DraftId,
  errorKind,
  type OutboxId,
  outcomePart,
  type Role,
  type Scope,
  type Spoken,
  StrataError,
  spoken,
  type ThreadId,
  type Trust,
  type TurnId,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import {
  type AgentOwner,
  type ArrivingEvent,
  addEvents,
  addLateReply,
  append,
  atMost,
  inOrder,
  keepOwn,
  openRow,
  owner,
  ownText,
  type Position,
  plain,
  scopeKey,
  type Tx,
  tables,
  toDoneBy,
  within,
} from "../../store/index.ts";

export const DRAFT_STATUSES = ["open", "superseded", "approved", "edited", "discarded"] as const;
export type DraftStatus = (typeof DRAFT_STATUSES)[number];
export type Verdict = Extract<DraftStatus, "approved" | "edited" | "discarded">;

/** A reply that was withheld; `piece` names its text. */
export interface DraftTable extends ContactScope {
  readonly id: DraftId;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly line: string | null;
  readonly piece: Digest;
  readonly trust: Trust;
  readonly at: number;
  readonly status: DraftStatus;
  /** By which retraction it is gone. */
  readonly retracted: number | null;
}

/** A decision about a draft: `piece` names what was sent, `note` why it was not. */
export interface DraftActTable extends ContactScope {
  readonly draft: DraftId;
  readonly thread: ThreadId;
  readonly verdict: Verdict;
  readonly outbox: OutboxId | null;
  readonly position: number | null;
  readonly piece: Digest | null;
  readonly note: Digest | null;
  readonly by: Role;
  readonly by_id: ActorId | null;
  readonly at: number;
  readonly link: number;
}

export const { query, insert } = tables<{ draft: DraftTable; draft_act: DraftActTable }>();

/** A reply that waits for a person, as a turn leaves it for its commit. */
export interface NewDraft {
  readonly id: DraftId;
  readonly text: Spoken;
  readonly line?: string;
  readonly trust: Trust;
}

export const DRAFT = outcomePart<NewDraft>();

/** A draft and its outcome. */
export interface Draft extends NewDraft {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly status: DraftStatus;
  readonly at: number;
  readonly decided?: DoneBy & {
    readonly at: number;
    readonly sent?: string;
    readonly note?: Untrusted;
    readonly outbox?: OutboxId;
  };
}

/** Which drafts to list; all by default. */
export interface DraftFilter {
  readonly status?: DraftStatus;
  readonly thread?: ThreadId;
  readonly turn?: TurnId;
  readonly after?: Position | undefined;
}

/** A reply on its way to the outbox: by which act, and with which text. */
interface QueuedReply extends Sending {
  readonly id: OutboxId;
  readonly channel: string;
}

/** A person's decision about a draft. The events inform the agent; all are committed together. */
export interface DraftDecision extends DoneBy {
  readonly verdict: Verdict;
  /** What is sent; absent if nothing is. */
  readonly sent?: {
    readonly text: string;
    readonly outbox: OutboxId;
    readonly channel: string;
    /** Puts it into the outbox, in the same transaction. */
    readonly queue: (tx: Tx, scope: ContactScope, reply: QueuedReply) => Promise<void>;
  };
  readonly note?: Untrusted;
  readonly events: readonly ArrivingEvent[];
  readonly at: number;
}

export const NOT_FOUND = errorKind("draft_not_found", {
  status: 404,
  exit: 3,
  retry: false,
  message: "no draft of that id is in reach",
});
export const DECIDED = errorKind("draft_decided", {
  status: 409,
  exit: 7,
  retry: false,
  message: "that draft is already decided, or a newer one took its place",
});

/** Names no contact, because an erasure removes the name. */
export const linkOf = ({
  agent,
  thread,
  draft,
  verdict,
  outbox,
  position,
  piece,
  note,
  by,
  by_id,
  at,
}: Omit<DraftActTable, "link">): string =>
  canonicalJson({ draft: { agent, thread, draft, verdict, outbox, position, piece, note, by, by_id, at } });

export async function findDraft(tx: Tx, scope: Scope, id: DraftId): Promise<DraftTable | undefined> {
  const wanted = { ...within(scope), id };
  return tx.first(
    query
      .selectFrom("draft")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
}

/** After a contact is erased, only what holds no text stays. */
export async function read(tx: Tx, row: DraftTable): Promise<Draft> {
  const { id, thread, turn, line, status, at } = row;
  const text = async (piece: Digest): Promise<string> => String(JSON.parse((await ownText(tx, row, piece)) ?? '""'));
  const [act] = await tx.all(
    query
      .selectFrom("draft_act")
      .selectAll()
      .where((eb) => eb.and({ ...owner(row), draft: id })),
  );
  const decided = act && {
    ...toDoneBy(act),
    at: act.at,
    ...(act.piece !== null && { sent: await text(act.piece) }),
    ...(act.note !== null && { note: untrusted(await text(act.note)) }),
    ...(act.outbox !== null && { outbox: act.outbox }),
  };
  return {
    id,
    scope: owner(row),
    thread,
    turn,
    text: spoken(await text(row.piece)),
    ...(line !== null && { line }),
    trust: row.trust,
    status,
    at,
    ...(decided && { decided }),
  };
}

/** Reviewed drafts of one agent, in the order of the record after a link. */
export async function decidedAfter(
  tx: Tx,
  { org, agent }: AgentOwner,
  link: number,
  limit: number,
): Promise<readonly (Draft & { readonly link: number })[]> {
  const acts = query
    .selectFrom("draft_act")
    .innerJoin("draft as of", (join) =>
      join
        .onRef("of.org", "=", "draft_act.org")
        .onRef("of.agent", "=", "draft_act.agent")
        .onRef("of.contact", "=", "draft_act.contact")
        .onRef("of.id", "=", "draft_act.draft"),
    )
    .selectAll("draft_act")
    .where("draft_act.org", "=", org)
    .where("draft_act.agent", "=", agent)
    .where("of.retracted", "is", null)
    .where("link", ">", link)
    .orderBy("link")
    .limit(atMost(limit));
  return inOrder(await tx.all(acts), async ({ link: at, ...act }) => {
    const row = await findDraft(tx, act, act.draft);
    if (row === undefined) throw new StrataError("record_broken", `draft ${act.draft} is decided, and is not there`);
    return { ...(await read(tx, row)), link: at };
  });
}

/** What was sent to a contact after decisions before this time, newest first; empty texts once the contact was erased. */
export async function sentBefore(
  tx: Tx,
  scope: ContactScope,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<readonly string[]> {
  const sent = `select piece from draft_act where org = ? and agent = ? and contact = ? and piece is not null and at < ? and ${LEFT}
    order by link desc limit ?`;
  const pieces = await tx.column(plain<Digest>(sent, scope.org, scope.agent, scope.contact, before, atMost(limit)));
  return inOrder(pieces, async (piece) => String(JSON.parse((await ownText(tx, scope, piece)) ?? '""')));
}

/** Of drafts that are not gone. */
export const LEFT = `not exists (select 1 from draft where draft.org = draft_act.org and draft.agent = draft_act.agent
  and draft.contact = draft_act.contact and draft.id = draft_act.draft and draft.retracted is not null)`;

/** The newest reviewed drafts, with their turns, but without text. */
export const decidedTurns = (
  tx: Tx,
  { org, agent }: AgentOwner,
  limit: number,
): Promise<readonly Pick<DraftTable, "id" | "turn" | "status">[]> =>
  tx.all(
    query
      .selectFrom("draft")
      .select(["id", "turn", "status"])
      .where((eb) => eb.and({ org, agent }))
      .where("status", "in", ["approved", "edited", "discarded"])
      .where("retracted", "is", null)
      .orderBy("at", "desc")
      .orderBy("id", "desc")
      .limit(atMost(limit)),
  );

export async function decideDraft(tx: Tx, scope: ContactScope, id: DraftId, decision: DraftDecision): Promise<Draft> {
  const row = await openDraft(tx, scope, id);
  const { thread, turn } = row;
  await openRow(tx, scope, thread);
  const { verdict, sent, note, events, by, byId, at } = decision;
  const key = await scopeKey(tx, scope);
  const keep = (text: string): Promise<Digest> => keepOwn(tx, scope, key, JSON.stringify(text));
  const piece = sent === undefined ? null : await keep(sent.text);
  const unsent = { outbox: null, position: null } as const;
  const out = sent && piece !== null ? await sendDraft(tx, scope, { thread, turn, act: id, piece, at }, sent) : unsent;
  const act = {
    ...owner(scope),
    draft: id,
    thread,
    verdict,
    ...out,
    piece,
    note: note === undefined ? null : await keep(note),
  };
  const done = { ...act, by, by_id: byId ?? null, at };
  const { seq: link } = await append(tx, scope.org, linkOf(done));
  await tx.run(insert("draft_act", { ...done, link }));
  await addEvents(tx, scope, thread, events);
  await inOrder(events, (event) => setAlong(tx, scope, event));
  await tx.run(
    query
      .updateTable("draft")
      .set({ status: verdict })
      .where((eb) => eb.and({ ...owner(scope), id })),
  );
  return read(tx, { ...row, status: verdict });
}

/** A draft's thread, and what is sent of it. */
interface Sending {
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly act: DraftId;
  readonly piece: Digest;
  readonly at: number;
}

async function sendDraft(
  tx: Tx,
  scope: ContactScope,
  of: Sending,
  { text, outbox: id, channel, queue }: NonNullable<DraftDecision["sent"]>,
) {
  await queue(tx, scope, { ...of, id, channel });
  const position = await addLateReply(tx, scope, { ...of, id, text });
  return { outbox: id, position };
}

/** The agent reads of it with the next message: no turn begins for it. */
const setAlong = (tx: Tx, scope: ContactScope, { id }: ArrivingEvent): Promise<void> =>
  tx.run(
    plain(
      "update event set status = 'along' where org = ? and agent = ? and contact = ? and id = ? and status = 'pending'",
      ...[scope.org, scope.agent, scope.contact, id],
    ),
  );

/** @throws StrataError `draft_not_found`, `draft_decided` */
async function openDraft(tx: Tx, scope: ContactScope, id: DraftId): Promise<DraftTable> {
  const row = await findDraft(tx, scope, id);
  if (!row)
    throw NOT_FOUND.of(`draft ${id} is not in reach: \`strata draft list\` shows those that wait`, { draft: id });
  if (row.status === "open") return row;
  const why = row.status === "superseded" ? "a newer draft took its place" : `it is ${row.status}`;
  throw DECIDED.of(`draft ${id} does not wait any more, because ${why}; nothing was changed`, {
    draft: id,
    status: row.status,
  });
}
