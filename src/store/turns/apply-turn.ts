import { sql } from "kysely";
import {
  type CommitReport,
  type ContactScope,
  type Digest,
  type EventId,
  isBatch,
  isKept,
  type OutboxId,
  StrataError,
  type ThreadId,
  type Trust,
  type TurnId,
} from "../../protocol/index.ts";
import { applyWrites } from "../core-writes.ts";
import type { TranscriptPlace } from "../digests.ts";
import { rememberTurn, replyTrust, type SlotSaid } from "../memory/messages.ts";
import { textOf } from "../record/pieces.ts";
import type { Claim, TurnOutcome } from "../records.ts";
import { isInHistory } from "../rows.ts";
import { fixed, insertAll, ONE, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { stagedIn, taintsIn, taintsOf } from "../threads/batch-members.ts";
import { UNTAKEN } from "../threads/open-calls.ts";
import type { DoneTurn, Tx } from "../tx.ts";
import { appendMessages, type Settling, type TranscriptEnd } from "./epochs.ts";
import type { HandledEvent } from "./handled-events.ts";

/** A turn that ended well, its texts kept already. */
interface Applying extends DoneTurn {
  readonly messages: readonly TranscriptPlace[];
  /** It never was a sender's part of a turn of several. */
  readonly isAlone: boolean;
  /** The position of the thread's next slot. */
  readonly nextSlot: number;
  /** Where the transcript ends before this turn; none without an epoch. */
  readonly end: TranscriptEnd | undefined;
}

/** What came of a turn: where its transcript ends now, what its writes came to, and what of it was read back. */
export interface AppliedTurn extends Partial<HandledRows> {
  readonly reports?: readonly CommitReport[];
  readonly end: TranscriptEnd | undefined;
  readonly slots?: readonly Row<"slot">[] | undefined;
}

interface HandledRows {
  /** The handled events. */
  readonly events: readonly HandledEvent[];
  /** Set if it is a sender's part of a turn of several. */
  readonly staged: readonly Row<"staged">[];
}

/** What only a turn that ended well changes. Part of the commit's transaction. */
export async function applyTurn(tx: Tx, at: Settling, done: Applying): Promise<AppliedTurn> {
  const [events, staged] = await Promise.all([
    consume(tx, at, done.claim),
    done.isAlone ? [] : stagedIn(tx, at.scope, at.turn),
  ]);
  // The messages of a turn of several are in its senders' own turns.
  const handled = isBatch(at.scope) ? undefined : { events, staged };
  const slots = handled && (await addSlots(tx, at, { ...done, ...handled }));
  const reports = await applyWrites(tx, at.scope, { ...done.outcome, turn: at.turn });
  const end = await extendTranscript(tx, at, done);
  return { end, reports, ...handled, slots };
}

/** Marks exactly the claimed events as handled, and gives them in order. */
async function consume(tx: Tx, at: Settling, claim: Claim): Promise<readonly HandledEvent[]> {
  const mark = async (id: EventId, position: number): Promise<HandledEvent> => {
    const row = await tx.first(consumed({ ...owner(at.scope), id, thread: at.thread, turn: at.turn }));
    if (row !== undefined) return { ...row, position };
    const message = `event ${id} of turn ${at.turn} no longer waits; nothing was written: claim the thread again`;
    throw new StrataError("lease_lost", message, { event: id, turn: at.turn });
  };
  return Promise.all(claim.events.map(({ id }, position) => mark(id, position)));
}

interface Handled {
  readonly id: EventId;
  readonly thread: ThreadId;
  readonly turn: TurnId;
}

const consumed = fixed((at: ContactScope & Handled) =>
  query
    .updateTable("event")
    .set({ status: "consumed", turn: at.turn })
    .where((eb) => eb.and({ ...owner(at), id: at.id, thread: at.thread }))
    .where(sql<boolean>`${sql.raw(UNTAKEN)}`)
    .returningAll()
    .returning(textOf("event").as("text")),
);

async function extendTranscript(tx: Tx, at: Settling, { end, messages }: Applying): Promise<TranscriptEnd | undefined> {
  if (end) return appendMessages(tx, at, end, messages);
  if (messages.length === 0) return undefined;
  const message = `turn ${at.turn} adds messages to thread ${at.thread}, which has no epoch: open one with the outcome`;
  throw new StrataError("invalid_input", message, { thread: at.thread });
}

type SaidTurn = Applying & HandledRows;

/** One slot per event and one for the reply: the thread's pure history. A slot shares the text of what it shows. */
async function addSlots(
  tx: Tx,
  at: Settling,
  { claim, outcome, words, events, staged, nextSlot: first }: SaidTurn,
): Promise<readonly Row<"slot">[]> {
  // An answer is the result of its call, which is in the transcript; it is not a message of the conversation.
  const results = new Set(claim.open.map(({ id }) => events.find(({ answers }) => answers === id)?.id));
  const heard = events.filter(({ id, text }) => !results.has(id) && !isInHistory(text));
  const said: Omit<SlotSaid, "position">[] = heard.map(({ id, kind, trust, piece, at: when, text }) => ({
    id,
    kind,
    trust,
    piece,
    at: when,
    text,
  }));
  if (words !== null) said.push(replySlot(outcome, words, replyTrust(taintsIn(staged, outcome))));
  const slots = said.map((slot, i) => ({ ...slot, position: first + i }));
  const rows = slots.map(({ position, kind, trust, piece, at: when }): Row<"slot"> => {
    const speaker = kind === "reply" ? "agent" : trust;
    return {
      ...owner(at.scope),
      thread: at.thread,
      position,
      turn: at.turn,
      kind,
      speaker,
      piece,
      at: when,
      act: null,
      retracted: null,
    };
  });
  await insertAll(tx, "slot", rows);
  const forkedFrom = first === 0 ? (claim.thread.forkedFrom?.thread ?? null) : null;
  await rememberTurn(tx, { ...at, forkedFrom, slots, except: new Set(outcome.unremembered) });
  return rows;
}

function replySlot({ end, replyId, at }: TurnOutcome, piece: Digest, trust: Trust): Omit<SlotSaid, "position"> {
  const text = JSON.stringify(isKept(end) ? end.reply : null);
  return { id: replyId, kind: "reply", trust, piece, at, text };
}

const lastSlot = fixed((at: ContactScope & { readonly thread: ThreadId }) =>
  query
    .selectFrom("slot")
    .select("position")
    .where((eb) => eb.and({ ...owner(at), thread: at.thread }))
    .orderBy("position", "desc")
    .limit(ONE),
);

/** A reply that goes out after its turn, because a person decided so. */
export interface LateReply {
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly id: OutboxId;
  /** The person's act, whose link covers the entry. */
  readonly act: string;
  /** The text, as `keepOwn` has kept it. */
  readonly piece: Digest;
  readonly text: string;
  readonly at: number;
}

/** Puts the reply at the end of its thread's history and remembers it, inside a write transaction. Gives its place there. */
export async function addLateReply(tx: Tx, scope: ContactScope, late: LateReply): Promise<number> {
  const { thread, turn, id, act, piece, at } = late;
  const last = await tx.first(lastSlot({ ...owner(scope), thread }));
  const position = last ? last.position + 1 : 0;
  const row: Row<"slot"> = {
    ...owner(scope),
    thread,
    position,
    turn,
    kind: "reply",
    speaker: "agent",
    piece,
    at,
    act,
    retracted: null,
  };
  await insertAll(tx, "slot", [row]);
  const trust = replyTrust(await taintsOf(tx, scope, turn));
  const slot = { id, kind: "reply", trust, piece, at, position, text: JSON.stringify(late.text) } as const;
  await rememberTurn(tx, { scope, thread, turn, forkedFrom: null, slots: [slot], except: new Set() });
  return position;
}
