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
import { keepOwn, ownText, present, scopeKey } from "../record/pieces.ts";
import { toOutcome } from "../rows.ts";
import { insert, owner, plain, query } from "../statement.ts";
import type { JournalKey, JournalState } from "../store.ts";
import type { Row } from "../tables.ts";
import { batchMemberOf, batchMemberRows } from "../threads/batch-members.ts";
import { findThread, openRow } from "../threads/threads.ts";
import { inOrder, type Tx } from "../tx.ts";
import { foundTurn } from "./turns.ts";

/**
 * Records that a call is about to act, while its turn runs. Tool and input are part of the entry's identity: if a turn that runs again asks
 * for something else, that is another call, and the entry of the first one stays. So nothing that acted is forgotten, and nothing acts
 * twice, neither when an interrupted turn is taken up again nor when a failed one is repeated. A call in a turn of several senders has an
 * entry with each of them, without its result: so it is known whoever else is in the next turn.
 */
export async function beginCall(tx: Tx, scope: ContactScope, key: JournalKey, at: number): Promise<JournalState> {
  const name = await entryName(tx, scope, key);
  const parts = await partNames(tx, key);
  const known = (await findTogether(tx, name, key)) ?? (await findFailed(tx, name)) ?? (await findPart(tx, parts));
  if (known) return readJournalState(tx, await outcomeRow(tx, known, key));
  if ((await foundTurn(tx, scope, key.turn)).status !== "running") throw ended(key);
  for (const one of [name, ...parts])
    await tx.run(insert("journal", { ...one, begun_at: at, outcome: null, ended_at: null }));
  return { state: "new" };
}

/** The journal's entry for a call, even if its turn has ended; undefined if it made no such call. */
export async function recordedCall(tx: Tx, scope: ContactScope, key: JournalKey): Promise<JournalState | undefined> {
  const entry = await findEntry(tx, await entryName(tx, scope, key));
  return entry && readJournalState(tx, entry);
}

/** Records the result of a call. The first result is kept: an existing one is not replaced. */
export async function endCall(
  tx: Tx,
  scope: ContactScope,
  key: JournalKey,
  outcome: ToolOutcome,
  at: number,
): Promise<void> {
  const name = await entryName(tx, scope, key);
  const entry = await findEntry(tx, name);
  if (!entry) throw notBegun(key);
  if (entry.outcome !== null) return;
  const piece = await keepOwn(tx, scope, await scopeKey(tx, scope), JSON.stringify(outcome));
  await endEntry(tx, name, { outcome: piece, ended_at: at });
  for (const part of await partNames(tx, key)) await endEntry(tx, part, { ended_at: at });
}

async function endEntry(tx: Tx, name: EntryName, end: Partial<Row<"journal">>): Promise<void> {
  await tx.run(
    query
      .updateTable("journal")
      .set(end)
      .where((eb) => eb.and(name)),
  );
}

type EntryName = Pick<Row<"journal">, "org" | "agent" | "contact" | "thread" | "turn" | "ordinal" | "tool" | "input">;

/**
 * @throws StrataError `thread_not_found` for a thread out of scope or of an erased contact, `turn_not_found` for a turn of another thread
 */
async function entryName(tx: Tx, scope: ContactScope, key: JournalKey): Promise<EntryName> {
  const { thread, turn, ordinal, tool } = key;
  await openRow(tx, scope, thread);
  const row = await foundTurn(tx, scope, turn);
  if (row.thread !== thread) {
    throw new StrataError("turn_not_found", `turn ${turn} is not of thread ${thread}: name the thread it runs on`, {
      turn,
    });
  }
  return { ...owner(scope), thread, turn, ordinal, tool, input: await inputDigest(tx, scope, key) };
}

const inputDigest = async (tx: Tx, scope: ContactScope, { input }: Pick<JournalKey, "input">): Promise<Digest> =>
  keyedDigest(await scopeKey(tx, scope), canonicalJson(input));

/** The entries with which a call in a turn of several senders is known in each sender's own turn. */
const partNames = (tx: Tx, { senders = [], ...key }: JournalKey): Promise<readonly EntryName[]> =>
  inOrder(senders, ({ scope, thread, turn }) => entryName(tx, scope, { ...key, thread, turn }));

/** The same call for any of the senders: made in a turn with others, or in one of their own. */
async function findPart(tx: Tx, parts: readonly EntryName[]): Promise<Row<"journal"> | undefined> {
  for (const part of parts) {
    const entry = (await findEntry(tx, part)) ?? (await findFailed(tx, part));
    if (entry) return entry;
  }
  return undefined;
}

async function findEntry(tx: Tx, name: EntryName): Promise<Row<"journal"> | undefined> {
  return tx.first(
    query
      .selectFrom("journal")
      .selectAll()
      .where((eb) => eb.and(name)),
  );
}

/**
 * The same call in a failed turn about the same messages: it has acted, although its turn came to nothing. Such a turn has an event that
 * still waits. If the events were withdrawn or handled meanwhile, the call is not looked for, and a new event makes a new call. A completed
 * turn in between makes no difference: it may have had room for other events only.
 */
async function findFailed(tx: Tx, { turn: _, ...call }: EntryName): Promise<Row<"journal"> | undefined> {
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
    .where("event.status", "in", ["pending", "held", "along"])
    .where("turn.status", "=", "failed");
  return tx.first(
    query
      .selectFrom("journal")
      .selectAll()
      .where((eb) => eb.and(call))
      .where("turn", "in", failed)
      .orderBy("begun_at", "desc"),
  );
}

