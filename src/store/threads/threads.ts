import { sql } from "kysely";
import {
  type AgentName,
  type ContactScope,
  type Digest,
  isErased,
  type OrgId,
  type Scope,
  StrataError,
  type ThreadId,
} from "../../protocol/index.ts";
import type { AgentOwner } from "../agent-store.ts";
import { keepShared, sharedText, textOf } from "../record/pieces.ts";
import type { ClaimRequest, Paging, Slot, Thread, ThreadChoice, ThreadMove, ThreadOpening } from "../records.ts";
import { toThread } from "../rows.ts";
import { toSlot } from "../slot-rows.ts";
import { atMost, below, fixed, insert, owner, plain, query, within } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";

/** Keeps a version's declaration; the first one stays. */
export async function saveAgentVersion(
  tx: Tx,
  org: OrgId,
  agent: AgentName,
  version: Digest,
  spec: string,
  at: number,
): Promise<void> {
  const row = { org, agent, version, piece: await keepShared(tx, org, spec), at };
  await tx.run(
    query
      .insertInto("agent_version")
      .values(row)
      .onConflict((on) => on.columns(["org", "agent", "version"]).doNothing()),
  );
}

/** A version's stored declaration. */
export async function agentVersion(tx: Tx, org: OrgId, agent: AgentName, version: Digest): Promise<string | undefined> {
  const wanted = { org, agent, version };
  const found = query
    .selectFrom("agent_version")
    .select("piece")
    .where((eb) => eb.and(wanted));
  const row = await tx.first(found);
  return row && (await sharedText(tx, org, row.piece));
}

/** The last stored declaration of each agent of the organization, except these. */
export async function lastVersions(
  tx: Tx,
  org: OrgId,
  except: readonly AgentName[],
): Promise<readonly { readonly agent: AgentName; readonly version: Digest; readonly spec: string }[]> {
  const all = query.selectFrom("agent_version").select(["agent", "version", "piece"]).where("org", "=", org);
  const last = new Map((await tx.all(all.orderBy("at"))).map((row) => [row.agent, row]));
  const wanted = [...last.values()].filter(({ agent }) => !except.includes(agent));
  const specs = await inOrder(wanted, async ({ agent, version, piece }) => ({
    agent,
    version,
    spec: await sharedText(tx, org, piece),
  }));
  return specs.flatMap(({ spec, ...of }) => (spec === undefined ? [] : [{ ...of, spec }]));
}

/** Looks and makes in one write transaction, so of two openers one waits and then finds the other's thread. */
export const openThread = async (tx: Tx, scope: ContactScope, opening: ThreadOpening): Promise<Thread> =>
  toThread(await openedRow(tx, scope, opening));

/** Its row. */
export async function openedRow(tx: Tx, scope: ContactScope, opening: ThreadOpening): Promise<Row<"thread">> {
  const { channel, key, parent } = opening;
  if (parent !== undefined) await openRow(tx, scope, parent);
  const known = await tx.first(rowNamed({ ...owner(scope), channel, key }));
  if (known) return repinned(tx, known, opening);
  const row = newThread(scope, opening);
  await tx.run(insert("thread", row));
  return row;
}

/** The open thread of that name. */
export async function threadNamed(
  tx: Tx,
  scope: ContactScope,
  { channel, key }: Pick<ThreadOpening, "channel" | "key">,
): Promise<Thread | undefined> {
  const row = await tx.first(rowNamed({ ...owner(scope), channel, key }));
  return row && toThread(row);
}

/**
 * How many threads of the agent, not opened by other agents, have had something happen since then, or wait for a turn or an answer;
 * and of those that wait for nothing and were not warned last, the one on which nothing has happened for the longest time.
 */
export async function liveThreads(
  tx: Tx,
  { org, agent }: AgentOwner,
  since: number,
): Promise<{ readonly count: number; readonly oldest?: Thread }> {
  const recent = query
    .selectFrom("thread")
    .where((eb) => eb.and({ org, agent }))
    .where("caller_call", "is", null)
    .where("erased_link", "is", null)
    .where("last_activity", ">", since);
  const counted = await tx.first(recent.select((eb) => eb.fn.countAll<number>().as("n")));
  const busy = await tx.first(plain<{ readonly n: number }>(BUSY_BEFORE, org, agent, org, agent, org, agent, since));
  const resting = recent
    .where("holder", "is", null)
    .where(sql<boolean>`not exists (${sql.raw(WAITING)})`)
    .where(sql<boolean>`not exists (${sql.raw(WARNED_LAST)})`);
  const row = await tx.first(resting.selectAll().orderBy("last_activity").orderBy("id").limit(1));
  return { count: Number(counted?.n ?? 0) + Number(busy?.n ?? 0), ...(row && { oldest: toThread(row) }) };
}

/**
 * Threads on which nothing has come after a warning of the platform: `open` if it came later than `before`; else `over`, unless it still
 * waits for its turn, or nothing has happened since `since`.
 */
