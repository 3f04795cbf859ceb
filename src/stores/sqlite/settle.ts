import { StrataError } from "../../protocol/index.ts";
import type { ChainHead, Claim, TurnEnd, TurnOutcome } from "../store.ts";
import type { Row } from "../tables.ts";
import { applyTurn } from "./apply-turn.ts";
import { appendTurn } from "./chain.ts";
import { type Connection, query } from "./connection.ts";
import { lastEpoch, openEpoch, transcriptEnd } from "./epochs.ts";
import { keepOwn, scopeKey } from "./pieces.ts";
import { keepOwnMessages, keepRequest } from "./requests.ts";
import { owner } from "./scope.ts";
import type { Settling } from "./settling.ts";
import { turnLink } from "./turn-link.ts";
import { findTurn } from "./turns.ts";

/**
 * The one commit (law 7). Everything below happens in one transaction: all of it is there afterwards, or none.
 * First the fence: a worker that lost its lease writes nothing.
 */
export function settle(db: Connection, claim: Claim, outcome: TurnOutcome): ChainHead {
  return db.write(() => {
    const thread = fenced(db, claim);
    const { scope } = claim.thread;
    const at: Settling = { scope, thread: thread.id, turn: claim.turn, key: scopeKey(db, scope) };
    for (const epoch of outcome.epochs) openEpoch(db, at, epoch);
    keepOwnMessages(db, at, outcome.messages);
    for (const request of outcome.requests) keepRequest(db, at, request, outcome.messages.length);
    keepEvents(db, at, claim);
    const words = keepWords(db, at, outcome.end);
    if (outcome.end.status === "done") applyTurn(db, at, { claim, outcome, words });
    endTurn(db, at, outcome, words);
    release(db, thread, outcome.at);
    return linkTurn(db, at);
  });
}

/** The thread, if the claim is still its newest and the claim's turn runs. @throws StrataError `lease_lost` */
function fenced(db: Connection, claim: Claim): Row<"thread"> {
  const { scope, id } = claim.thread;
  const wanted = { ...owner(scope), id, fence: claim.fence, holder: claim.holder };
  const held = db.first(
    query
      .selectFrom("thread")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
  if (held && findTurn(db, scope, claim.turn)?.status === "running") return held;
  const says = `another worker took thread ${id} over while turn ${claim.turn} ran; nothing of this attempt was kept`;
  throw new StrataError("lease_lost", `${says}: read the thread again, the other worker's turn stands`, { thread: id });
}

/** What the turn had to handle, for the record; a turn that failed does not consume it. */
function keepEvents(db: Connection, at: Settling, claim: Claim): void {
  for (const [position, { id: event }] of claim.events.entries()) {
    db.run(query.insertInto("turn_event").values({ ...owner(at.scope), turn: at.turn, position, event }));
  }
}

/** The reply's text or the failure's sentence: it may quote a contact, so it is kept as the contact's. */
function keepWords(db: Connection, at: Settling, end: TurnEnd): Row<"turn">["words"] {
  const words = end.status === "done" ? end.reply : end.message;
  return words === null ? null : keepOwn(db, at.scope, at.key, JSON.stringify(words));
}

function endTurn(db: Connection, at: Settling, outcome: TurnOutcome, words: Row<"turn">["words"]): void {
  const { end, model, wire, mode } = outcome;
  const epoch = lastEpoch(db, at.scope, at.thread);
  const ended = {
    status: end.status,
    ended_at: outcome.at,
    stop: end.status === "done" ? end.stop : null,
    code: end.status === "failed" ? end.code : null,
    words,
    model,
    wire,
    mode,
    totals: JSON.stringify(outcome.totals),
    epoch: epoch?.n ?? null,
    length: epoch ? transcriptEnd(db, at.scope, at.thread, epoch.n).position : null,
  };
  const wanted = { ...owner(at.scope), id: at.turn };
  db.run(
    query
      .updateTable("turn")
      .set(ended)
      .where((eb) => eb.and(wanted)),
  );
}

/** Frees the thread for the next worker and counts the turn. */
function release(db: Connection, thread: Row<"thread">, at: number): void {
  const freed = {
    holder: null,
    lease_until: null,
    turns: thread.turns + 1,
    last_activity: Math.max(thread.last_activity, at),
  };
  const wanted = { ...owner(thread), id: thread.id };
  db.run(
    query
      .updateTable("thread")
      .set(freed)
      .where((eb) => eb.and(wanted)),
  );
}

/** Links the turn as it now stands in the tables. */
export function linkTurn(db: Connection, at: Pick<Settling, "scope" | "turn">): ChainHead {
  const ended = findTurn(db, at.scope, at.turn);
  if (!ended) throw new StrataError("unexpected", `turn ${at.turn} vanished inside its own commit: please report it`);
  return appendTurn(db, at.scope, at.turn, turnLink(db, ended));
}
