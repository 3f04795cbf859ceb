import {
  ANSWER_KIND,
  type Digest,
  type EventId,
  type EventKind,
  type MemoryId,
  OUTSIDE_KINDS,
  ownKind,
  repeaterOf,
  type TurnId,
} from "../../protocol/index.ts";
import { withdrawnParts } from "../agent/withdraw-texts.ts";
import { memoryRows } from "../memory/memory-rows.ts";
import { memoryScope } from "../memory/memory-scope.ts";
import { slotsSaid } from "../memory/reindex.ts";
import { goneMemories } from "../memory/retract-memories.ts";
import { saidIn, toMemory } from "../rows.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import { type OpenRetracting, stringsIn } from "./lineage.ts";

type Lineage = ReturnType<OpenRetracting["lineages"]>[number];

export type HiddenSlot = Awaited<ReturnType<typeof slotsSaid>>[number] & { readonly turn: TurnId };

/** What of a conversation's history goes: the events, and the replies of turns of which nothing stays. */
export async function hiddenSlots(tx: Tx, { scope, events, turns, whole }: Lineage): Promise<HiddenSlot[]> {
  const ids = new Set<string>(events);
  const slots = await inOrder(turns, async (turn) =>
    (await slotsSaid(tx, scope, turn)).map((one) => ({ ...one, turn })),
  );
  return slots.flat().filter(({ id, kind, turn }) => ids.has(id) || (kind === "reply" && whole.has(turn)));
}

/** The retracted words: those of the events, and of the memories and notes about them; and the words of the events that stay. */
interface Words {
  readonly said: readonly string[];
  readonly saved: readonly string[];
  readonly left: readonly string[];
}

interface EventWords extends Pick<Row<"event">, "id" | "kind"> {
  readonly text: string;
}

async function eventWords(tx: Tx, { scope: { org, agent, contact } }: Lineage): Promise<readonly EventWords[]> {
  const all = `select event.id, event.kind, piece.text from event join piece on piece.org = event.org and piece.agent = event.agent
    and piece.contact = event.contact and piece.digest = event.piece
    where event.org = ? and event.agent = ? and event.contact = ? and event.retracted is null and piece.text is not null`;
  return (await tx.all(plain<EventWords>(all, org, agent, contact))).map(({ text, ...event }) => ({
    ...event,
    text: saidIn({ agent, contact, trust: "contact", slot_kind: "message", slot_thread: null, text }).content,
  }));
}

/** The words that outside senders have written there. */
export const saidBy = async (tx: Tx, lineage: Lineage): Promise<readonly string[]> =>
  (await eventWords(tx, lineage)).flatMap(({ kind, text }) => (isOutside(kind) ? [text] : []));

const isOutside = (kind: EventKind): boolean => OUTSIDE_KINDS.some((one) => one === kind);

/** Kinds of events by which agents hear of each other: what they say is derived. */
const GIVEN_ON: readonly EventKind[] = [ownKind("peer"), ANSWER_KIND];

/** What agents told each other of it goes, too. Gives whether there was more of that than is known. */
export async function givenOn(tx: Tx, all: OpenRetracting): Promise<boolean> {
  const rows = await inOrder(all.lineages(), async (one) => [one, await eventWords(tx, one)] as const);
  const said = rows.flatMap(([{ events, notices }, words]) =>
    words.filter(({ id, kind }) => events.has(id) && !notices.has(id) && kind !== ANSWER_KIND).map(({ text }) => text),
  );
  let isMore = false;
  if (said.length === 0) return false;
  for (const [lineage, words] of rows) {
    const stays = words.filter(({ id, kind }) => !lineage.events.has(id) && !GIVEN_ON.includes(kind));
    const repeats = repeaterOf(
      said,
      stays.map(({ text }) => text),
    );
    for (const { id, kind, text } of words) {
      if (lineage.events.has(id) || !GIVEN_ON.includes(kind) || !repeats(text)) continue;
      lineage.events.add(id);
      isMore = true;
    }
  }
  return isMore;
}

/** The words of each lineage. A retracted word is retracted for all of them; one that stays, stays for its own contact. */
export async function allWords(
  tx: Tx,
  all: OpenRetracting,
  erased: readonly string[],
): Promise<ReadonlyMap<Lineage, Words>> {
  const found = await inOrder(all.lineages(), async (one) => [one, await wordsOf(tx, one)] as const);
  const said = [...erased, ...found.flatMap(([, words]) => words.said)];
  const parts = [...(await withdrawnParts(tx, all)).values()].flat();
  const saved = [...found.flatMap(([, words]) => words.saved), ...parts];
  return new Map(found.map(([one, { left }]) => [one, { said, saved, left }]));
}

async function wordsOf(tx: Tx, lineage: Lineage): Promise<Words> {
  const { scope, events, notices } = lineage;
  const rows = await eventWords(tx, lineage);
  const { ids } = await goneMemories(tx, lineage);
  const own = await memoryScope(tx, scope);
  const saved =
    own === undefined ? [] : (await memoryRows(tx, own, "memory.slot is null")).filter((row) => ids.has(row.id));
  const texts = (wanted: (id: EventId) => boolean): readonly string[] =>
    rows.filter(({ id }) => wanted(id)).map(({ text }) => text);
  return {
    said: texts((id) => events.has(id) && !notices.has(id)),
    saved: [...saved.map((row) => toMemory(row).content), ...texts((id) => notices.has(id))],
    left: texts((id) => !events.has(id)),
  };
}

/**
 * Replies, results of tools and messages of later turns that repeat what is retracted: they go, and their turns leave the requests. What
 * others said themselves stays, and what repeats them as well.
 */
export async function sweep(
  tx: Tx,
  lineage: Lineage,
  { said, saved, left }: Words,
  hidden: HiddenSlot[],
): Promise<void> {
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

/** The agent's later memories that repeat it. */
export async function repeatingMemories(
  tx: Tx,
  lineage: Lineage,
  words: Words | undefined,
): Promise<readonly MemoryId[]> {
  const own = await memoryScope(tx, lineage.scope);
  if (words === undefined || words.said.length === 0) return [];
  const repeats = repeaterOf(words.said, words.left);
  const rows =
    own === undefined ? [] : await memoryRows(tx, own, `memory.slot is null and coalesce("by", 'agent') = 'agent'`);
  return (
    rows
      // A memory may be as old as the message of its turn.
      .filter(({ at, turn }) => at >= lineage.since || (turn !== null && lineage.turns.has(turn)))
      .filter((row) => repeats(toMemory(row).content))
      .map(({ id }) => id)
  );
}