export async function warnedThreads(
  tx: Tx,
  { org, agent }: AgentOwner,
  { since, before }: { readonly since: number; readonly before: number },
): Promise<{ readonly open: number; readonly over: number }> {
  const row = await tx.first(
    plain<{ readonly open: number; readonly over: number }>(WARNED, org, agent, before, org, agent, since, before),
  );
  return { open: Number(row?.open ?? 0), over: Number(row?.over ?? 0) };
}

/** A warning after which nothing has come, of a thread in the query around it. */
const WARNED_LAST = `select 1 from event as warned where warned.org = thread.org and warned.agent = thread.agent
  and warned.contact = thread.contact and warned.thread = thread.id and warned.kind = 'warning'
  and not exists (select 1 from event as later where later.org = warned.org and later.agent = warned.agent
    and later.contact = warned.contact and later.thread = warned.thread and later.seq > warned.seq
    and later.status != 'withdrawn')`;

const OWN = "thread.caller_call is null and thread.erased_link is null";

/** The first by its warnings, for it may have been warned long after it was last active; the second by thread, for its turn may have come late. */
const WARNED = `select
  (select count(*) from event join thread on thread.org = event.org and thread.agent = event.agent
      and thread.contact = event.contact and thread.id = event.thread and ${OWN}
    where event.org = ? and event.agent = ? and event.kind = 'warning' and event.at > ?
    and exists (${WARNED_LAST} and warned.seq = event.seq)) as open,
  (select count(*) from thread where thread.org = ? and thread.agent = ? and thread.last_activity > ? and ${OWN}
    and exists (${WARNED_LAST} and warned.at <= ? and warned.status != 'pending')) as over`;

/** By what waits, not by thread: those that are over are many. */
const BUSY_BEFORE = `select count(*) as n from thread
  join (select contact, thread from open_call where org = ? and agent = ? and state != 'closed'
    union select contact, thread from event where org = ? and agent = ? and status = 'pending') as busy
  on thread.contact = busy.contact and thread.id = busy.thread
  where org = ? and agent = ? and last_activity <= ? and caller_call is null and erased_link is null`;

const WAITING = `select 1 from open_call as waits where waits.org = thread.org and waits.agent = thread.agent
  and waits.contact = thread.contact and waits.thread = thread.id and waits.state != 'closed'
  union all select 1 from event as waits where waits.org = thread.org and waits.agent = thread.agent
  and waits.contact = thread.contact and waits.thread = thread.id and waits.status = 'pending'`;

const rowNamed = fixed((at: ContactScope & Pick<Row<"thread">, "channel" | "key">) =>
  query
    .selectFrom("thread")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), channel: at.channel, key: at.key }))
    .where("erased_link", "is", null),
);

/** A thread that has no epoch yet has sent nothing: it takes the newest version, like a new one. A fork has its parent's. */
async function repinned(tx: Tx, known: Row<"thread">, { version }: ThreadOpening): Promise<Row<"thread">> {
  const begun = known.holder !== null || known.turns > 0 || known.forked_thread !== null;
  return begun ? known : await pinned(tx, known, version);
}

/** The thread, pinned to that version from now on; to its own if none is named. */
export async function pinned(tx: Tx, known: Row<"thread">, version = known.version): Promise<Row<"thread">> {
  if (known.version === version) return known;
  const wanted = { ...owner(known), id: known.id };
  await tx.run(
    query
      .updateTable("thread")
      .set({ version })
      .where((eb) => eb.and(wanted)),
  );
  return { ...known, version };
}

/** The same, unless a turn runs on it. */
export async function moveThread(tx: Tx, scope: ContactScope, id: ThreadId, move: ThreadMove): Promise<Thread> {
  const row = await openRow(tx, scope, id);
  if (row.version !== move.version && (await isInRun(tx, row))) {
    const sentence = `${id} waits for the answer to a call, and its run keeps the version it began with`;
    throw new StrataError(
      "thread_busy",
      `${sentence}; try again when it is answered, or take the thread out of the wait with \`strata thread cancel ${id}\``,
      { thread: id },
    );
  }
  if (lease(row, move) === undefined) return toThread(await pinned(tx, row, move.version));
  const message = `a turn is running on ${id}; try again when it has ended, or cancel it with \`strata thread cancel ${id}\``;
  throw new StrataError("thread_busy", message, { thread: id });
}

type WhichThread = Pick<Row<"thread">, "org" | "agent" | "contact" | "id">;

/** Whether calls at the end of the thread's transcript need a result before all else. */
export const isWaiting = (tx: Tx, row: WhichThread): Promise<boolean> => hasCall(tx, row, "state != 'closed'");

/** The same, if their answers are waited for: the thread's next turn continues a run. */
export const isInRun = (tx: Tx, row: WhichThread): Promise<boolean> =>
  hasCall(tx, row, "state in ('open', 'answered')");

async function hasCall(tx: Tx, { org, agent, contact, id }: WhichThread, which: string): Promise<boolean> {
  const found = `select 1 from open_call where org = ? and agent = ? and contact = ? and thread = ? and ${which} limit 1`;
  return (await tx.first(plain<object>(found, org, agent, contact, id))) !== undefined;
}

