import type { ContactScope, OutboxId, ThreadId, TurnId } from "../../protocol/index.ts";
import { foldedDigest, memoryDigest } from "../digests.ts";
import { knownKey, TEXT_OF } from "../record/pieces.ts";
import { isInHistory, type MemoryRow, toMemory } from "../rows.ts";
import { KEPT_ENDINGS, owner, plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { taintsOf } from "../threads/batch-members.ts";
import { eventsOfTurn } from "../turns/handled-events.ts";
import { inOrder, type Tx } from "../tx.ts";
import { memoryRows } from "./memory-rows.ts";
import { changeScope, countChange, countIn, type MemoryScope, type OpenScope } from "./memory-scope.ts";
import { countable, countSaved, worthOf } from "./memory-worth.ts";
import { findable, keepTurn, replyTrust, type SlotSaid } from "./messages.ts";
import { indexMemory, unindexScope } from "./units.ts";

/**
 * Which words a text is found by. A file whose index was made otherwise gets a new one when it is opened: count up with
 * every change of what `unitsOf` gives.
 */
const INDEX_VERSION = 10;

/** Which texts are not to be remembered, of what was said before that was asked at each commit. */
export type KeptOut = (text: string) => boolean;

/** Whether the index is today's. */
export async function isIndexToday(tx: Tx): Promise<boolean> {
  return (await readIndexVersion(tx)) === INDEX_VERSION;
}

/** Rebuilds the index of a file if it is not the current one: all of it is derived. Of two programs one waits. */
export async function refreshIndex(tx: Tx, keptOut: KeptOut = () => false): Promise<void> {
  const found = await readIndexVersion(tx);
  if (found === INDEX_VERSION) return;
  // Messages from before messages were remembered. Later it would bring back forgotten ones.
  if (found === undefined) await keepTurns(tx);
  await clear(tx);
  for (const scope of await tx.all(plain<MemoryScope>(`select * from memory_scope`))) {
    if (found === undefined) await nameSavers(tx, scope);
    await indexScope(tx, scope, keptOut);
  }
  await tx.run(plain(`delete from memory_index`));
  await tx.run(plain(`insert into memory_index values (?)`, INDEX_VERSION));
}

/**
 * Makes the index of one scope again: the words by which its memories are found contain the name of the agent, and neighbours are found
 * together. `meanwhile`: what changes its memories while they are in no index.
 */
export async function reindexScope(tx: Tx, scope: MemoryScope, meanwhile?: () => Promise<void>): Promise<void> {
  const { next, saved, characters } = scope;
  await unindexScope(tx, scope);
  await countChange(tx, scope, { next: -next, saved: -saved, characters: -characters });
  await meanwhile?.();
  await indexScope(tx, { ...scope, next: 0, units: 0, terms: 0, saved: 0, characters: 0 }, () => false);
}

async function readIndexVersion(tx: Tx): Promise<number | undefined> {
  return (await tx.column(plain<number>(`select version from memory_index`)))[0];
}

async function clear(tx: Tx): Promise<void> {
  await tx.index.clear();
  for (const table of ["unit", "unit_term", "unit_speaker", "talk", "memory_count"])
    await tx.run(plain(`delete from ${table}`));
  await tx.run(plain(`update memory set first = null, units = 0`));
  await tx.run(
    plain(`update memory_scope set next = 0, units = 0, terms = 0, saved = 0, characters = 0, revision = revision + 1`),
  );
}

/**
 * Who saved what before that was recorded: memories from no turn, with the trust that only operators have. Otherwise they would count as
 * the agent's. Whatever its digest does not vouch for stays unchanged.
 */
async function nameSavers(tx: Tx, scope: MemoryScope): Promise<void> {
  const key = await readScopeKey(tx, scope);
  if (!key) return;
  for (const row of await memoryRows(
    tx,
    scope,
    `memory.turn is null and memory."by" is null and memory.trust in ('operator', 'platform')`,
  )) {
    const memory = toMemory(row);
    if (memoryDigest(key, memory) !== row.digest) continue;
    const by = memory.trust;
    await tx.run(
      plain(`update memory set "by" = ?, digest = ? where row = ?`, by, memoryDigest(key, { ...memory, by }), row.row),
    );
  }
}

const readScopeKey = (tx: Tx, scope: MemoryScope): Promise<Uint8Array | undefined> =>
  knownKey(tx, { ...scope, contact: scope.contact === "" ? null : scope.contact });

/** In the order in which all was said: neighbours are found together. A message that is kept out stays in its thread alone. */
async function indexScope(tx: Tx, scope: MemoryScope, keptOut: KeptOut): Promise<void> {
  const key = await readScopeKey(tx, scope);
  const inOrder = plain<number>(`select row from memory where scope = ? order by at, row`, scope.number);
  await changeScope(tx, scope, async (open) => {
    const rows = await tx.column(inOrder);
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      for (const found of await inOrderOf(tx, open, rows.slice(at, at + AT_ONCE)))
        await indexRow(tx, open, found, { key, keptOut });
    }
  });
}

