import { never, StrataError } from "../../protocol/index.ts";
import type { Claim, TurnOutcome } from "../store.ts";
import type { Row } from "../tables.ts";
import { type Connection, query } from "./connection.ts";
import { appendMessages, lastEpoch } from "./epochs.ts";
import { eventsOfTurn } from "./events.ts";
import { addMemory } from "./memories.ts";
import { owner } from "./scope.ts";
import type { Settling } from "./settling.ts";

/** A turn that ended well: what it was claimed with, what came of it, and its reply's text by digest. */
export interface DoneTurn {
  readonly claim: Claim;
  readonly outcome: TurnOutcome;
  readonly words: Row<"turn">["words"];
}

/** What only a turn that ended well changes. Part of the commit's transaction. */
export function applyTurn(db: Connection, at: Settling, done: DoneTurn): void {
  consume(db, at, done.claim);
  extendTranscript(db, at, done.outcome);
  addSlots(db, at, done);
  applyWrites(db, at, done.outcome);
  sendReply(db, at, done);
}

/** Marks exactly the claimed events as handled. */
function consume(db: Connection, at: Settling, claim: Claim): void {
  for (const { id } of claim.events) {
    const wanted = { ...owner(at.scope), id, thread: at.thread, status: "pending" } as const;
    const handled = query
      .updateTable("event")
      .set({ status: "consumed", turn: at.turn })
      .where((eb) => eb.and(wanted));
    if (db.run(handled) === 1) continue;
    const says = `event ${id} of turn ${at.turn} does not wait any more; nothing was written: claim the thread again`;
    throw new StrataError("lease_lost", says, { event: id, turn: at.turn });
  }
}

function extendTranscript(db: Connection, at: Settling, outcome: TurnOutcome): void {
  if (outcome.messages.length === 0) return;
  const epoch = lastEpoch(db, at.scope, at.thread);
  if (epoch) {
    appendMessages(db, at, epoch.n, outcome.messages);
    return;
  }
  const says = `turn ${at.turn} adds messages to thread ${at.thread}, which has no epoch: open one with the outcome`;
  throw new StrataError("invalid_input", says, { thread: at.thread });
}

/** One slot per event and one for the reply: the thread's pure history. A slot shares the text of what it shows. */
function addSlots(db: Connection, at: Settling, { outcome, words }: DoneTurn): void {
  const rows: Pick<Row<"slot">, "kind" | "speaker" | "piece" | "at">[] = eventsOfTurn(db, at.scope, at.turn).map(
    ({ kind, trust: speaker, piece, at: when }) => ({ kind, speaker, piece, at: when }),
  );
  if (words !== null) rows.push({ kind: "reply", speaker: "agent", piece: words, at: outcome.at });
  let position = nextSlot(db, at);
  for (const row of rows) {
    const place = { ...owner(at.scope), thread: at.thread, position: position++, turn: at.turn };
    db.run(query.insertInto("slot").values({ ...place, ...row }));
  }
}

function nextSlot(db: Connection, at: Settling): number {
  const wanted = { ...owner(at.scope), thread: at.thread };
  const newest = query
    .selectFrom("slot")
    .select("position")
    .where((eb) => eb.and(wanted))
    .orderBy("position", "desc")
    .limit(1);
  const last = db.first(newest);
  return last ? last.position + 1 : 0;
}

function applyWrites(db: Connection, at: Settling, outcome: TurnOutcome): void {
  for (const [i, write] of outcome.writes.entries()) {
    const id = outcome.memories[i];
    if (id === undefined) {
      const says = `the commit of turn ${at.turn} has ${outcome.writes.length} writes and ${outcome.memories.length} ids`;
      throw new StrataError("invalid_input", `${says}: issue one id for each`, { turn: at.turn });
    }
    switch (write.kind) {
      case "memory":
        addMemory(db, at.scope, { id, memory: write.memory });
        break;
      default:
        never(write.kind);
    }
  }
}

function sendReply(db: Connection, at: Settling, { claim, outcome, words }: DoneTurn): void {
  if (words === null) return;
  const row: Row<"outbox"> = {
    ...owner(at.scope),
    id: outcome.outbox,
    thread: at.thread,
    turn: at.turn,
    channel: claim.thread.channel,
    piece: words,
    status: "waiting",
    at: outcome.at,
    delivered_at: null,
  };
  db.run(query.insertInto("outbox").values(row));
}
