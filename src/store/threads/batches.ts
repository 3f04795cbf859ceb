import { sql } from "kysely";
import {
  type ContactId,
  type ContactScope,
  type EventId,
  isBatch,
  isKept,
  isReserved,
  type ThreadId,
} from "../../protocol/index.ts";
import type { AgentOwner } from "../agent-store.ts";
import type { Thread } from "../records.ts";
import { toThread } from "../rows.ts";
import { fixed, insert, owner, plain, query } from "../statement.ts";
import type { BatchOpening, Failures, Store, WaitingThread } from "../store.ts";
import type { Row } from "../tables.ts";
import { stopTurn } from "../turns/settle.ts";
import { inOrder, type Tx } from "../tx.ts";
import { keepBatchMembers, members } from "./batch-members.ts";
import { pending } from "./events.ts";
import { findThread, isWaiting, lease, newThread } from "./threads.ts";

/** Searches and opens in one write transaction: if two workers ask at once, the second finds what the first has opened. */
export async function openBatch(tx: Tx, of: AgentOwner, opening: BatchOpening): Promise<Thread | undefined> {
  const { now, alive } = opening;
  for (const row of await openBatches(tx, of)) {
    if (lease(row, { now, alive })) continue;
    const waiting = await inOrder(await members(tx, row), (member) => pending(tx, member, member.id));
    if (waiting.some(({ length }) => length > 0)) return toThread(row);
    await closeBatch(tx, row, opening.at);
  }
  const senders = await nextSenders(unheld(tx, of, opening), opening);
  const [first] = senders;
  return first && toThread(senders.length < 2 ? first : await addBatchMembers(tx, of, senders, opening));
}

/** All threads that wait, without opening anything. */
export async function waitingThreads(
  tx: Tx,
  of: AgentOwner,
  wish: Parameters<Store["waitingThreads"]>[1],
): Promise<readonly WaitingThread[]> {
  const interrupted = (
    await inOrder(await openBatches(tx, of), async (row) => {
      const staged = await members(tx, row);
      const first = (await inOrder(staged, (member) => pending(tx, member, member.id))).flat().map(({ id }) => id);
      const isHeld = lease(row, wish) !== undefined;
      return first.length === 0 ? [] : [{ row, isHeld, staged: staged.map(({ id }) => id), first: first.sort()[0] }];
    })
  ).flat();
  const staged = new Set(interrupted.flatMap((one) => one.staged));
  const free = interrupted.filter(({ isHeld }) => !isHeld).map(({ row, first }) => ({ row, first }));
  const alone: Pick<WaitingSender, "row" | "first">[] = [];
  for await (const { row, first } of unheld(tx, of, wish)) alone.push({ row, first });
  return [...free, ...alone.filter(({ row }) => !staged.has(row.id))].flatMap(({ row: { id, contact }, first }) =>
    first === undefined ? [] : [{ thread: id, contact, first }],
  );
}

/** A sender's thread on which something waits, since which message, and how many turns in a row failed. */
interface WaitingSender {
  readonly row: Row<"thread">;
  readonly first: EventId;
  readonly failed: number;
  /** A thread with open calls is taken alone. */
  readonly waits: boolean;
}

/** After this many failed turns in a row, a sender gets a turn alone. */
const FAILED_TOGETHER = 2;

/** The senders of the next turn; the search ends when it is full. */
async function nextSenders(
  all: AsyncIterable<WaitingSender>,
  { most, nameOf }: BatchOpening,
): Promise<readonly Row<"thread">[]> {
  const named = new Map<string, Row<"thread">>();
  for await (const { row, failed, waits } of all) {
    const name = nameOf(row.contact);
    const isApart = name !== "" && !named.has(name) && failed < FAILED_TOGETHER && !waits;
    // A sender who is indistinguishable from others, or who may be the reason for failures, waits until they are first, and then has a
    // separate turn.
    if (!isApart && named.size === 0) return [row];
    if (isApart) named.set(name, row);
    if (named.size >= most) break;
  }
  return [...named.values()];
}

/** Threads of several senders whose turn has not ended. */
const openBatches = async (tx: Tx, { org, agent }: AgentOwner): Promise<readonly Row<"thread">[]> =>
  (await tx.all(plain<Row<"thread">>(UNENDED, org, agent))).filter(isBatch);

