import {
  type ContactId,
  type ContactScope,
  canonicalJson,
  type Digest,
  isBatch,
  keyedDigest,
  StrataError,
  type ThreadId,
  type ToolOutcome,
} from "../../protocol/index.ts";
import type { JournalKey, JournalState } from "../journal-key.ts";
import { toOutcome } from "../rows.ts";
import { insert, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Connection } from "./connection.ts";
import { keepOwn, ownText, present, scopeKey } from "./pieces.ts";
import { owner } from "./scope.ts";
import { stagedIn, stagedRows } from "./staged.ts";
import { findThread, openRow } from "./threads.ts";
import { foundTurn } from "./turns.ts";

/**
 * Notes that a call is about to act, as long as its turn runs. The tool and its input are part of the entry's name: when a turn that is run again
 * asks for something else, that is another call, and the first one's entry stays. So nothing that acted is ever forgotten, and
 * nothing acts twice: neither when a turn is taken up again nor when it runs anew after it failed. A call of a turn of several
 * senders has an entry with each of them, without what came of it: whoever else is in the next turn, it is known there.
 */
export function beginCall(db: Connection, scope: ContactScope, key: JournalKey, at: number): JournalState {
  return db.write(() => {
    const name = entryName(db, scope, key);
    const parts = partNames(db, key);
    const known = findTogether(db, name, key) ?? findFailed(db, name) ?? findPart(db, parts);
    if (known) return stateOf(db, toldOf(db, known, key));
    if (foundTurn(db, scope, key.turn).status !== "running") throw ended(key);
    for (const one of [name, ...parts])
      db.run(insert("journal", { ...one, begun_at: at, outcome: null, ended_at: null }));
    return { state: "new" };
  });
}

/** Notes what came of it. The first word stands: an outcome that is there already is not replaced. */
export function endCall(db: Connection, scope: ContactScope, key: JournalKey, outcome: ToolOutcome, at: number): void {
  db.write(() => {
    const name = entryName(db, scope, key);
    const entry = findEntry(db, name);
    if (!entry) throw notBegun(key);
    if (entry.outcome !== null) return;
    const piece = keepOwn(db, scope, scopeKey(db, scope), JSON.stringify(outcome));
    endEntry(db, name, { outcome: piece, ended_at: at });
    for (const part of partNames(db, key)) endEntry(db, part, { ended_at: at });
  });
}

function endEntry(db: Connection, name: EntryName, end: Partial<Row<"journal">>): void {
  db.run(
    query
      .updateTable("journal")
      .set(end)
      .where((eb) => eb.and(name)),
  );
}

type EntryName = Pick<Row<"journal">, "org" | "agent" | "contact" | "thread" | "turn" | "ordinal" | "tool" | "input">;

/** @throws StrataError `thread_not_found` for a thread out of scope or whose contact was erased, `turn_not_found` for a turn of another */
function entryName(db: Connection, scope: ContactScope, key: JournalKey): EntryName {
  const { thread, turn, ordinal, tool } = key;
  openRow(db, scope, thread);
  const row = foundTurn(db, scope, turn);
  if (row.thread !== thread) {
    throw new StrataError("turn_not_found", `turn ${turn} is not of thread ${thread}: name the thread it runs on`, {
      turn,
    });
  }
  return { ...owner(scope), thread, turn, ordinal, tool, input: inputDigest(db, scope, key) };
}

const inputDigest = (db: Connection, scope: ContactScope, { input }: Pick<JournalKey, "input">): Digest =>
  keyedDigest(scopeKey(db, scope), canonicalJson(input));

/** The names under which a call of a turn of several is known in its senders' own. */
const partNames = (db: Connection, { senders = [], ...key }: JournalKey): readonly EntryName[] =>
  senders.map(({ scope, thread, turn }) => entryName(db, scope, { ...key, thread, turn }));

/** The same call for any of the senders: made in a turn with others, or in one of their own. */
function findPart(db: Connection, parts: readonly EntryName[]): Row<"journal"> | undefined {
  for (const part of parts) {
    const entry = findEntry(db, part) ?? findFailed(db, part);
    if (entry) return entry;
  }
  return undefined;
}

function findEntry(db: Connection, name: EntryName): Row<"journal"> | undefined {
  return db.first(
    query
      .selectFrom("journal")
      .selectAll()
      .where((eb) => eb.and(name)),
  );
}

/**
 * The same call of a turn that failed over what now runs again: it has acted, although its turn came to nothing. That is
 * a failed turn one of whose events still waits: what was taken back or handled meanwhile is asked for no more, and a new event
 * asks anew. A turn that was done since tells nothing of it: it may have had room for other events only.
 */
function findFailed(db: Connection, { turn: _, ...call }: EntryName): Row<"journal"> | undefined {
  const { org, agent, contact, thread } = call;
  const failed = query
    .selectFrom("turn_event")
    .innerJoin("event", (join) =>
      join.onRef("event.org", "=", "turn_event.org").onRef("event.id", "=", "turn_event.event"),
    )
    .innerJoin("turn", (join) => join.onRef("turn.org", "=", "turn_event.org").onRef("turn.id", "=", "turn_event.turn"))
    .select("turn_event.turn")
    .where("turn_event.org", "=", org)
    .where("turn_event.agent", "=", agent)
    .where("turn_event.contact", "=", contact)
    .where("event.thread", "=", thread)
    .where("event.status", "=", "pending")
    .where("turn.status", "=", "failed");
  return db.first(
    query
      .selectFrom("journal")
      .selectAll()
      .where((eb) => eb.and(call))
      .where("turn", "in", failed)
      .orderBy("begun_at", "desc"),
  );
}

