import {
  type ContactScope,
  type EventId,
  lowestTrust,
  type Memory,
  type MemoryId,
  memoryId,
  type OutboxId,
  SELF,
  type ThreadId,
  type Trust,
  type TurnId,
} from "../../protocol/index.ts";
import { saidIn } from "../rows.ts";
import { insertAll, owner, plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import { changeScope, countIn, type MemoryScope, ownMemoryScope, readTalk } from "./memory-scope.ts";
import { type Findable, keepUnits, NOWHERE, type Place, placeFor, unitColumns, unitRows } from "./units.ts";

/** A pause that is longer begins a new stretch of talk. */
const PAUSE = 30 * 60_000;

/** A slot of a turn, with what tells how far it is trusted and where its memory has its id from. */
export interface SlotSaid extends Pick<Row<"slot">, "position" | "kind" | "piece" | "at"> {
  readonly id: EventId | OutboxId;
  readonly trust: Trust;
  readonly text: string | null;
}

/** The messages of a turn that ended well. */
interface TurnSaid {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  /** The thread that this one was forked from, if this one had no messages before. */
  readonly forkedFrom: ThreadId | null;
  readonly slots: readonly SlotSaid[];
  /** What is not to be remembered. */
  readonly except: ReadonlySet<EventId | OutboxId>;
}

/** A message and the memory of it differ in what they are, not in their name: nothing has to tell one from the other. */
export const memoryOf = (id: EventId | OutboxId): MemoryId => memoryId(nameFor(id));

/** Whether a memory is that of a message, whatever both are called in a record that was tampered with. */
export const isMemoryOf = (memory: MemoryId, id: EventId | OutboxId): boolean => memory === nameFor(id);

const nameFor = (id: EventId | OutboxId): string => `mem_${id.slice(4)}`;

/** How far a reply is trusted: no more than anything that the model had before it. */
export const replyTrust = (taints: Iterable<Trust>): Trust => lowestTrust(["agent", ...taints]);

/**
 * Remembers what was said, in the transaction that records it: messages and replies as they were written, without frames, notes
 * or anything else of the prompt (law 12). Each is found by its words and keeps its text where the record has it.
 */
export async function rememberTurn(tx: Tx, said: TurnSaid): Promise<void> {
  const all = await findableSlots(tx, said);
  if (all.length === 0) return;
  await changeScope(tx, await ownMemoryScope(tx, said.scope), async (open) => {
    let { next } = open;
    const placed = all.map(({ slot, ...memory }) => {
      const units = unitColumns(memory);
      const place = placeFor(tx, { ...open, next }, units);
      next += place.units;
      return { slot, memory, units, place };
    });
    const [rowOf] = await Promise.all([
      addMessages(
        tx,
        open,
        said.turn,
        placed.map(({ slot, place }) => ({ ...slot, ...place })),
      ),
      readTalk(tx, open, talkOf(said.thread).name),
    ]);
    const rows = await inOrder(placed, async ({ slot, memory, units, place: { first } }) => {
      countIn(open, { kind: "message", at: slot.at, characters: memory.content.length });
      return unitRows(tx, open, { ...memory, row: rowOf(slot.id), first }, units);
    });
    await keepUnits(tx, rows.flat());
  });
}

/** The same without the index, for a record from before messages were remembered. */
export async function keepTurn(tx: Tx, said: TurnSaid): Promise<void> {
  const all = await findableSlots(tx, said);
  if (all.length === 0) return;
  const messages = all.map(({ slot }) => ({ ...slot, ...NOWHERE }));
  await addMessages(tx, await ownMemoryScope(tx, said.scope), said.turn, messages);
}

/** The turn's messages that can be found. */
async function findableSlots(tx: Tx, said: TurnSaid): Promise<readonly FindableSlot[]> {
  // A self-started turn has no real messages: the platform's text begins it, and its answer is not sent (law 12).
  if (said.scope.contact === SELF) return [];
  return (
    await inOrder(said.slots, async (slot) => {
      const memory = findableMessage(said, slot);
      return memory === undefined || (await isAlreadySaid(tx, said, slot)) ? [] : [{ ...memory, slot }];
    })
  ).flat();
}

type FindableSlot = Omit<Findable, "row"> & { readonly slot: SlotSaid };

/** Whether a fork begins with its parent's message: a message that is answered again was still said once. */
async function isAlreadySaid(tx: Tx, { scope, forkedFrom }: TurnSaid, { kind, piece, at }: SlotSaid): Promise<boolean> {
  if (forkedFrom === null) return false;
  const { org, agent, contact } = owner(scope);
  const same = plain<{ readonly at: number }>(
    `select at from slot where org = ? and agent = ? and contact = ? and thread = ? and kind = ? and piece = ?`,
    ...[org, agent, contact, forkedFrom, kind, piece],
  );
  return (await tx.all(same)).some((slot) => kind === "reply" || slot.at === at);
}

/** A message as it is found; undefined if it is not one, or has no words of its own. */
function findableMessage({ scope, thread, except }: TurnSaid, slot: SlotSaid): Omit<Findable, "row"> | undefined {
  const { kind, trust, text, at } = slot;
  if ((kind !== "message" && kind !== "reply") || except.has(slot.id)) return undefined;
  const { agent, contact } = scope;
  const { content, speaker } = saidIn({ agent, contact, trust, slot_kind: kind, slot_thread: thread, text });
  if (content.trim() === "") return undefined;
  return { content, tags: [], at, ...(speaker !== null && { speaker }), talk: talkOf(thread) };
}

/** The talk of a thread. */
export const talkOf = (thread: ThreadId): NonNullable<Findable["talk"]> => ({ name: thread, gap: PAUSE });

/** Puts them in, and gives which row each has got. Asked for by itself: an insert that returned it would have the full-text index write down what it holds. */
async function addMessages(
  tx: Tx,
  { number: scope }: Pick<MemoryScope, "number">,
  turn: TurnId,
  messages: readonly (SlotSaid & Place)[],
): Promise<(id: SlotSaid["id"]) => number> {
  const rows = messages.map(({ id, trust, at, position: slot, first, units }) => {
    return { scope, id: memoryOf(id), kind: "message" as const, trust, at, turn, slot, first, units, support: 1 };
  });
  await insertAll(tx, "memory", rows);
  const found = await tx.all(
    plain<Pick<Row<"memory">, "id" | "row">>(ROWS, scope, JSON.stringify(rows.map(({ id }) => id))),
  );
  const known = new Map(found.map(({ id, row }) => [id, row]));
  return (id) => known.get(memoryOf(id)) ?? 0;
}

const ROWS = `select id, row from memory where scope = ? and id in (select value from json_each(?))`;

/**
 * A memory in the form in which it is indexed. Memories of the same label are one conversation, whenever they were said; in a thread, a
 * long pause begins another one.
 */
export function findable(memory: Memory, row: number, thread: ThreadId | null = null): Findable {
  const { session } = memory;
  const labelled = session === undefined ? undefined : { name: `= ${session}`, gap: Number.MAX_VALUE };
  const talk = thread === null ? labelled : talkOf(thread);
  return { ...memory, row, ...(talk && { talk }) };
}
