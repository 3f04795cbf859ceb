import { sql } from "kysely";
import {
  type ContactScope,
  canonicalJson,
  type EventId,
  type StoredEvent,
  StrataError,
  type ThreadId,
} from "../../protocol/index.ts";
import { keepOwn, scopeKey, textOf } from "../record/pieces.ts";
import type { ArrivingEvent, Posted, ThreadOpening } from "../records.ts";
import { type EventText, toEvent, toThread, wordsOf } from "../rows.ts";
import { fixed, insert, ONE, owner, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { type AlsoStored, inOrder, type Tx } from "../tx.ts";
import { isSpent } from "./erased-ids.ts";
import { noteAnswer, sortEvents, UNTAKEN } from "./open-calls.ts";
import { openedRow, openRow } from "./threads.ts";
import { COUNTED, checkRoom } from "./waiting-limit.ts";

/** Stores what is not known yet, in order, and gives all as stored. */
export async function receive(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  events: readonly ArrivingEvent[],
  also?: AlsoStored,
): Promise<readonly StoredEvent[]> {
  return (await receiveOn(tx, scope, thread, events, also)).stored;
}

/** The same, and gives the thread's row as it is then. */
export async function receiveOn(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  events: readonly ArrivingEvent[],
  also?: AlsoStored,
): Promise<ReceivedOn> {
  const [row, before] = await Promise.all([openRow(tx, scope, thread), beforeEvents(tx, scope, thread)]);
  return addIfRoom(tx, scope, row, { events, before, also });
}

/** The same on the thread that the opening names, created if missing. */
export async function openAndReceive(
  tx: Tx,
  scope: ContactScope,
  opening: ThreadOpening,
  events: readonly ArrivingEvent[],
  also?: AlsoStored,
): Promise<Posted> {
  const row = await openedRow(tx, scope, opening);
  const before = await beforeEvents(tx, scope, row.id);
  const { row: now, stored } = await addIfRoom(tx, scope, row, { events, before, also });
  return { thread: toThread(now), events: stored };
}

interface ReceivedOn {
  readonly row: Row<"thread">;
  readonly stored: readonly StoredEvent[];
}

async function addIfRoom(tx: Tx, scope: ContactScope, row: Row<"thread">, adding: Adding): Promise<ReceivedOn> {
  const { stored, newest, isSaid, waiting } = await addTo(tx, scope, row, adding);
  if (isSaid) checkRoom(scope, waiting);
  return { row: { ...row, last_activity: newest }, stored };
}

/**
 * Events that the platform adds inside a write transaction: a call's result, or a question to another agent. They are accepted however many
 * messages of the contact wait, because they report what has already happened.
 */
export async function addEvents(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  events: readonly ArrivingEvent[],
): Promise<readonly StoredEvent[]> {
  const [row, before] = await Promise.all([openRow(tx, scope, thread), beforeEvents(tx, scope, thread)]);
  return (await addTo(tx, scope, row, { events, before })).stored;
}

/** The contact's key, and the state of a thread to which events are added: queried together with the thread. */
async function beforeEvents(tx: Tx, scope: ContactScope, thread: ThreadId) {
  const [key, state] = await Promise.all([scopeKey(tx, scope), lastAndWaiting(tx, scope, thread)]);
  return { key, ...state };
}

interface Adding {
  readonly events: readonly ArrivingEvent[];
  readonly before: Awaited<ReturnType<typeof beforeEvents>>;
  readonly also?: AlsoStored | undefined;
}

/** `isSaid`: a contact has said something that was not known yet. `waiting`: how many of the contact's messages wait now, of those that are counted. */
interface Added {
  readonly stored: readonly StoredEvent[];
  readonly newest: number;
  readonly isSaid: boolean;
  readonly waiting: number;
}

async function addTo(
  tx: Tx,
  scope: ContactScope,
  row: Row<"thread">,
  { events, before: { key, last, waited, isOpen }, also }: Adding,
): Promise<Added> {
  const thread = row.id;
  let seq = last;
  const added = await inOrder(
    events,
    async (event) =>
      (await knownEvent(tx, scope, event)) ?? (await addEvent(tx, scope, { event, thread, key, seq: ++seq })),
  );
  // An answer may end the wait for those before it.
  const isAnswered = added.some((event) => event.seq > last && event.answers !== undefined);
  const sorted =
    seq > last && (isOpen || isAnswered)
      ? await sortEvents(tx, { ...owner(scope), thread }, isAnswered ? 0 : last + 1)
      : 0;
  const stored = await inOrder(added, async (event) =>
    sorted > 0 && event.seq > last
      ? { ...event, status: (await statusOf(tx, scope, event.id)) ?? event.status }
      : event,
  );
  const isSaid = added.some((event) => event.seq > last && event.trust === "contact" && event.answers === undefined);
  const fresh = stored.flatMap(({ id }) => (events.some((event) => event.id === id) ? id : []));
  if (fresh.length > 0) await also?.(tx, scope, thread, fresh);
  const newest = Math.max(row.last_activity, ...stored.map((event) => event.at));
  await tx.run(activeThread({ ...owner(scope), thread, newest }));
  return { stored, newest, isSaid, waiting: waited + seq - last };
}

const statusOf = async (tx: Tx, scope: ContactScope, id: EventId): Promise<StoredEvent["status"] | undefined> =>
  (await tx.first(statusAt({ ...owner(scope), id })))?.status;

const statusAt = fixed((at: ContactScope & { readonly id: EventId }) =>
  query
    .selectFrom("event")
    .select("status")
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

const activeThread = fixed((at: InThread & { readonly newest: number }) =>
  query
    .updateTable("thread")
    .set({ last_activity: at.newest })
    .where((eb) => eb.and({ ...owner(at), id: at.thread })),
);

/** The newest event's place on the thread, how many of the contact's messages wait for the agent, and whether a call is open on the thread. */
async function lastAndWaiting(tx: Tx, { org, agent, contact }: ContactScope, thread: ThreadId) {
  const at = [org, agent, contact];
  const row = await tx.first(
    plain<{ readonly last: number | null; readonly waiting: number; readonly open: string | null }>(
      LAST_AND_WAITING,
      ...[...at, thread, ...at, ...at, thread],
    ),
  );
  return { last: row?.last ?? 0, waited: row?.waiting ?? 0, isOpen: (row?.open ?? null) !== null };
}

const LAST_AND_WAITING = `select
  (select max(seq) from event where org = ? and agent = ? and contact = ? and thread = ?) as last,
  (select count(*) from (select 1 from event where org = ? and agent = ? and contact = ? and ${UNTAKEN} limit ${COUNTED}) as few) as waiting,
  (select id from open_call where org = ? and agent = ? and contact = ? and thread = ? and state = 'open' limit 1) as open`;

/**
 * Known only inside the contact: another's event of the same id must neither be shown nor swallow this one. So it is with proof:
 * whoever only claims to be the sender could else take an id first, and what the sender signs under it would be lost.
 */
async function knownEvent(tx: Tx, scope: ContactScope, event: ArrivingEvent): Promise<StoredEvent | undefined> {
  const { externalId, proof } = event;
  if (externalId === undefined) return undefined;
  if (proof === "proven") return knownSigned(tx, scope, { ...event, externalId });
  return knownUnsigned(tx, scope, { ...event, externalId });
}

type Named = ArrivingEvent & { readonly externalId: string };

/**
 * An id identifies one message, with its kind and trust: reusing it for a different one is the channel's mistake, and the new message would
 * be lost silently.
 */
async function knownUnsigned(tx: Tx, scope: ContactScope, event: Named): Promise<StoredEvent | undefined> {
  const { externalId, kind, trust, channel, content } = event;
  const row = await tx.first(unsignedEvent({ ...owner(scope), channel, externalId }));
  // A retracted message does not come back because its channel sends it again.
  const retracted = row ?? (await tx.first(retractedEvent({ ...owner(scope), channel, externalId })));
  if (retracted !== undefined && retracted.retracted !== null) return toEvent(retracted);
  if (row === undefined || row.text === null) return undefined;
  const known = toEvent(row);
  const isSame = known.kind === kind && known.trust === trust;
  if (isSame && canonicalJson(known.content) === canonicalJson(content)) return known;
  if (event.answers !== undefined) {
    const message = `${event.answers} was answered differently before, by ${known.id}: what the agent has read cannot be changed; send what is new as a message`;
    throw new StrataError("call_answered", message, { call: event.answers, event: known.id });
  }
  const sentence = `the id ${JSON.stringify(externalId)} of ${scope.contact} on ${channel} belongs to another message, which was stored as ${known.id}`;
  const details = { contact: scope.contact, id: externalId, event: known.id };
  throw new StrataError("invalid_input", `${sentence}: send this one with another external id`, details);
}

/** The same for one id that was erased before erasing did so. */
async function freeErasedId(tx: Tx, scope: ContactScope, { externalId, channel, proof }: ArrivingEvent): Promise<void> {
  if (externalId === undefined || proof === "proven") return;
  const row = await tx.first(unsignedEvent({ ...owner(scope), channel, externalId }));
  if (row?.text !== null) return;
  const erased = { ...owner(scope), id: row.id };
  await tx.run(
    query
      .updateTable("event")
      .set({ external_id: null })
      .where((eb) => eb.and(erased)),
  );
}

/**
 * A signature counts once, whatever the channel: a copy could be sent again after its message was taken back. Its id identifies the signed
 * text, and does not answer another one.
 */
async function knownSigned(
  tx: Tx,
  scope: ContactScope,
  { externalId, content }: Named,
): Promise<StoredEvent | undefined> {
  const row = await tx.first(signedEvent({ ...owner(scope), externalId }));
  if (row === undefined && (await isSpent(tx, scope, externalId))) throw signedBefore(scope, externalId, "was erased");
  if (row === undefined) return undefined;
  if (row.status === "withdrawn") throw signedBefore(scope, externalId, "was taken back");
  if (row.text === null) throw signedBefore(scope, externalId, "was erased");
  const known = toEvent(row);
  if (wordsOf(known.content) !== wordsOf(content)) throw signedBefore(scope, externalId, "said something else");
  return known;
}

const signedEvent = fixed((at: ContactScope & { readonly externalId: string }) =>
  eventsOf(at).where("event.external_id", "=", at.externalId).where("event.proof", "=", sql.lit("proven")),
);

function signedBefore({ contact }: ContactScope, id: string, what: string): StrataError {
  const sentence = `the signed message ${JSON.stringify(id)} of ${contact} ${what}, and a signature counts once`;
  return new StrataError("invalid_input", `${sentence}: sign it again with another external id`, { contact, id });
}

/** One that was taken back is no longer known: a repeated message would never be answered. */
const unsignedEvent = fixed((at: ContactScope & { readonly channel: string; readonly externalId: string }) =>
  eventsOf(at)
    .where("event.channel", "=", at.channel)
    .where("event.external_id", "=", at.externalId)
    // As the index has it, so that it serves.
    .where("event.status", "!=", sql.lit("withdrawn"))
    .where("event.proof", "is distinct from", sql.lit("proven")),
);

const retractedEvent = fixed((at: ContactScope & { readonly channel: string; readonly externalId: string }) =>
  eventsOf(at)
    .where("event.channel", "=", at.channel)
    .where("event.external_id", "=", at.externalId)
    .where("event.retracted", "is not", null),
);

interface Arrival {
  readonly event: ArrivingEvent;
  readonly thread: ThreadId;
  readonly key: Uint8Array;
  readonly seq: number;
}

async function addEvent(tx: Tx, scope: ContactScope, { event, thread, key, seq }: Arrival): Promise<StoredEvent> {
  const { id, kind, trust, channel, at, proof = null, answers, name, number, line, inHistory } = event;
  const { content, failed, used } = event;
  await freeErasedId(tx, scope, event);
  const said: EventText = {
    ...(name !== undefined && { name }),
    ...(number !== undefined && { number }),
    ...(line !== undefined && { line }),
    ...(inHistory && { inHistory }),
    content,
    ...(failed && { failed }),
    ...(used && { used }),
  };
  const text = JSON.stringify(said);
  const row: Row<"event"> = {
    ...owner(scope),
    id,
    thread,
    seq,
    kind,
    trust,
    channel,
    external_id: event.externalId ?? null,
    piece: await keepOwn(tx, scope, key, text),
    at,
    status: answers === undefined ? "pending" : await noteAnswer(tx, { ...owner(scope), thread }, answers),
    turn: null,
    proof,
    answers: answers ?? null,
    retracted: null,
  };
  await tx.run(insert("event", row));
  return toEvent({ ...row, text });
}

/** What no turn of a thread has taken yet, in the order received: also what goes along with the next turn, or waits for something else first. */
export async function untaken(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  { upto = Number.MAX_SAFE_INTEGER, most }: { readonly upto?: number; readonly most: number },
): Promise<readonly StoredEvent[]> {
  return (await tx.all(untakenEvents({ ...owner(scope), thread, upto, most }))).map(toEvent);
}

const untakenEvents = fixed((at: InThread & { readonly upto: number; readonly most: number }) =>
  eventsOf(at)
    .where("event.thread", "=", at.thread)
    .where(sql<boolean>`${sql.raw(UNTAKEN.replace("status", "event.status"))}`)
    .where("event.seq", "<=", at.upto)
    .orderBy("event.seq")
    .limit(at.most),
);

/** The same of those that answer a call. */
export async function untakenAnswers(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  upto = Number.MAX_SAFE_INTEGER,
): Promise<readonly StoredEvent[]> {
  return (await tx.all(answersUntaken({ ...owner(scope), thread, upto }))).map(toEvent);
}

const answersUntaken = fixed((at: InThread & { readonly upto: number }) =>
  eventsOf(at)
    .where("event.thread", "=", at.thread)
    .where(sql<boolean>`${sql.raw(UNTAKEN.replace("status", "event.status"))}`)
    .where("event.answers", "is not", null)
    .where("event.seq", "<=", at.upto)
    .orderBy("event.seq"),
);

/** What waits on a thread and may begin a turn, in the order received. */
export async function pending(tx: Tx, scope: ContactScope, thread: ThreadId): Promise<readonly StoredEvent[]> {
  const waiting = await tx.all(pendingEvents({ ...owner(scope), thread }));
  return waiting.sort((a, b) => a.seq - b.seq).map(toEvent);
}

/** Whether a turn may begin on a thread: something is pending there. */
export const isDue = async (tx: Tx, scope: ContactScope, thread: ThreadId): Promise<boolean> =>
  (await tx.first(firstPending({ ...owner(scope), thread }))) !== undefined;

const firstPending = fixed((at: InThread) =>
  query
    .selectFrom("event")
    .select("id")
    .where((eb) => eb.and({ ...owner(at), thread: at.thread }))
    .where("status", "=", sql.lit("pending"))
    .limit(ONE),
);

const pendingEvents = fixed((at: InThread) =>
  eventsOf(at).where("event.thread", "=", at.thread).where("event.status", "=", sql.lit("pending")),
);

/** A scope and a thread of it. */
type InThread = ContactScope & { readonly thread: ThreadId };

/** Every event of a contact with its text: what the queries above narrow down. */
function eventsOf(scope: ContactScope) {
  return query
    .selectFrom("event")
    .selectAll("event")
    .select(textOf("event").as("text"))
    .where("event.org", "=", scope.org)
    .where("event.agent", "=", scope.agent)
    .where("event.contact", "=", scope.contact);
}
