import { type ContactScope, type OrgId, type StoredEvent, StrataError, type ThreadId } from "../../protocol/index.ts";
import { toThread } from "../rows.ts";
import type { Claim, Claimed, ClaimRequest, HeldThread } from "../store.ts";
import type { Row } from "../tables.ts";
import type { Connection } from "./connection.ts";
import { pending } from "./events.ts";
import { currentEpoch } from "./fork.ts";
import { owner } from "./scope.ts";
import { fixed, insert, query } from "./statement.ts";
import { stopTurn } from "./stop-turn.ts";
import { openRow } from "./threads.ts";
import { runningTurn } from "./turns.ts";

/** Takes the thread for one worker, with all that waits on it. */
export function claim(db: Connection, scope: ContactScope, id: ThreadId, request: ClaimRequest): Claimed {
  return db.write(() => {
    const row = openRow(db, scope, id);
    const held = lease(row, request);
    if (held) return { state: "busy", ...held };
    const events = pending(db, scope, id);
    if (events.length === 0) return { state: "idle" };
    const { turn, attempt } = takeUp(db, row, request);
    const fence = row.fence + 1;
    setLease(db, row, { fence, holder: request.holder, lease_until: request.until });
    const epoch = currentEpoch(db, scope, id);
    const taken: Claim = { thread: toThread(row), turn, attempt, fence, holder: request.holder, events, epoch };
    return { state: "claimed", claim: taken };
  });
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
      const message = `a turn on ${id} handles its messages just now; \`strata thread cancel ${id}\` stops it`;
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

/** Who holds the thread, if the lease still counts. The asker's own counts too: one holder may run two tasks at once. */
function lease(
  row: Row<"thread">,
  request: Pick<ClaimRequest, "now" | "alive">,
): { holder: string; until: number } | undefined {
  const { holder, lease_until: until } = row;
  if (holder === null || until === null || until <= request.now) return undefined;
  return request.alive(holder) ? { holder, until } : undefined;
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
      .set({ attempt })
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
  const { scope, id } = claim.thread;
  return db.first(stoppedThread({ ...owner(scope), id, fence: claim.fence })) !== undefined;
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

/** Holds the thread for longer; no when somebody else holds it or nobody does. */
export function renew(db: Connection, claim: Claim, until: number): boolean {
  const { scope, id } = claim.thread;
  const wanted = { ...owner(scope), id, fence: claim.fence, holder: claim.holder };
  return (
    db.run(
      query
        .updateTable("thread")
        .set({ lease_until: until })
        .where((eb) => eb.and(wanted)),
    ) === 1
  );
}
