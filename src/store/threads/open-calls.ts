import { sql } from "kysely";
import {
  type CallId,
  type ContactScope,
  type StoredEvent,
  StrataError,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import type { AgentOwner } from "../agent-store.ts";
import type { NewOpenCall, OpenCall } from "../call-records.ts";
import type { Thread } from "../records.ts";
import { toOpenCall, toThread } from "../rows.ts";
import { fixed, insertAll, KEPT_ENDINGS, owner, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { openRow } from "./threads.ts";

/**
 * Calls whose answers come later. A turn that ends `waiting` leaves them open at the end of its transcript; the next turn that is kept
 * closes them all, each with its answer or with a sentence. `docs/decisions/0051-a-turn-that-waits.md` has the states in a table.
 */

/** The statuses of events that no turn has taken yet, in the words of the index that finds them. */
export const UNTAKEN = "status in ('pending', 'held', 'along')";

/** Calls of the thread that are neither answered nor cancelled. */
const UNANSWERED = `select 1 from open_call where open_call.org = event.org and open_call.agent = event.agent
  and open_call.contact = event.contact and open_call.thread = event.thread and open_call.state = 'open'`;

/** An event's role, judged by the open calls of its thread; `along` does not change. */
const STATUS = `case when exists (${UNANSWERED} and open_call.keeps = 1) or (answers is not null and exists (${UNANSWERED}))
  then 'held' else 'pending' end`;

/**
 * The one statement that decides what is due: an event is `pending` where a turn may begin for it, and `held` where its thread waits for
 * something else first. Every transaction that adds an event, or opens or closes a call, ends with it. `from`: the first event that
 * may have changed; where calls have, all.
 */
export const sortEvents = (tx: Tx, at: ContactScope & { readonly thread: ThreadId }, from = 0): Promise<number> =>
  tx.changed(plain(SORT, at.org, at.agent, at.contact, at.thread, from));

const SORT = `update event set status = ${STATUS}
  where org = ? and agent = ? and contact = ? and thread = ? and seq >= ? and status in ('held', 'pending') and status != ${STATUS}`;

/** The calls at the end of the thread's transcript, in their order: those that the next turn must give a result for. */
export async function callsAtEnd(tx: Tx, scope: ContactScope, thread: ThreadId): Promise<readonly OpenCall[]> {
  return (await tx.all(atEnd({ ...owner(scope), thread }))).map(toOpenCall);
}

const atEnd = fixed((at: ContactScope & { readonly thread: ThreadId }) =>
  query
    .selectFrom("open_call")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), thread: at.thread }))
    .where("state", "!=", sql.lit("closed"))
    .orderBy("position"),
);

/** The calls that a turn left open when it ended, in their order; whatever became of them since. */
export async function callsOfTurn(tx: Tx, scope: ContactScope, turn: TurnId): Promise<readonly OpenCall[]> {
  return (await tx.all(ofTurn({ ...owner(scope), turn }))).map(toOpenCall);
}

const ofTurn = fixed((at: ContactScope & { readonly turn: TurnId }) =>
  query
    .selectFrom("open_call")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), turn: at.turn }))
    .orderBy("position"),
);

/**
 * The calls that the next turn on this thread must give a result for. A fork without turns ends where its parent's turn did: that turn's
 * calls are the parent's, and are not answered here.
 */
export async function callsToAnswer(
  tx: Tx,
  row: Row<"thread">,
  calls: readonly OpenCall[],
): Promise<readonly OpenCall[]> {
  const { id, forked_turn: from } = row;
  if (from === null || calls.length > 0) return calls;
  const said = plain<object>(
    `select 1 from turn where org = ? and agent = ? and contact = ? and thread = ? and status ${KEPT_ENDINGS} limit 1`,
    ...[row.org, row.agent, row.contact, id],
  );
  if ((await tx.first(said)) !== undefined) return [];
  return (await callsOfTurn(tx, row, from)).map((call): OpenCall => ({ ...call, state: "closed" }));
}

/** Closes the calls at the end of the thread's transcript. Part of the commit of the turn that gave each a result. */
export async function closeCalls(
  tx: Tx,
  at: ContactScope & { readonly thread: ThreadId },
  turn: TurnId | null,
): Promise<void> {
  for (const { id } of await callsAtEnd(tx, at, at.thread)) {
    const closed = { state: "closed", closed_by: turn } as const;
    await tx.run(
      query
        .updateTable("open_call")
        .set(closed)
        .where((eb) => eb.and({ ...owner(at), id })),
    );
  }
}

/** Keeps what calls used of their run's limits, as their answers say. An answer that came too late says it of a call that is closed. */
export async function keepUsed(tx: Tx, scope: ContactScope, answers: readonly StoredEvent[]): Promise<void> {
  for (const { answers: id, used } of answers) {
    if (id === undefined || used === undefined) continue;
    await tx.run(
      query
        .updateTable("open_call")
        .set({ used: JSON.stringify(used) })
        .where((eb) => eb.and({ ...owner(scope), id })),
    );
  }
}

