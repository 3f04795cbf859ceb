import {
  type ContactScope,
  type Digest,
  type DoneBy,
  type EventId,
  isBatch,
  type OrgId,
  type Scope,
  SELF,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import { withdrawVersions } from "../agent/withdraw-texts.ts";
import { memoryOf } from "../memory/messages.ts";
import { goneMemories, retractMemories } from "../memory/retract-memories.ts";
import { insert, owner, plain, query, within } from "../statement.ts";
import type { Row } from "../tables.ts";
import { freeMembers } from "../threads/batch-members.ts";
import { cancelAtEnd, sortEvents } from "../threads/open-calls.ts";
import { stopTurn } from "../turns/settle.ts";
import { inOrder, type LeftDone, type Tx, type WithdrawnVersion } from "../tx.ts";
import { append } from "./chain.ts";
import { contactTables } from "./contact-rows.ts";
import { addMembers, follow, followParts, type OpenRetracting, retracting } from "./lineage.ts";
import { keepOwn, keepShared, scopeKey } from "./pieces.ts";
import { retractionLink } from "./retraction-link.ts";
import { allWords, givenOn, type HiddenSlot, hiddenSlots, repeatingMemories, saidBy, sweep } from "./sweep.ts";

/** Who retracts an event, why, and when. */
export interface Retraction extends DoneBy {
  readonly reason: string;
  readonly at: number;
}

/** What went with an event. */
export interface Retracted {
  readonly event: EventId;
  readonly thread: ThreadId;
  /** Turns that have left their conversations' requests. */
  readonly turns: readonly TurnId[];
  readonly memories: number;
  readonly texts: number;
  /** Versions of the agent's texts that were withdrawn. */
  readonly versions: readonly Pick<WithdrawnVersion, "layer" | "n">[];
  /** Outside effects, which are not undone. */
  readonly left: readonly LeftDone[];
}

const STOPPED = "the turn was stopped, because something that it may have read was retracted";
const ERASED_CONTACT = "a contact was erased";

type Lineage = ReturnType<OpenRetracting["lineages"]>[number];

/**
 * Retracts an event, with everything that came from it. Its words are removed from every text, and rows that name it are marked as
 * unreadable; the record keeps the digests. Running turns of the contact are stopped, because they would write retracted text again.
 * Undefined if there is no such event, or if it was already retracted.
 */
export async function retractEvent(
  tx: Tx,
  scope: ContactScope,
  id: EventId,
  { reason, ...doing }: Retraction,
): Promise<Retracted | undefined> {
  const wanted = { ...owner(scope), id };
  const event = await tx.first(
    query
      .selectFrom("event")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
  if (event === undefined || event.retracted !== null) return undefined;
  const all = retracting(scope.org, await nextNumber(tx, scope.org), doing);
  all.lineageOf(scope, event.at).events.add(id);
  const { turns, memories, texts } = await carryOut(tx, all);
  await record(tx, all, { scope, event: id, reason, turns, texts });
  const versions = all.withdrawn.map(({ layer, n }) => ({ layer, n }));
  return { event: id, thread: event.thread, turns, memories, texts: texts.length, versions, left: all.left };
}

/**
 * What others have of contacts who are being erased: rules that a model made of what was learned from them. Part of the erasure, while it is known what
 * came from whom.
 */
export async function retractDerived(
  tx: Tx,
  scopes: readonly ContactScope[],
  doing: Omit<Retraction, "reason">,
): Promise<void> {
  const [first] = scopes;
  if (first === undefined) return;
  const all = retracting(first.org, await nextNumber(tx, first.org), doing);
  for (const scope of scopes) {
    const turns = `select id from turn where org = ? and agent = ? and contact = ?`;
    all.addTurns(scope, 0, await tx.column(plain<TurnId>(turns, scope.org, scope.agent, scope.contact)));
    all.lineageOf(scope, 0).isErased = true;
  }
  await followParts(tx, all);
  for (const scope of scopes.filter(isBatch)) await addMembers(tx, all, scope);
  const erased = [];
  for (const one of all.lineages()) if (one.isErased) erased.push(...(await saidBy(tx, one)));
  all.leaveOut(scopes);
  if (all.lineages().length === 0 && all.withdrawn.length === 0) return;
  const { turns, texts } = await takeBack(tx, all, erased);
  if (turns.length + texts.length + all.withdrawn.length === 0) return;
  await record(tx, all, { scope: { ...first, contact: SELF }, event: null, reason: ERASED_CONTACT, turns, texts });
}

/** An event's references to where it belongs. */
export interface FoundEvent {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly isRetracted: boolean;
}

/** The event of that id in scope. */
export async function findEvent(tx: Tx, scope: Scope, id: EventId): Promise<FoundEvent | undefined> {
  const wanted = { ...within(scope), id };
  const row = await tx.first(
    query
      .selectFrom("event")
      .select(["org", "agent", "contact", "thread", "retracted"])
      .where((eb) => eb.and(wanted)),
  );
  return row && { scope: owner(row), thread: row.thread, isRetracted: row.retracted !== null };
}

async function nextNumber(tx: Tx, org: OrgId): Promise<number> {
  return ((await tx.column(plain<number | null>(`select max(n) from retraction where org = ?`, org)))[0] ?? 0) + 1;
}

interface CarriedOut {
  readonly turns: readonly TurnId[];
  readonly memories: number;
  /** The digests of the texts that went. */
  readonly texts: readonly Digest[];
}

async function carryOut(tx: Tx, all: OpenRetracting): Promise<CarriedOut> {
  do await follow(tx, all);
  while (await givenOn(tx, all));
  return takeBack(tx, all);
}

/** Undoes what was found. `erased`: what contacts who are erased had said, too. */
async function takeBack(tx: Tx, all: OpenRetracting, erased: readonly string[] = []): Promise<CarriedOut> {
  // Turns of others who may only have seen it are not stopped: a call that acts outside would act again.
  for (const one of all.lineages()) if (!isUntouched(one)) await stopAll(tx, one.scope, all.at);
  await inOrder(all.lineages(), (one) => closeCalls(tx, one));
  for (const { scope, whole } of all.lineages())
    for (const { turn, tool } of await tx.all(plain<Called>(CALLED, ...whoseOf(scope), JSON.stringify([...whole]))))
      all.leave({ what: "call", name: tool, turn });
  const hidden = new Map(await inOrder(all.lineages(), async (one) => [one, await hiddenSlots(tx, one)] as const));
  const words = await allWords(tx, all, erased);
  for (const [one, said] of words) await sweep(tx, one, said, hidden.get(one) ?? []);
  for (const part of tx.parts) await part.retract?.(tx, all);
  const shared = await withdrawVersions(tx, all);
  const texts: Digest[] = [...shared];
  let memories = 0;
  for (const one of all.lineages()) {
    const replies = (hidden.get(one) ?? []).map((slot) => memoryOf(slot.id));
    const swept = await repeatingMemories(tx, one, words.get(one));
    memories += await retractMemories(tx, one, await goneMemories(tx, one, [...replies, ...swept]));
    texts.push(...(await blank(tx, all, one)));
    await markRetracted(tx, all.n, one, hidden.get(one) ?? []);
  }
  return { turns: all.lineages().flatMap((one) => [...one.turns]), memories, texts };
}

type Called = Pick<Row<"journal">, "turn" | "tool">;
const CALLED = `select turn, tool from journal where org = ? and agent = ? and contact = ?
  and turn in (select value from json_each(?)) order by begun_at, turn, ordinal`;

const whoseOf = ({ org, agent, contact }: ContactScope) => [org, agent, contact] as const;

/** What runs would write again what is retracted: its worker commits nothing, and the messages wait for the next turn. */
async function stopAll(tx: Tx, scope: ContactScope, at: number): Promise<void> {
  const running = `select thread.* from thread join turn on turn.org = thread.org and turn.agent = thread.agent
    and turn.contact = thread.contact and turn.thread = thread.id
    where thread.org = ? and thread.agent = ? and thread.contact = ? and turn.status = 'running' order by thread.id`;
  for (const thread of await tx.all(plain<Row<"thread">>(running, scope.org, scope.agent, scope.contact))) {
    if (isBatch(thread)) await freeMembers(tx, thread);
    await stopTurn(tx, thread, { at, message: STOPPED });
  }
}

/** Nobody waits for the calls of a turn that is gone. */
async function closeCalls(tx: Tx, { scope, turns, events }: Lineage): Promise<void> {
  const whose = owner(scope);
  const list = [JSON.stringify([...turns]), JSON.stringify([...events])];
  const waiting = `select distinct thread from open_call where org = ? and agent = ? and contact = ? and state != 'closed'
    and turn in (select value from json_each(?))`;
  for (const thread of await tx.column(plain<ThreadId>(waiting, scope.org, scope.agent, scope.contact, list[0])))
    await cancelAtEnd(tx, { ...whose, thread });
  const closed = `update open_call set state = 'closed' where org = ? and agent = ? and contact = ? and state != 'closed'
    and turn in (select value from json_each(?))`;
  await tx.run(plain(closed, scope.org, scope.agent, scope.contact, list[0]));
  const taken = `update event set status = 'withdrawn' where org = ? and agent = ? and contact = ? and status in ('pending', 'held', 'along')
    and id in (select value from json_each(?))`;
  await tx.run(plain(taken, scope.org, scope.agent, scope.contact, list[1]));
  const threads = `select distinct thread from event where org = ? and agent = ? and contact = ? and id in (select value from json_each(?))`;
  for (const thread of await tx.column(plain<ThreadId>(threads, scope.org, scope.agent, scope.contact, list[1])))
    await sortEvents(tx, { ...whose, thread });
}

/** Whether nothing came to this contact of what is retracted. */
const isUntouched = ({ events, turns, texts, certain, tails, dropped }: Lineage): boolean =>
  events.size + turns.size + texts.size + certain.size + tails.size + dropped.length === 0;

type Cells = Readonly<Record<string, unknown>>;

/** Blanks the texts that only rows name that go, and those that go whatever names them. Gives their digests. */
async function blank(tx: Tx, all: OpenRetracting, lineage: Lineage): Promise<readonly Digest[]> {
  const { scope, since, turns, texts, certain, tails } = lineage;
  if (isUntouched(lineage)) return [];
  const whose = [scope.org, scope.agent, scope.contact];
  const opened = `select thread, n from epoch where org = ? and agent = ? and contact = ? and turn in (
    select id from turn where org = ? and agent = ? and contact = ? and started_at >= ?)`;
  const epochs = new Set(
    (await tx.all(plain<Pick<Row<"epoch">, "thread" | "n">>(opened, ...whose, ...whose, since))).map(
      ({ thread, n }) => `${thread} ${n}`,
    ),
  );
  const has = (set: ReadonlySet<string>, value: unknown): boolean => typeof value === "string" && set.has(value);
  const isGone = (turn: unknown): boolean => has(lineage.whole, turn);
  const forced = new Set<string>();
  const force = (...digests: readonly unknown[]): void => {
    for (const digest of digests) if (typeof digest === "string") forced.add(digest);
  };
  /** Whether the texts that a row names go with it. */
  const isDead = (table: string, row: Cells): boolean => {
    if (table === "event") return has(lineage.events, row["id"]);
    if (table === "turn") return isGone(row["id"]);
    if (table === "message") {
      const isBlock = row["came_with"] === null && epochs.has(`${row["thread"]} ${row["epoch"]}`);
      if (isBlock) force(row["piece"]);
      return isBlock || has(turns, row["came_with"]);
    }
    if (table === "request") {
      if (has(turns, row["turn"])) return true;
      const isLater = typeof row["at"] === "number" && row["at"] >= since;
      if (isLater || has(tails, row["turn"])) force(row["tail"]);
      return false;
    }
    if (table === "turn_message" || table === "journal") return has(turns, row["turn"]);
    const isDropped = lineage.dropped.some((one) => one.table === table && row[one.column] === one.value);
    return isDropped || isGone(row["turn"]);
  };
  const live = new Set<string>();
  const dead = new Set<string>(texts);
  for (const { table } of await contactTables(tx)) {
    if (["memory", "memory_save", "retraction"].includes(table)) continue;
    const rows = await tx.all(
      plain<Cells>(`select * from "${table}" where org = ? and agent = ? and contact = ?`, ...whose),
    );
    for (const row of rows) {
      const goes = isDead(table, row);
      // The events that are shown name the texts of slots.
      if (table === "slot" && row["kind"] !== "reply") continue;
      for (const value of Object.values(row))
        if (typeof value === "string" && value.length === 64) (goes ? dead : live).add(value);
    }
  }
  const known = [...new Set([...dead].filter((digest) => !live.has(digest)).concat([...forced], [...certain]))];
  const put = `update piece set text = null, retracted = ? where org = ? and agent = ? and contact = ? and text is not null
    and digest in (select value from json_each(?))`;
  const there = `select digest from piece where org = ? and agent = ? and contact = ? and text is not null
    and digest in (select value from json_each(?))`;
  const gone = await tx.column(plain<Digest>(there, ...whose, JSON.stringify(known)));
  await tx.run(plain(put, all.n, ...whose, JSON.stringify(gone)));
  return gone;
}

/** Marks the rows that are no longer read. */
async function markRetracted(
  tx: Tx,
  n: number,
  { scope, events, turns }: Lineage,
  hidden: readonly HiddenSlot[],
): Promise<void> {
  const whose = [scope.org, scope.agent, scope.contact];
  const put = (table: string): string =>
    `update ${table} set retracted = ? where org = ? and agent = ? and contact = ? and retracted is null and id in (select value from json_each(?))`;
  await tx.run(plain(put("event"), n, ...whose, JSON.stringify([...events])));
  await tx.run(plain(put("turn"), n, ...whose, JSON.stringify([...turns])));
  const slot = `update slot set retracted = ? where org = ? and agent = ? and contact = ? and turn = ? and position = ? and retracted is null`;
  for (const { turn, position } of hidden) await tx.run(plain(slot, n, ...whose, turn, position));
}

interface Recording extends Pick<CarriedOut, "turns" | "texts"> {
  readonly scope: ContactScope;
  readonly event: EventId | null;
  readonly reason: string;
}

async function record(tx: Tx, all: OpenRetracting, { scope, event, reason, turns, texts }: Recording): Promise<void> {
  const { org, n, by, byId, at } = all;
  const row = {
    ...{
      ...owner(scope),
      n,
      event,
      turns: JSON.stringify(turns),
      undone: JSON.stringify(all.undone),
      by,
      by_id: byId ?? null,
      at,
    },
    texts: await keepShared(tx, org, JSON.stringify(texts)),
    reason: await keepOwn(tx, scope, await scopeKey(tx, scope), reason),
  };
  await tx.run(insert("retraction", { ...row, link: (await append(tx, org, retractionLink(row))).seq }));
}