/**
 * The same call in a turn of several senders: in this one before it was interrupted, or in one that failed over messages that wait in this
 * one. Its result is used only if everyone for whom it was made is in this turn. Such turns have their own keys, so their inputs have their
 * own digests.
 */
async function findTogether(tx: Tx, name: EntryName, key: JournalKey): Promise<Row<"journal"> | undefined> {
  const { org, agent, thread } = name;
  const own = await findEntry(tx, name);
  if (own) return (await isForThese(tx, own, key)) ? own : { ...own, outcome: null };
  if (!isBatch(name)) return undefined;
  const earlier = await tx.all(plain<Earlier>(FAILED_TOGETHER, org, thread));
  for (const { batch, contact } of earlier.sort((a, b) => (a.batch < b.batch ? 1 : -1))) {
    const entry = await findCall(tx, { org, agent, contact }, batch, key);
    if (entry && (await isForThese(tx, entry, key))) return entry;
  }
  return undefined;
}

interface Earlier {
  readonly batch: ThreadId;
  readonly contact: ContactId;
}

/**
 * Turns of several senders that failed over messages which wait in this one. Read from this turn on, sender by sender; otherwise SQLite
 * would begin with every thread that was ever part of such a turn.
 */
const FAILED_TOGETHER = `select distinct staged.batch as batch, staged.batch_contact as contact
  from staged as now indexed by staged_batch cross join staged indexed by staged_sender on staged.org = now.org and staged.agent = now.agent and staged.contact = now.contact and staged.thread = now.thread
  join turn on turn.org = staged.org and turn.id = staged.turn and turn.status = 'failed'
  join turn_event on turn_event.org = turn.org and turn_event.agent = turn.agent and turn_event.contact = turn.contact
    and turn_event.turn = turn.id
  join event on event.org = turn_event.org and event.id = turn_event.event and event.status in ('pending', 'held', 'along')
  join thread on thread.org = staged.org and thread.id = staged.batch and thread.erased_link is null
  where now.org = ? and now.batch = ?`;

/**
 * Whether everybody for whom a call in a turn of several senders was made is among these senders. A call without recorded senders was made
 * for all of that turn.
 */
async function isForThese(tx: Tx, { org, thread }: EntryName, { senders, ...key }: JournalKey): Promise<boolean> {
  const all = (await batchMemberRows(tx, { org, id: thread })).flatMap((row) =>
    row.turn === null ? [] : { ...row, turn: row.turn },
  );
  const noted: typeof all = [];
  for (const one of all) {
    const { thread, turn, ...row } = one;
    if (await findEntry(tx, await entryName(tx, row, { ...key, thread, turn }))) noted.push(one);
  }
  const concerned = noted.length === 0 ? all : noted;
  return concerned.every((row) => senders?.some(({ thread }) => thread === row.thread));
}

/** For a sender's part of a call, the entry that has the result, if everybody for whom it was made is in this turn. */
async function outcomeRow(tx: Tx, entry: Row<"journal">, key: JournalKey): Promise<Row<"journal">> {
  if (entry.outcome !== null || entry.ended_at === null || isBatch(entry)) return entry;
  const part = await batchMemberOf(tx, entry, entry.turn);
  if (part === undefined) return entry;
  const { org, agent, batch, batch_contact: contact } = part;
  const whose = { org, agent, contact };
  // If one of the senders was erased, the result is not shown to anybody.
  if ((await findThread(tx, whose, batch))?.erased_link !== null) return entry;
  const whole = await findCall(tx, whose, batch, key);
  const { senders = [] } = key;
  const all = senders.length > 0 ? senders : [{ scope: whose, thread: key.thread, turn: key.turn }];
  return whole && (await isForThese(tx, whole, { ...key, senders: all })) ? whole : entry;
}

/** A call in a turn of several senders, by that turn's own identity. */
async function findCall(
  tx: Tx,
  whose: ContactScope,
  thread: ThreadId,
  key: JournalKey,
): Promise<Row<"journal"> | undefined> {
  const { ordinal, tool } = key;
  const call = { ...owner(whose), thread, ordinal, tool, input: await inputDigest(tx, whose, key) };
  return tx.first(
    query
      .selectFrom("journal")
      .selectAll()
      .where((eb) => eb.and(call)),
  );
}

async function readJournalState(tx: Tx, entry: Row<"journal">): Promise<JournalState> {
  if (entry.outcome === null) return { state: entry.ended_at === null ? "unknown" : "elsewhere" };
  const text = present(
    await ownText(tx, entry, entry.outcome),
    `the outcome of call ${entry.ordinal} of turn ${entry.turn}`,
  );
  return { state: "done", outcome: toOutcome(text) };
}

/** A worker that was overtaken must not act, because its result is no longer wanted. */
function ended({ turn, ordinal, tool }: JournalKey): StrataError {
  const message = `turn ${turn} has ended, so its call ${ordinal} (${tool}) must not act any more`;
  return new StrataError("lease_lost", `${message}: read the thread again`, { turn, ordinal, tool });
}

function notBegun({ turn, ordinal, tool }: JournalKey): StrataError {
  const message = `call ${ordinal} of turn ${turn} (${tool}) was never begun with this input, so it cannot end`;
  return new StrataError("invalid_input", `${message}: begin every call before it acts`, { turn, ordinal, tool });
}