/** Leaves these calls open at the end of the thread's transcript. */
export async function openCalls(
  tx: Tx,
  at: ContactScope & { readonly thread: ThreadId; readonly turn: TurnId },
  calls: readonly NewOpenCall[],
): Promise<void> {
  const rows = calls.map(({ id, call, tool, waitsFor, keeps, due, reserved }, position): Row<"open_call"> => {
    const asked = { tool, waits_for: waitsFor, keeps: keeps ? 1 : 0, due: due ?? null };
    const limits = { reserved: reserved === undefined ? null : JSON.stringify(reserved), used: null };
    const state = { state: "open", closed_by: null } as const;
    return { ...owner(at), id, thread: at.thread, turn: at.turn, position, call, ...asked, ...limits, ...state };
  });
  await insertAll(tx, "open_call", rows);
}

/** A call that some turn of the thread left open, whatever became of it since. */
export async function callLeftOpen(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  id: CallId,
): Promise<OpenCall | undefined> {
  const found = query
    .selectFrom("open_call")
    .selectAll()
    .where((eb) => eb.and({ ...owner(scope), thread, id }));
  const row = await tx.first(found);
  return row && toOpenCall(row);
}

/** Updates the call that an arriving event answers; returns the event's status until it is sorted. Part of `addEvents`. */
export async function noteAnswer(
  tx: Tx,
  at: ContactScope & { readonly thread: ThreadId },
  id: CallId,
): Promise<"held" | "along"> {
  const whose = { ...owner(at), thread: at.thread, id };
  const known = await callLeftOpen(tx, at, at.thread, id);
  if (known === undefined) {
    const message = `${id} is no call that a turn of ${at.thread} left open; the turn's end, \`waiting\`, names those that are`;
    throw new StrataError("call_not_found", message, { call: id, thread: at.thread });
  }
  if (known.state === "open")
    await tx.run(
      query
        .updateTable("open_call")
        .set({ state: "answered" })
        .where((eb) => eb.and(whose)),
    );
  return known.state === "cancelled" ? "along" : "held";
}

/** The threads that answer open calls of this thread, of whatever agents; those that were opened first come first. */
export async function calledThreads(tx: Tx, scope: ContactScope, thread: ThreadId): Promise<readonly Thread[]> {
  const called = query
    .selectFrom("thread")
    .selectAll("thread")
    .innerJoin("open_call", (join) =>
      join.onRef("open_call.org", "=", "thread.org").onRef("open_call.id", "=", "thread.caller_call"),
    )
    .where("thread.org", "=", scope.org)
    .where("thread.contact", "=", scope.contact)
    .where("thread.caller_agent", "=", scope.agent)
    .where("thread.caller_thread", "=", thread)
    .where("thread.erased_link", "is", null)
    .where("open_call.state", "=", "open")
    .orderBy("thread.id");
  return (await tx.all(called)).map(toThread);
}

/** The agent's threads on which a run goes on: a turn is due that continues it, or that answers another turn's call. */
export async function dueRuns(tx: Tx, { org, agent }: AgentOwner): Promise<readonly Thread[]> {
  const due = `select thread.* from thread where thread.org = ? and thread.agent = ? and (thread.caller_call is not null or exists (
    select 1 from open_call where open_call.org = thread.org and open_call.agent = thread.agent and open_call.contact = thread.contact
    and open_call.thread = thread.id and open_call.state != 'closed')) and exists (
    select 1 from event where event.org = thread.org and event.agent = thread.agent and event.contact = thread.contact
    and event.thread = thread.id and event.status = 'pending') order by thread.id`;
  return (await tx.all(plain<Row<"thread">>(due, org, agent))).map(toThread);
}

/**
 * Ends the wait and the run: open calls are answered with the thread's next message, which begins a new run, and no turn begins for them.
 * An answer that is there goes along with that message. Returns the calls that were open.
 */
export async function cancelCalls(tx: Tx, scope: ContactScope, id: ThreadId): Promise<readonly OpenCall[]> {
  const row = await openRow(tx, scope, id);
  return cancelAtEnd(tx, { ...owner(row), thread: row.id });
}

/** The same as part of another transaction: the run that they belong to is over. */
export async function cancelAtEnd(
  tx: Tx,
  at: ContactScope & { readonly thread: ThreadId },
): Promise<readonly OpenCall[]> {
  const calls = await callsAtEnd(tx, at, at.thread);
  if (calls.length === 0) return [];
  for (const call of calls) {
    const whose = [at.org, at.agent, at.contact, at.thread];
    await tx.run(
      plain(
        `update event set status = 'along' where org = ? and agent = ? and contact = ? and thread = ? and answers = ? and ${UNTAKEN}`,
        ...whose,
        call.id,
      ),
    );
    await tx.run(
      query
        .updateTable("open_call")
        .set({ state: "cancelled" })
        .where((eb) => eb.and({ ...owner(at), id: call.id })),
    );
  }
  await sortEvents(tx, at);
  return calls.filter(({ state }) => state === "open");
}