/**
 * The same call of a turn of several senders: of this one as it was before it was interrupted, or of one that failed over messages
 * which wait in this one. What came of it is told where all for whom it was made are in this turn. Such turns have keys of their own,
 * so their inputs have digests of their own.
 */
function findTogether(db: Connection, name: EntryName, key: JournalKey): Row<"journal"> | undefined {
  const { org, agent, thread } = name;
  const own = findEntry(db, name);
  if (own) return isForThese(db, own, key) ? own : { ...own, outcome: null };
  if (!isBatch(name)) return undefined;
  const earlier = db.all(plain<Earlier>(FAILED_TOGETHER, org, thread));
  for (const { batch, contact } of earlier.sort((a, b) => (a.batch < b.batch ? 1 : -1))) {
    const entry = findCall(db, { org, agent, contact }, batch, key);
    if (entry && isForThese(db, entry, key)) return entry;
  }
  return undefined;
}

interface Earlier {
  readonly batch: ThreadId;
  readonly contact: ContactId;
}

/**
 * Turns of several that failed over messages which wait in this one. Read from this one on, sender by sender: SQLite would else begin
 * with all that was ever staged.
 */
const FAILED_TOGETHER = `select distinct staged.batch as batch, staged.batch_contact as contact
  from staged as now indexed by staged_batch cross join staged indexed by staged_sender on staged.org = now.org and staged.agent = now.agent and staged.contact = now.contact and staged.thread = now.thread
  join turn on turn.org = staged.org and turn.id = staged.turn and turn.status = 'failed'
  join turn_event on turn_event.org = turn.org and turn_event.agent = turn.agent and turn_event.contact = turn.contact
    and turn_event.turn = turn.id
  join event on event.org = turn_event.org and event.id = turn_event.event and event.status = 'pending'
  join thread on thread.org = staged.org and thread.id = staged.batch and thread.erased_link is null
  where now.org = ? and now.batch = ?`;

/** Whether all for whom a call of a turn of several was made are among these. One of before that was noted was made for all of them. */
function isForThese(db: Connection, { org, thread }: EntryName, { senders, ...key }: JournalKey): boolean {
  const all = stagedRows(db, { org, id: thread }).flatMap((row) =>
    row.turn === null ? [] : { ...row, turn: row.turn },
  );
  const noted = all.filter(({ thread, turn, ...row }) => findEntry(db, entryName(db, row, { ...key, thread, turn })));
  const concerned = noted.length === 0 ? all : noted;
  return concerned.every((row) => senders?.some(({ thread }) => thread === row.thread));
}

/** Of a sender's part of a call the entry that says what came of it, where all for whom it was made are in this turn. */
function toldOf(db: Connection, entry: Row<"journal">, key: JournalKey): Row<"journal"> {
  if (entry.outcome !== null || entry.ended_at === null || isBatch(entry)) return entry;
  const part = stagedIn(db, entry, entry.turn);
  if (part === undefined) return entry;
  const { org, agent, batch, batch_contact: contact } = part;
  const whose = { org, agent, contact };
  // What was said to an erased sender, too, is told nobody any more.
  if (findThread(db, whose, batch)?.erased_link !== null) return entry;
  const whole = findCall(db, whose, batch, key);
  const { senders = [] } = key;
  const all = senders.length > 0 ? senders : [{ scope: whose, thread: key.thread, turn: key.turn }];
  return whole && isForThese(db, whole, { ...key, senders: all }) ? whole : entry;
}

/** A call of a turn of several senders, in that turn's own name. */
function findCall(db: Connection, whose: ContactScope, thread: ThreadId, key: JournalKey): Row<"journal"> | undefined {
  const { ordinal, tool } = key;
  const call = { ...owner(whose), thread, ordinal, tool, input: inputDigest(db, whose, key) };
  return db.first(
    query
      .selectFrom("journal")
      .selectAll()
      .where((eb) => eb.and(call)),
  );
}

function stateOf(db: Connection, entry: Row<"journal">): JournalState {
  if (entry.outcome === null) return { state: entry.ended_at === null ? "unknown" : "elsewhere" };
  const text = present(ownText(db, entry, entry.outcome), `the outcome of call ${entry.ordinal} of turn ${entry.turn}`);
  return { state: "done", outcome: toOutcome(text) };
}

/** A worker that was overtaken must not act: what it would do is not asked for any more. */
function ended({ turn, ordinal, tool }: JournalKey): StrataError {
  const says = `turn ${turn} has ended, so its call ${ordinal} (${tool}) must not act any more`;
  return new StrataError("lease_lost", `${says}: read the thread again`, { turn, ordinal, tool });
}

function notBegun({ turn, ordinal, tool }: JournalKey): StrataError {
  const says = `call ${ordinal} of turn ${turn} (${tool}) was never begun with this input, so it cannot end`;
  return new StrataError("invalid_input", `${says}: begin every call before it acts`, { turn, ordinal, tool });
}
