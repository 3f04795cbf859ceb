import {
  type ContactScope,
  type EventId,
  lowestTrust,
  type MemoryId,
  memoryId,
  type OutboxId,
  SELF,
  type ThreadId,
  type Trust,
  type TurnId,
} from "../../protocol/index.ts";
import { saidIn } from "../rows.ts";
import { owner } from "../scope.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import { addedRow } from "./memory-rows.ts";
import { type MemoryScope, ownMemoryScope } from "./memory-scope.ts";
import { changeScope, countIn } from "./open-scope.ts";
import { type Findable, NOWHERE, type Place, placeFor, putUnits, unitColumns } from "./units.ts";

/** A pause that is longer begins a new stretch of talk. */
const PAUSE = 30 * 60_000;

/** A slot of a turn, with what tells how far it is trusted and where its memory has its id from. */
export interface SlotSaid extends Pick<Row<"slot">, "position" | "kind" | "piece" | "at"> {
  readonly id: EventId | OutboxId;
  readonly trust: Trust;
  readonly text: string | null;
}

/** What was said in a turn that ended well. */
export interface TurnSaid {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  /** The thread that this one was forked from, where nothing was said in this one before. */
  readonly forkedFrom: ThreadId | null;
  readonly slots: readonly SlotSaid[];
  /** What is not to be remembered. */
  readonly except: ReadonlySet<EventId | OutboxId>;
}

/** A message and the memory of it differ in what they are, not in their name: nothing has to tell one from the other. */
export const memoryOf = (id: EventId | OutboxId): MemoryId => memoryId(`mem_${id.slice(4)}`);

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
    for (const { slot, ...memory } of all) {
      const units = unitColumns(memory);
      const place = placeFor(tx, open, units);
      const row = await addMessage(tx, open, said.turn, { ...slot, ...place });
      await putUnits(tx, open, { ...memory, row, first: place.first }, units);
      countIn(open, { kind: "message", at: slot.at, characters: memory.content.length });
    }
  });
}

/** The same without the index, for a record of before messages were remembered. */
export async function keepTurn(tx: Tx, said: TurnSaid): Promise<void> {
  for (const { slot } of await findableSlots(tx, said)) {
    await addMessage(tx, await ownMemoryScope(tx, said.scope), said.turn, { ...slot, ...NOWHERE });
  }
}

/** What the turn tells that is to be found. */
async function findableSlots(tx: Tx, said: TurnSaid): Promise<readonly FindableSlot[]> {
  // In an agent's own turn nobody says anything: the platform's text begins it, and its answer goes to nobody (law 12).
  if (said.scope.contact === SELF) return [];
  return (
    await inOrder(said.slots, async (slot) => {
      const memory = findableMessage(said, slot);
      return memory === undefined || (await isAlreadySaid(tx, said, slot)) ? [] : [{ ...memory, slot }];
    })
  ).flat();
}

type FindableSlot = Omit<Findable, "row"> & { readonly slot: SlotSaid };

/** Whether a fork begins with what its parent was told: a message that is answered anew was still said once. */
async function isAlreadySaid(tx: Tx, { scope, forkedFrom }: TurnSaid, { kind, piece, at }: SlotSaid): Promise<boolean> {
  if (forkedFrom === null) return false;
  const { org, agent, contact } = owner(scope);
  const same = plain<{ readonly at: number }>(
    `select at from slot where org = ? and agent = ? and contact = ? and thread = ? and kind = ? and piece = ?`,
    ...[org, agent, contact, forkedFrom, kind, piece],
  );
  return (await tx.all(same)).some((slot) => kind === "reply" || slot.at === at);
}

/** A message as it is found; nothing where it is none, or has no words of its own. */
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

async function addMessage(
  tx: Tx,
  own: Pick<MemoryScope, "number">,
  turn: TurnId,
  { id, trust, at, position, first, units }: SlotSaid & Place,
): Promise<number> {
  await tx.run(
    plain(
      `insert into memory (scope, id, kind, trust, at, turn, slot, first, units, support)
       values (?, ?, 'message', ?, ?, ?, ?, ?, ?, 1)`,
      ...[own.number, memoryOf(id), trust, at, turn, position, first, units],
    ),
  );
  return addedRow(tx);
}
