import {
  type ContactScope,
  type Digest,
  isBatch,
  NO_USAGE,
  StrataError,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import type { StagedReply } from "../batch.ts";
import type { MessageMark } from "../digests.ts";
import { fixed, insert, query } from "../statement.ts";
import type { ChainHead, Claim, Settled, TurnEnd, TurnOutcome } from "../store.ts";
import type { Row } from "../tables.ts";
import { countTurn } from "./agent/tally.ts";
import { type AppliedTurn, applyTurn } from "./apply-turn.ts";
import { appendTurn } from "./chain.ts";
import type { Connection } from "./connection.ts";
import { keepMessages, lastEpoch, openEpoch, type TranscriptEnd, transcriptEnd } from "./epochs.ts";
import { beginFork } from "./fork.ts";
import { keepOwn, scopeKey } from "./pieces.ts";
import { keepOwnMessages, keepRequest } from "./requests.ts";
import { owner } from "./scope.ts";
import type { Settling } from "./settling.ts";
import { findThread } from "./threads.ts";
import { turnLink } from "./turn-link.ts";
import { findTurn } from "./turns.ts";

/**
 * The one commit (law 7). Everything below happens in one transaction: all of it is there afterwards, or none.
 * First the fence: a worker that lost its lease writes nothing.
 */
export function settle(db: Connection, claim: Claim, outcome: TurnOutcome): Settled {
  const { staged, ...own } = claim;
  if (staged === undefined) return db.write(() => settleOne(db, claim, outcome));
  return db.write(() => {
    // The messages are the senders', and so is what is said to them: each has it in a turn and a scope of its own.
    const settled = settleOne(db, { ...own, events: [] }, outcome);
    for (const one of staged) settleOne(db, one, outcomeFor(one, outcome));
    return settled;
  });
}

function settleOne(db: Connection, claim: Claim, outcome: TurnOutcome): Settled {
  const thread = fenced(db, claim);
  const { scope } = claim.thread;
  const at: Settling = { scope, thread: thread.id, turn: claim.turn, key: scopeKey(db, scope) };
  beginFork(db, at);
  for (const epoch of outcome.epochs) openEpoch(db, at, epoch);
  const messages = keepMessages(db, at, outcome.messages);
  keepOwnMessages(db, at, messages);
  for (const request of outcome.requests) keepRequest(db, at, request, messages.length);
  keepEvents(db, at, claim);
  const words = keepWords(db, at, outcome.end);
  const { end, evicted = [], overtaken = [] } = finish(db, at, { claim, outcome, words, messages });
  endTurn(db, at, { outcome, words, end });
  release(db, thread, outcome.at);
  return {
    ...linkTurn(db, at),
    ...(evicted.length > 0 && { evicted }),
    ...(overtaken.length > 0 && { overtaken }),
  };
}

/**
 * The thread, if the claim is still its newest and the claim's turn runs.
 * @throws StrataError `lease_lost`, also where one of several senders was erased; `thread_not_found` where the only one was
 */
function fenced(db: Connection, claim: Claim): Row<"thread"> {
  const { scope, id } = claim.thread;
  const held = db.first(heldThread({ ...owner(scope), id, fence: claim.fence, holder: claim.holder }));
  if (held && findTurn(db, scope, claim.turn)?.status === "running") return held;
  // Its contact has another name since.
  if (typeof findThread(db, { ...scope, contact: null }, id)?.erased_link === "number") throw erasedMeanwhile(claim);
  const says = `another worker took thread ${id} over while turn ${claim.turn} ran; nothing of this attempt was kept`;
  throw new StrataError("lease_lost", `${says}: read the thread again, the other worker's turn stands`, { thread: id });
}

function erasedMeanwhile({ turn, thread: { scope, id } }: Claim): StrataError {
  if (isBatch(scope)) {
    const says = `one of the senders of turn ${turn} was erased while it ran; nothing of it was kept, and the others wait for the next`;
    return new StrataError("lease_lost", says, { turn, thread: id });
  }
  const says = `${scope.contact} was erased while turn ${turn} ran; nothing of it was kept, and thread ${id} is closed`;
  return new StrataError("thread_not_found", `${says}: open a new one to talk with this contact`, { turn, thread: id });
}

interface Held {
  readonly id: ThreadId;
  readonly fence: number;
  readonly holder: string;
}

const heldThread = fixed((at: ContactScope & Held) =>
  query
    .selectFrom("thread")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), id: at.id, fence: at.fence, holder: at.holder })),
);

/** What the turn had to handle, for the record; a turn that failed does not consume it. */
function keepEvents(db: Connection, at: Settling, claim: Claim): void {
  for (const [position, { id: event }] of claim.events.entries()) {
    db.run(insert("turn_event", { ...owner(at.scope), turn: at.turn, position, event }));
  }
}