/** Uses an index that has a row for each such turn. Without it, SQLite would read all that have ever ended. */
const UNENDED = `select * from thread indexed by thread_unended where org = ? and agent = ?
  and turns = 0 and erased_link is null and contact >= '~inbox:' and contact < '~inbox;' order by id`;

/** The messages were handled otherwise: an interrupted turn ends here, and one that never began leaves nothing. */
async function closeBatch(tx: Tx, row: Row<"thread">, at: number): Promise<void> {
  await stopTurn(tx, row, { at, message: "the turn was interrupted, and its messages were handled otherwise" });
  if (await tx.first(plain<object>("select id from turn where org = ? and thread = ?", row.org, row.id))) return;
  await tx.run(query.deleteFrom("staged").where((eb) => eb.and({ org: row.org, batch: row.id })));
  await tx.run(query.deleteFrom("thread").where((eb) => eb.and({ ...owner(row), id: row.id })));
}

/** Unheld threads; those that have waited longest come first. */
async function* unheld(
  tx: Tx,
  of: AgentOwner,
  opening: Pick<BatchOpening, "receivedBefore" | "except" | "rested" | "resting" | "now" | "alive">,
): AsyncGenerator<WaitingSender> {
  for (const { contact, thread, first } of await tx.all(plain<WaitingRow>(WAITING, of.org, of.agent))) {
    if (opening.receivedBefore !== undefined && first >= opening.receivedBefore) break;
    if (isReserved(contact)) continue;
    const row = await findThread(tx, { ...of, contact }, thread);
    const isFree =
      row?.erased_link === null &&
      !opening.except.includes(row.channel) &&
      !opening.resting?.has(row.id) &&
      !lease(row, opening);
    const failures = row && isFree ? await failuresOf(tx, row) : undefined;
    if (row === undefined || failures === undefined || opening.rested?.(failures) === false) continue;
    yield { row, first, failed: failures.count, waits: await isWaiting(tx, row) };
  }
}

/** How many of the thread's turns failed since one was completed. */
async function failuresOf(tx: Tx, row: Row<"thread">): Promise<Failures> {
  const ends = await tx.all(lastEnds({ ...owner(row), thread: row.id }));
  const done = ends.findIndex(isKept);
  return { count: done < 0 ? ends.length : done, at: ends[0]?.ended_at ?? 0 };
}

const NO_FAULT = ["turn_cancelled", "out_of_credits"] as const;

const lastEnds = fixed((at: ContactScope & { readonly thread: ThreadId }) =>
  query
    .selectFrom("turn")
    .select(["status", "ended_at"])
    .where((eb) => eb.and({ ...owner(at), thread: at.thread }))
    .where("status", "!=", sql.lit("running"))
    // A turn that was cancelled, or that could not be paid for, is not a failure. A sender who had no room beside others did not fail at
    // all.
    .where((eb) =>
      eb.or([
        eb("code", "is", null),
        eb(
          sql.ref<string>("code"),
          "not in",
          NO_FAULT.map((code) => sql.lit(code)),
        ),
      ]),
    )
    .orderBy("seq", "desc")
    .limit(sql.lit(10)),
);

interface WaitingRow {
  readonly contact: ContactId;
  readonly thread: ThreadId;
  readonly first: EventId;
}

/**
 * Uses an index that has a row for each waiting event; otherwise SQLite would read everything that was ever said. Sorted by id, because ids
 * are issued in the order in which messages arrive, while their times are what the channel claims.
 */
const WAITING = `select contact, thread, min(id) as first from event indexed by event_waiting
  where org = ? and agent = ? and status = 'pending' group by contact, thread order by first`;

async function addBatchMembers(
  tx: Tx,
  of: AgentOwner,
  senders: readonly Row<"thread">[],
  { id, contact, channel, version, at }: BatchOpening,
): Promise<Row<"thread">> {
  const row = newThread({ org: of.org, agent: of.agent, contact }, { id, channel, key: id, version, at });
  await tx.run(insert("thread", row));
  for (const sender of senders) await keepBatchMembers(tx, row, sender, null);
  return row;
}