/** This many are read by one query: starting it takes several times as long as returning a row. */
const AT_ONCE = 500;

async function inOrderOf(tx: Tx, open: OpenScope, rows: readonly number[]): Promise<readonly MemoryRow[]> {
  const holds = `memory.row in (select cast(value as bigint) from json_each(?))`;
  const found = new Map((await memoryRows(tx, open, holds, JSON.stringify(rows))).map((one) => [one.row, one]));
  return rows.flatMap((row) => found.get(row) ?? []);
}

interface Indexing {
  readonly key: Uint8Array | undefined;
  readonly keptOut: KeptOut;
}

async function indexRow(tx: Tx, open: OpenScope, found: MemoryRow, { key, keptOut }: Indexing): Promise<void> {
  const { row } = found;
  const memory = toMemory(found);
  if (found.slot !== null && keptOut(memory.content)) {
    await tx.run(plain(`delete from memory where row = ?`, row));
    return;
  }
  if (found.superseded_by === null) {
    await indexMemory(tx, open, findable(memory, row, found.slot_thread));
    countIn(open, countable(memory));
  }
  if (found.slot !== null) return;
  const folded = key && found.superseded_by === null ? foldedDigest(key, memory) : null;
  const worth = memory.kind === "message" ? null : worthOf(memory);
  await tx.run(plain(`update memory set folded = ?, worth = ? where row = ?`, folded, worth, row));
  if (worth !== null) countSaved(open, memory, 1);
}

type Done = ContactScope & { readonly thread: ThreadId; readonly turn: TurnId; readonly forked: ThreadId | null };

/** Remembers the messages of every turn that the record has. */
async function keepTurns(tx: Tx): Promise<void> {
  const done = plain<Done>(
    `select turn.org, turn.agent, turn.contact, turn.thread, turn.id as turn, thread.forked_thread as forked from turn
     join thread using (org, agent, contact) where thread.id = turn.thread and turn.status ${KEPT_ENDINGS}
     order by turn.ended_at, turn.id`,
  );
  for (const { thread, turn, forked, ...scope } of await tx.all(done)) {
    const slots = await slotsSaid(tx, scope, turn);
    const forkedFrom = slots[0]?.position === 0 ? forked : null;
    await keepTurn(tx, { scope, thread, turn, forkedFrom, slots, except: new Set() });
  }
}

/** A turn's slots: its events in order, and after them the reply. */
export async function slotsSaid(tx: Tx, scope: ContactScope, turn: TurnId): Promise<readonly SlotSaid[]> {
  const { org, agent, contact } = owner(scope);
  const rows = await tx.all(
    plain<Row<"slot"> & Pick<SlotSaid, "text">>(
      `select slot.*, ${TEXT_OF("slot")} as text from slot
       where org = ? and agent = ? and contact = ? and turn = ? order by position`,
      ...[org, agent, contact, turn],
    ),
  );
  // Results of open calls come first among its events, and have no slot.
  const messages = rows.filter(({ kind }) => kind !== "reply").length;
  const handled = await eventsOfTurn(tx, scope, turn);
  // Of what has no text any more, the texts' digests say which of them have slots.
  const isWhole = handled.every(({ text }) => text !== null);
  const shown = (pieces: string[]) =>
    handled.filter(({ piece }) => {
      const at = pieces.indexOf(piece);
      return at >= 0 && pieces.splice(at, 1).length > 0;
    });
  const events = isWhole
    ? handled.filter(({ text }) => !isInHistory(text)).slice(-messages)
    : shown(rows.map(({ piece }) => piece));
  return (
    await inOrder(rows, async ({ position, kind, speaker, piece, at, text, act }, i): Promise<readonly SlotSaid[]> => {
      const event = events[i];
      if (kind !== "reply") return event ? [{ id: event.id, position, kind, trust: speaker, piece, at, text }] : [];
      const trust = replyTrust(await taintsOf(tx, scope, turn));
      let reply: OutboxId | undefined;
      for (const part of tx.parts) reply ??= await part.replyId?.(tx, { ...owner(scope), turn }, act);
      return reply === undefined ? [] : [{ id: reply, position, kind, trust, piece, at, text }];
    })
  ).flat();
}