/** The reply's text or the failure's sentence: it may quote a contact, so it is kept as the contact's. */
function keepWords(db: Connection, at: Settling, end: TurnEnd): Digest | null {
  const words = end.status === "done" ? end.reply : end.message;
  return words === null ? null : keepOwn(db, at.scope, at.key, JSON.stringify(words));
}

interface Finished {
  readonly claim: Claim;
  readonly outcome: TurnOutcome;
  readonly words: Digest | null;
  readonly messages: readonly MessageMark[];
}

/** Applies what a turn that ended well changes. Gives where the thread's transcript then ends, if it has one. */
function finish(db: Connection, at: Settling, turn: Finished): AppliedTurn {
  const epoch = lastEpoch(db, at.scope, at.thread);
  const end = epoch && transcriptEnd(db, at.scope, at.thread, epoch.n);
  return turn.outcome.end.status === "done" ? applyTurn(db, at, { ...turn, end }) : { end };
}

interface Ended {
  readonly outcome: TurnOutcome;
  readonly words: Digest | null;
  readonly end: TranscriptEnd | undefined;
}

function endTurn(db: Connection, at: Settling, { outcome, words, end }: Ended): void {
  const { model, wire, mode } = outcome;
  const columns: EndColumns = {
    status: outcome.end.status,
    ended_at: outcome.at,
    stop: outcome.end.status === "done" ? outcome.end.stop : null,
    code: outcome.end.status === "failed" ? outcome.end.code : null,
    words,
    model,
    wire,
    mode,
    totals: JSON.stringify(outcome.totals),
    epoch: end?.epoch ?? null,
    length: end?.position ?? null,
  };
  db.run(endedTurn({ ...owner(at.scope), id: at.turn, ...columns }));
  countTurn(db, at, outcome.requests);
}

type EndColumns = Pick<
  Row<"turn">,
  "status" | "ended_at" | "stop" | "code" | "words" | "model" | "wire" | "mode" | "totals" | "epoch" | "length"
>;

const endedTurn = fixed((at: ContactScope & EndColumns & { readonly id: TurnId }) => {
  const { status, ended_at, stop, code, words, model, wire, mode, totals, epoch, length } = at;
  return query
    .updateTable("turn")
    .set({ status, ended_at, stop, code, words, model, wire, mode, totals, epoch, length })
    .where((eb) => eb.and({ ...owner(at), id: at.id }));
});

/** Frees the thread for the next worker and counts the turn. */
function release(db: Connection, thread: Row<"thread">, at: number): void {
  const last_activity = Math.max(thread.last_activity, at);
  db.run(freedThread({ ...owner(thread), id: thread.id, turns: thread.turns + 1, last_activity }));
}

const freedThread = fixed((at: ContactScope & Pick<Row<"thread">, "id" | "turns" | "last_activity">) =>
  query
    .updateTable("thread")
    .set({ holder: null, lease_until: null, turns: at.turns, last_activity: at.last_activity })
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

/** Links the turn as it now stands in the tables. */
export function linkTurn(db: Connection, at: Pick<Settling, "scope" | "turn">): ChainHead {
  const ended = findTurn(db, at.scope, at.turn);
  if (!ended) throw new StrataError("unexpected", `turn ${at.turn} vanished inside its own commit: please report it`);
  return appendTurn(db, at.scope, at.turn, turnLink(db, ended));
}

/** What a turn of several senders is for one of them: its end and the reply. What was sent and paid for stands in the turn of all. */
function outcomeFor({ thread, events }: Claim, outcome: TurnOutcome): TurnOutcome {
  const { at, model, wire, mode, deliverAfter } = outcome;
  const told = outcome.replies?.find((one) => one.thread === thread.id);
  return {
    end: endFor(outcome.end, told, events.length),
    at,
    model,
    wire,
    mode,
    epochs: [],
    messages: [],
    requests: [],
    writes: [],
    approvals: [],
    totals: { rounds: 0, calls: 0, usage: NO_USAGE, dollars: 0, milliseconds: 0 },
    outbox: told?.outbox ?? outcome.outbox,
    memories: [],
    unremembered: told?.unremembered ?? [],
    log: true,
    ...(deliverAfter !== undefined && { deliverAfter }),
  };
}

/** A failure is told without its words: they may be another sender's. */
function endFor(end: TurnEnd, told: StagedReply | undefined, handled: number): TurnEnd {
  if (end.status === "failed") {
    const message = "the turn that handled these messages with those of other senders failed; they keep waiting";
    return { status: "failed", code: end.code, message };
  }
  if (told) return { ...end, reply: told.reply };
  if (handled > 0) {
    const message = "the agent's credits ended before these messages were answered; they keep waiting";
    return { status: "failed", code: "out_of_credits", message };
  }
  const message = "these messages had no room beside those of other senders; they keep waiting for the next turn";
  return { status: "failed", code: "turn_cancelled", message };
}