/** The row of a thread that is opened. */
export function newThread(scope: ContactScope, opening: ThreadOpening): Row<"thread"> {
  const { id, channel, key, version, at, forkedFrom, caller, parties } = opening;
  return {
    ...owner(scope),
    id,
    channel,
    key,
    version,
    forked_thread: forkedFrom?.thread ?? null,
    forked_turn: forkedFrom?.turn ?? null,
    created_at: at,
    last_activity: at,
    turns: 0,
    fence: 0,
    holder: null,
    lease_until: null,
    erased_link: null,
    stop_fence: null,
    caller_thread: caller?.thread ?? null,
    caller_agent: caller?.agent ?? null,
    caller_call: caller?.call ?? null,
    initiator: parties?.initiator ?? null,
    target: parties?.target ?? null,
  };
}

/** A thread in scope. */
export async function thread(tx: Tx, scope: Scope, id: ThreadId): Promise<Thread | undefined> {
  const row = await findThread(tx, scope, id);
  return row && toThread(row);
}

/** Threads in scope, the newest activity first. */
export async function threads(
  tx: Tx,
  scope: Scope,
  limit: number,
  { channel, key, except = [], after, isDue }: ThreadChoice = {},
): Promise<readonly Thread[]> {
  const wanted = {
    ...within(scope),
    ...(channel !== undefined && { channel }),
    ...(key !== undefined && { key }),
  };
  const those = query
    .selectFrom("thread")
    .selectAll()
    .where((eb) => eb.and(wanted));
  const beyond = after ? those.where(below("last_activity", "id", after)) : those;
  const due = query
    .selectFrom("event")
    .select("thread")
    .where((eb) => eb.and(within(scope)))
    .where("status", "=", sql.lit("pending"));
  const asked = isDue ? beyond.where("id", "in", due) : beyond;
  const recent = (except.length === 0 ? asked : asked.where("channel", "not in", except))
    .orderBy("last_activity", "desc")
    .orderBy("id", "desc")
    .limit(atMost(limit));
  return (await tx.all(recent)).map(toThread);
}

/** The row of a thread in scope. */
export async function findThread(tx: Tx, scope: Scope, id: ThreadId): Promise<Row<"thread"> | undefined> {
  const { contact } = scope;
  if (contact !== null) return tx.first(threadOf({ ...scope, contact, id }));
  const wanted = { ...within(scope), id };
  return tx.first(
    query
      .selectFrom("thread")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
}

const threadOf = fixed((at: ContactScope & { readonly id: ThreadId }) =>
  query
    .selectFrom("thread")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

/** The row of a thread in scope that can still take events. @throws StrataError `thread_not_found` */
export async function openRow(tx: Tx, scope: ContactScope, id: ThreadId): Promise<Row<"thread">> {
  const row = (await findThread(tx, scope, id)) ?? (await erasedThread(tx, scope, id));
  if (row && row.erased_link === null) return row;
  const why = row ? "was closed when its contact's data was erased" : "is not in reach";
  throw new StrataError("thread_not_found", `thread ${id} ${why}: open a thread for this contact and use its id`, {
    thread: id,
  });
}

/** A thread of a contact who was erased: its id is all that still leads there. */
async function erasedThread(tx: Tx, { org, agent }: ContactScope, id: ThreadId): Promise<Row<"thread"> | undefined> {
  const row = await findThread(tx, { org, agent, contact: null }, id);
  return row && isErased(row.contact) ? row : undefined;
}

/** The slots of a thread, with their texts, and between whom the thread is. */
export const slotsOf = (scope: ContactScope, id: ThreadId) =>
  query
    .selectFrom("slot")
    .innerJoin("thread", (join) =>
      join
        .onRef("thread.org", "=", "slot.org")
        .onRef("thread.agent", "=", "slot.agent")
        .onRef("thread.contact", "=", "slot.contact")
        .onRef("thread.id", "=", "slot.thread"),
    )
    .selectAll("slot")
    .select(["thread.initiator", "thread.target"])
    .select(textOf("slot").as("text"))
    .where("slot.org", "=", scope.org)
    .where("slot.agent", "=", scope.agent)
    .where("slot.contact", "=", scope.contact)
    .where("slot.thread", "=", id)
    .where("slot.retracted", "is", null);

/** A thread's pure history, in order. */
export async function slots(tx: Tx, scope: ContactScope, id: ThreadId, page?: Paging): Promise<readonly Slot[]> {
  const ordered = slotsOf(scope, id).orderBy("slot.position");
  const beyond = page?.after ? ordered.where("slot.position", ">", page.after.at) : ordered;
  return (await tx.all(page ? beyond.limit(atMost(page.limit)) : beyond)).map(toSlot);
}

/** Who holds the thread, if the lease still counts. The asker's own counts too: one holder may run two tasks at once. */
export function lease(
  row: Row<"thread">,
  request: Pick<ClaimRequest, "now" | "alive">,
): { holder: string; until: number } | undefined {
  const { holder, lease_until: until } = row;
  if (holder === null || until === null || until <= request.now) return undefined;
  return request.alive(holder) ? { holder, until } : undefined;
}
