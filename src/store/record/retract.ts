import {
  type ContactScope,
  type Digest,
  type DoneBy,
  type EventId,
  isBatch,
  type MemoryId,
  type OrgId,
  repeaterOf,
  type Scope,
  SELF,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import { withdrawVersions } from "../agent/withdraw-texts.ts";
import { memoryRows } from "../memory/memory-rows.ts";
import { memoryScope } from "../memory/memory-scope.ts";
import { memoryOf } from "../memory/messages.ts";
import { slotsSaid } from "../memory/reindex.ts";
import { goneMemories, retractMemories } from "../memory/retract-memories.ts";
import { saidIn, toMemory } from "../rows.ts";
import { insert, owner, plain, query, within } from "../statement.ts";
import type { Row } from "../tables.ts";
import { freeMembers } from "../threads/batch-members.ts";
import { cancelAtEnd, sortEvents } from "../threads/open-calls.ts";
import { stopTurn } from "../turns/settle.ts";
import { inOrder, type Tx, type WithdrawnVersion } from "../tx.ts";
import { append } from "./chain.ts";
import { contactTables } from "./contact-rows.ts";
import { follow, followParts, type OpenRetracting, retracting } from "./lineage.ts";
import { keepOwn, keepShared, scopeKey } from "./pieces.ts";
import { retractionLink } from "./retraction-link.ts";

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
}

const STOPPED = "the turn was stopped, because something that it may have read was retracted";
const ERASED_CONTACT = "a contact was erased";

type Lineage = ReturnType<OpenRetracting["lineages"]>[number];

/**
 * Takes an event back, with all that came from it. Its words go from every text, and rows that name it are marked, so that nobody reads
 * them; the record keeps the digests. What runs with the contact is stopped, for it would write again what was retracted. Undefined where there is no such
 * event, or it was retracted before.
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
  return { event: id, thread: event.thread, turns, memories, texts: texts.length, versions };
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
  }
  await followParts(tx, all);
  all.leaveOut(scopes);
  if (all.lineages().length === 0 && all.withdrawn.length === 0) return;
  for (const part of tx.parts) await part.retract?.(tx, all);
  const texts = [...(await withdrawVersions(tx, all))];
  for (const one of all.lineages()) {
    texts.push(...(await blank(tx, all, one)));
    await mark(tx, all.n, one, []);
  }
  const turns = all.lineages().flatMap((one) => [...one.turns]);
  await record(tx, all, { scope: { ...first, contact: SELF }, event: null, reason: ERASED_CONTACT, turns, texts });
}

/** An event as far as it names where it belongs. */
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
  await follow(tx, all);
  await inOrder(all.lineages(), (one) => stopAll(tx, one.scope, all.at));
  await inOrder(all.lineages(), (one) => closeCalls(tx, one));
  const hidden = new Map(await inOrder(all.lineages(), async (one) => [one, await hiddenSlots(tx, one)] as const));
  const words = new Map(await inOrder(all.lineages(), async (one) => [one, await wordsOf(tx, one)] as const));
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
    await mark(tx, all.n, one, hidden.get(one) ?? []);
  }
  return { turns: all.lineages().flatMap((one) => [...one.turns]), memories, texts };
}

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

type HiddenSlot = Awaited<ReturnType<typeof slotsSaid>>[number] & { readonly turn: TurnId };

/** What of a conversation's history goes: the events, and the replies of turns of which nothing stays. */
async function hiddenSlots(tx: Tx, { scope, events, turns, whole }: Lineage): Promise<HiddenSlot[]> {
  const ids = new Set<string>(events);
  const slots = await inOrder(turns, async (turn) =>
    (await slotsSaid(tx, scope, turn)).map((one) => ({ ...one, turn })),
  );
  return slots.flat().filter(({ id, kind, turn }) => ids.has(id) || (kind === "reply" && whole.has(turn)));
}

/** What is retracted, in words: those of the events, and what was saved and told of them; and those of the events that stay. */
interface Words {
  readonly said: readonly string[];
  readonly saved: readonly string[];
  readonly left: readonly string[];
}

