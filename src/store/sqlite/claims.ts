import {
  type ContactScope,
  isBatch,
  issueId,
  type OrgId,
  type StoredEvent,
  StrataError,
  type ThreadId,
  turnId,
} from "../../protocol/index.ts";
import { toThread } from "../rows.ts";
import { fixed, insert, query } from "../statement.ts";
import type { Claim, Claimed, ClaimRequest, HeldThread } from "../store.ts";
import type { Row } from "../tables.ts";
import type { Connection } from "./connection.ts";
import { pending } from "./events.ts";
import { currentEpoch } from "./fork.ts";
import { owner } from "./scope.ts";
import { members, noteStaged, stagedIn } from "./staged.ts";
import { stopTurn } from "./stop-turn.ts";
import { lease, openRow, pinned } from "./threads.ts";
import { runningTurn } from "./turns.ts";

/** Takes the thread for one worker, with all that waits on it. */
export function claim(db: Connection, scope: ContactScope, id: ThreadId, request: ClaimRequest): Claimed {
  return db.write(() => {
    const row = openRow(db, scope, id);
    const held = lease(row, request);
    if (held) return { state: "busy", ...held };
    if (isElsewhere(db, row, request)) return { state: "moved", thread: toThread(row) };
    const claimed = isBatch(scope) ? claimBatch(db, row, request) : claimAlone(db, row, request);
    return claimed ? { state: "claimed", claim: claimed } : { state: "idle" };
  });
}

/** Somebody else has pinned the thread to another version since the asker looked, and its transcript runs with that. */
function isElsewhere(db: Connection, row: Row<"thread">, { version = row.version }: ClaimRequest): boolean {
  if (version === row.version) return false;
  const epoch = currentEpoch(db, toThread(row).scope, row.id);
  return epoch !== undefined && epoch.reason !== "alone";
}

/** A sender's thread by itself: not while a turn of several was interrupted over it, for what that did outside is journaled there. */
function claimAlone(db: Connection, row: Row<"thread">, request: ClaimRequest): Claim | undefined {
  const running = db.first(runningTurn({ ...owner(row), thread: row.id }));
  const staged = running && stagedIn(db, row, running.id);
  if (staged && db.first(runningTurn({ ...owner(row), contact: staged.batch_contact, thread: staged.batch }))) {
    const says = `the messages on ${row.id} are staged with those of other senders in a turn that was interrupted`;
    const message = `${says}; \`strata inbox run ${row.agent}\` or \`POST /v1/agents/${row.agent}/inbox/run\` takes it up again`;
    throw new StrataError("thread_busy", message, { thread: row.id });
  }
  return claimWaiting(db, row, request);
}

function claimWaiting(db: Connection, row: Row<"thread">, request: ClaimRequest): Claim | undefined {
  const events = pending(db, row, row.id);
  return events.length === 0 ? undefined : { ...take(db, row, request), events };
}

/** All that waits of the senders that are staged and whom nobody else holds; each sender's messages as a turn of their own. */
function claimBatch(db: Connection, row: Row<"thread">, request: ClaimRequest): Claim | undefined {
  const staged = members(db, row).flatMap((member) => {
    if (lease(member, request)) return [];
    const turn = turnId(issueId("turn", request.now, db.random(10)));
    const claimed = claimWaiting(db, member, { version: row.version, ...request, turn });
    if (claimed) noteStaged(db, row, member, claimed.turn);
    return claimed ?? [];
  });
  const events = staged.flatMap((one) => one.events);
  return events.length === 0 ? undefined : { ...take(db, row, request), events, staged };
}

function take(db: Connection, known: Row<"thread">, request: ClaimRequest): Omit<Claim, "events"> {
  const row = pinned(db, known, request.version);
  const { turn, attempt } = takeUp(db, row, request);
  const fence = row.fence + 1;
  setLease(db, row, { fence, holder: request.holder, lease_until: request.until });
  const epoch = currentEpoch(db, toThread(row).scope, row.id);
  return { thread: toThread(row), turn, attempt, fence, holder: request.holder, epoch };
}

/** Takes back what waits, unless a worker holds it just now. A turn that was interrupted over it is never taken up again: it ends. */
export function withdraw(
  db: Connection,
  scope: ContactScope,
  id: ThreadId,
  request: Pick<ClaimRequest, "now" | "at" | "alive">,
): readonly StoredEvent[] {
  return db.write(() => {
    const row = openRow(db, scope, id);
    if (lease(row, request)) {
      const message = `a turn on ${id} handles its messages just now; \`strata thread cancel ${id}\` or \`POST /v1/threads/${id}/cancel\` stops it`;
      throw new StrataError("thread_busy", message, { thread: id });
    }
    stopTurn(db, row, { at: request.at, says: "the turn was interrupted, and its messages were taken back" });
    const waiting = pending(db, scope, id);
    db.run(
      query
        .updateTable("event")
        .set({ status: "withdrawn" })
        .where((eb) => eb.and({ ...owner(scope), thread: id, status: "pending" })),
    );
    return waiting.map((event) => ({ ...event, status: "withdrawn" }));
  });
}

/** The turn that was interrupted, once more, or a new one. */
function takeUp(db: Connection, row: Row<"thread">, request: ClaimRequest): Pick<Claim, "turn" | "attempt"> {
  const running = db.first(runningTurn({ ...owner(row), thread: row.id }));
  if (!running) {
    db.run(insert("turn", newTurn(row, request)));
    return { turn: request.turn, attempt: 1 };
  }
  const attempt = running.attempt + 1;
  db.run(
    query
      .updateTable("turn")
      .set({ attempt, version: row.version })
      .where((eb) => eb.and({ ...owner(row), id: running.id })),
  );
  return { turn: running.id, attempt };
}

function newTurn(row: Row<"thread">, request: ClaimRequest): Row<"turn"> {
  return {
    ...owner(row),
    id: request.turn,
    thread: row.id,
    seq: row.turns + 1,
    status: "running",
    attempt: 1,
    version: row.version,
    started_at: request.at,
    ended_at: null,
    stop: null,
    code: null,
    words: null,
    model: null,
    wire: null,
    mode: null,
    totals: null,
    epoch: null,
    length: null,
    link: null,
  };
}

type Lease = Pick<Row<"thread">, "fence" | "holder" | "lease_until">;

function setLease(db: Connection, row: Row<"thread">, lease: Lease): void {
  db.run(newLease({ ...owner(row), id: row.id, ...lease }));
}

const newLease = fixed((at: ContactScope & Lease & { readonly id: ThreadId }) =>
  query
    .updateTable("thread")
    .set({ fence: at.fence, holder: at.holder, lease_until: at.lease_until })
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

/** Notes on the thread that its present claim shall end; a later claim is not meant. */
export function askStop(
  db: Connection,
  scope: ContactScope,
  id: ThreadId,
  at: Pick<ClaimRequest, "now" | "alive">,
): boolean {
  return db.write(() => {
    const row = openRow(db, scope, id);
    if (lease(row, at) === undefined) return false;
    db.run(
      query
        .updateTable("thread")
        .set({ stop_fence: row.fence })
        .where((eb) => eb.and({ ...owner(row), id })),
    );
    return true;
  });
}

/** Looked at each second of a turn. */
export function stopAsked(db: Connection, claim: Claim): boolean {
  return [claim, ...(claim.staged ?? [])].some(({ thread: { scope, id }, fence }) => {
    return db.first(stoppedThread({ ...owner(scope), id, fence })) !== undefined;
  });
}

const stoppedThread = fixed((at: ContactScope & { readonly id: ThreadId; readonly fence: number }) =>
  query
    .selectFrom("thread")
    .select("id")
    .where((eb) => eb.and({ ...owner(at), id: at.id, stop_fence: at.fence })),
);

/** Who holds which thread, whether the lease still counts or not. */
export function leases(db: Connection, org: OrgId): readonly HeldThread[] {
  const held = query
    .selectFrom("thread")
    .selectAll()
    .where("org", "=", org)
    .where("holder", "is not", null)
    .orderBy("id");
  return db.all(held).map(({ id: thread, agent, contact, holder, lease_until }) => {
    return { thread, scope: { org, agent, contact }, holder: holder ?? "", until: lease_until ?? 0 };
  });
}

/** Holds the thread for longer, and all that it stages; no when somebody else holds one of them or nobody does. */
export function renew(db: Connection, claim: Claim, until: number): boolean {
  const all = [claim, ...(claim.staged ?? [])];
  return db.write(() => all.every((one) => renewOne(db, one, until)));
}

function renewOne(db: Connection, { thread: { scope, id }, fence, holder }: Claim, until: number): boolean {
  const wanted = { ...owner(scope), id, fence, holder };
  return (
    db.run(
      query
        .updateTable("thread")
        .set({ lease_until: until })
        .where((eb) => eb.and(wanted)),
    ) === 1
  );
}