async function wordsOf(tx: Tx, lineage: Lineage): Promise<Words> {
  const { scope, events, notices } = lineage;
  const { agent, contact } = scope;
  const all = `select event.id, piece.text from event join piece on piece.org = event.org and piece.agent = event.agent
    and piece.contact = event.contact and piece.digest = event.piece
    where event.org = ? and event.agent = ? and event.contact = ? and event.retracted is null and piece.text is not null`;
  const rows = await tx.all(plain<{ readonly id: EventId; readonly text: string }>(all, scope.org, agent, contact));
  const textOf = ({ text }: (typeof rows)[number]): string =>
    saidIn({ agent, contact, trust: "contact", slot_kind: "message", slot_thread: null, text }).content;
  const { ids } = await goneMemories(tx, lineage);
  const own = await memoryScope(tx, scope);
  const saved =
    own === undefined ? [] : (await memoryRows(tx, own, "memory.slot is null")).filter((row) => ids.has(row.id));
  return {
    said: rows.filter(({ id }) => events.has(id) && !notices.has(id)).map(textOf),
    saved: [...saved.map((row) => toMemory(row).content), ...rows.filter(({ id }) => notices.has(id)).map(textOf)],
    left: rows.filter(({ id }) => !events.has(id)).map(textOf),
  };
}

/** All words of a stored text, whatever form it has. */
function stringsIn(text: string): string {
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") found.push(value);
    else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) walk(one);
  };
  try {
    walk(JSON.parse(text));
  } catch {
    found.push(text);
  }
  return found.join("\n");
}

/**
 * Replies, results of tools and messages of later turns that repeat what is retracted: they go, and their turns leave the requests. What
 * others said themselves stays, and what repeats them as well.
 */
async function sweep(tx: Tx, lineage: Lineage, { said, saved, left }: Words, hidden: HiddenSlot[]): Promise<void> {
  if (said.length === 0) return;
  const { scope, turns } = lineage;
  const whose = [scope.org, scope.agent, scope.contact];
  const [repeats, tells] = [repeaterOf(said, left), repeaterOf([...said, ...saved], left)];
  const certain = new Set<Digest>();
  const shown = new Set(await tx.column(plain<Digest>(SHOWN, ...whose, ...whose, ...whose)));
  const own = new Set(await tx.column(plain<Digest>(OWN_WORDS, ...whose)));
  for (const { digest, text } of await tx.all(plain<Pick<Row<"piece">, "digest" | "text">>(LATER_TEXTS, ...whose))) {
    if (text === null || own.has(digest)) continue;
    const words = stringsIn(text);
    if (shown.has(digest) && !isReply(text) ? tells(words) : repeats(words)) certain.add(digest);
  }
  for (const digest of certain) lineage.certain.add(digest);
  if (certain.size === 0) return;
  const list = JSON.stringify([...certain]);
  for (const id of await tx.column(plain<TurnId>(TOLD_IN, ...whose, list, ...whose, list))) turns.add(id);
  for (const turn of new Set(await tx.column(plain<TurnId>(REPLIED_IN, ...whose, list))))
    for (const slot of await slotsSaid(tx, scope, turn))
      if (slot.kind === "reply" && certain.has(slot.piece) && !hidden.some(({ id }) => id === slot.id))
        hidden.push({ ...slot, turn });
}

/** Whether it is a message of the model, as a transcript has it. */
const isReply = (text: string): boolean => text.includes('"role":"assistant"');

const LATER_TEXTS = `select digest, text from piece where org = ? and agent = ? and contact = ? and text is not null`;
const OWN_WORDS = `select piece from event where org = ? and agent = ? and contact = ? and retracted is null`;
const TOLD_IN = `select distinct came_with from message where org = ? and agent = ? and contact = ? and came_with is not null
  and piece in (select value from json_each(?))
  union select turn from turn_message where org = ? and agent = ? and contact = ? and piece in (select value from json_each(?))`;
/** What models were shown, and what tools gave them. */
const SHOWN = `select piece from message where org = ? and agent = ? and contact = ?
  union select piece from turn_message where org = ? and agent = ? and contact = ?
  union select outcome from journal where org = ? and agent = ? and contact = ? and outcome is not null`;
const REPLIED_IN = `select distinct turn from slot where org = ? and agent = ? and contact = ? and kind = 'reply'
  and piece in (select value from json_each(?))`;

/** What the agent saved later and repeats it. */
async function repeatingMemories(tx: Tx, lineage: Lineage, words: Words | undefined): Promise<readonly MemoryId[]> {
  const own = await memoryScope(tx, lineage.scope);
  if (words === undefined || words.said.length === 0) return [];
  const repeats = repeaterOf(words.said, words.left);
  const rows = own === undefined ? [] : await memoryRows(tx, own, `memory.slot is null and "by" = 'agent'`);
  return rows.filter((row) => row.at >= lineage.since && repeats(toMemory(row).content)).map(({ id }) => id);
}

type Cells = Readonly<Record<string, unknown>>;

/** Blanks the texts that only rows name that go, and those that go whatever names them. Gives their digests. */
async function blank(tx: Tx, all: OpenRetracting, lineage: Lineage): Promise<readonly Digest[]> {
  const { scope, since, turns, texts, certain, tails } = lineage;
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

/** Marks the rows that nobody reads any more. */
async function mark(
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
