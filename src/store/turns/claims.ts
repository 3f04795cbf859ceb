import { sql } from "kysely";
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
import type { Claim, Claimed, ClaimRequest, HeldThread } from "../records.ts";
import { toThread } from "../rows.ts";
import { fixed, insert, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { batchMemberOf, members, noteBatchMember } from "../threads/batch-members.ts";
import { pending } from "../threads/events.ts";
import { currentEpoch } from "../threads/fork.ts";
import { lease, openRow, pinned } from "../threads/threads.ts";
import { inOrder, type Tx } from "../tx.ts";
import { stopTurn } from "./settle.ts";
import { runningTurn } from "./turns.ts";

/** Takes the thread for one worker, with all that waits on it. */
export async function claim(tx: Tx, scope: ContactScope, id: ThreadId, request: ClaimRequest): Promise<Claimed> {
  const row = await openRow(tx, scope, id);
  const held = lease(row, request);
  if (held) return { state: "busy", ...held };
  if (await isElsewhere(tx, row, request)) return { state: "moved", thread: toThread(row) };
  const claimed = isBatch(scope) ? await claimBatch(tx, row, request) : await claimAlone(tx, row, request);
  return claimed ? { state: "claimed", claim: claimed } : { state: "idle" };
}

/** Somebody else has pinned the thread to another version since the asker looked, or its transcript runs with another. */
async function isElsewhere(
  tx: Tx,
  row: Row<"thread">,
  { version = row.version, seen }: ClaimRequest,
): Promise<boolean> {
  if (version === row.version) return false;
  if (seen !== undefined && seen !== row.version) return true;
  const epoch = await currentEpoch(tx, toThread(row).scope, row.id);
  return epoch !== undefined && epoch.reason !== "alone";
}

/** A sender's thread by itself: not while a turn of several was interrupted over it, for what that did outside is journaled there. */
async function claimAlone(tx: Tx, row: Row<"thread">, request: ClaimRequest): Promise<Claim | undefined> {
  const running = await runningOn(tx, row);
  const batchMembers = running && (await batchMemberOf(tx, row, running.id));
  if (
    batchMembers &&
    (await tx.first(runningTurn({ ...owner(row), contact: batchMembers.batch_contact, thread: batchMembers.batch })))
  ) {
    const says = `the messages on ${row.id} were taken together with those of other senders in a turn that was interrupted`;
    const message = `${says}; \`strata inbox run ${row.agent}\` or \`POST /v1/agents/${row.agent}/inbox/run\` continues it`;
    throw new StrataError("thread_busy", message, { thread: row.id });
  }
  return claimWaiting(tx, row, request, running);
}

async function claimWaiting(
  tx: Tx,
  row: Row<"thread">,
  request: ClaimRequest,
  running: Running,
): Promise<Claim | undefined> {
  const events = await pending(tx, row, row.id);
  return events.length === 0 ? undefined : { ...(await take(tx, row, request, running)), events };
}

/** The turn that was interrupted on a thread, if one was. */
type Running = Pick<Row<"turn">, "id" | "attempt"> | undefined;

const runningOn = (tx: Tx, row: Row<"thread">): Promise<Running> =>
  tx.first(runningTurn({ ...owner(row), thread: row.id }));

/** All that waits of the senders of the batch whom nobody else holds; each sender's messages as a turn of their own. */
async function claimBatch(tx: Tx, row: Row<"thread">, request: ClaimRequest): Promise<Claim | undefined> {
  const batchMembers = (
    await inOrder(await members(tx, row), async (member) => {
      if (lease(member, request)) return [];
      const turn = turnId(issueId("turn", request.now, tx.random(10)));
      const wanted = { version: row.version, ...request, turn };
      const claimed = await claimWaiting(tx, member, wanted, await runningOn(tx, member));
      if (claimed) await noteBatchMember(tx, row, member, claimed.turn);
      return claimed ?? [];
    })
  ).flat();
  const events = batchMembers.flatMap((one) => one.events);
  return events.length === 0
    ? undefined
    : { ...(await take(tx, row, request, await runningOn(tx, row))), events, batchMembers: batchMembers };
}

async function take(
  tx: Tx,
  known: Row<"thread">,
  request: ClaimRequest,
  running: Running,
): Promise<Omit<Claim, "events">> {
  const row = await pinned(tx, known, request.version);
  const { turn, attempt } = await takeUp(tx, row, request, running);
  const fence = row.fence + 1;
  await setLease(tx, row, { fence, holder: request.holder, lease_until: request.until });
  const epoch = await currentEpoch(tx, toThread(row).scope, row.id);
  return { thread: toThread(row), turn, attempt, fence, holder: request.holder, epoch };
}

/** Takes back what waits, unless a worker holds it just now. A turn that was interrupted over it is never taken up again: it ends. */
export async function withdraw(
  tx: Tx,
  scope: ContactScope,
  id: ThreadId,
  request: Pick<ClaimRequest, "now" | "at" | "alive">,
): Promise<readonly StoredEvent[]> {
  const row = await openRow(tx, scope, id);
  if (lease(row, request)) {
    const message = `a turn on ${id} is handling its messages; \`strata thread cancel ${id}\` or \`POST /v1/threads/${id}/cancel\` stops it`;
    throw new StrataError("thread_busy", message, { thread: id });
  }
  await stopTurn(tx, row, { at: request.at, says: "the turn was interrupted, and its messages were taken back" });
  const waiting = await pending(tx, scope, id);
  await tx.run(
    query
      .updateTable("event")
      .set({ status: "withdrawn" })
      .where((eb) => eb.and({ ...owner(scope), thread: id }))
      .where("status", "=", sql.lit("pending")),
  );
  return waiting.map((event) => ({ ...event, status: "withdrawn" }));
}

/** The turn that was interrupted, once more, or a new one. */
async function takeUp(
  tx: Tx,
  row: Row<"thread">,
  request: ClaimRequest,
  running: Running,
): Promise<Pick<Claim, "turn" | "attempt">> {
  if (!running) {
    await tx.run(insert("turn", newTurn(row, request)));
    return { turn: request.turn, attempt: 1 };
  }
  const attempt = running.attempt + 1;
  await tx.run(
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
    own: null,
  };
}

type Lease = Pick<Row<"thread">, "fence" | "holder" | "lease_until">;

async function setLease(tx: Tx, row: Row<"thread">, lease: Lease): Promise<void> {
  await tx.run(newLease({ ...owner(row), id: row.id, ...lease }));
}

const newLease = fixed((at: ContactScope & Lease & { readonly id: ThreadId }) =>
  query
    .updateTable("thread")
    .set({ fence: at.fence, holder: at.holder, lease_until: at.lease_until })
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

/** Notes on the thread that its present claim shall end; a later claim is not meant. */
export async function askStop(
  tx: Tx,
  scope: ContactScope,
  id: ThreadId,
  at: Pick<ClaimRequest, "now" | "alive">,
): Promise<boolean> {
  const row = await openRow(tx, scope, id);
  if (lease(row, at) === undefined) return false;
  await tx.run(
    query
      .updateTable("thread")
      .set({ stop_fence: row.fence })
      .where((eb) => eb.and({ ...owner(row), id })),
  );
  return true;
}

/** Looked at each second of a turn. */
export async function stopAsked(tx: Tx, claim: Claim): Promise<boolean> {
  for (const { thread, fence } of [claim, ...(claim.batchMembers ?? [])]) {
    const { scope, id } = thread;
    if ((await tx.first(stoppedThread({ ...owner(scope), id, fence }))) !== undefined) return true;
  }
  return false;
}

const stoppedThread = fixed((at: ContactScope & { readonly id: ThreadId; readonly fence: number }) =>
  query
    .selectFrom("thread")
    .select("id")
    .where((eb) => eb.and({ ...owner(at), id: at.id, stop_fence: at.fence })),
);

/** Who holds which thread, whether the lease still counts or not. */
export async function leases(tx: Tx, org: OrgId): Promise<readonly HeldThread[]> {
  const held = query
    .selectFrom("thread")
    .selectAll()
    .where("org", "=", org)
    .where("holder", "is not", null)
    .orderBy("id");
  return (await tx.all(held)).map(({ id: thread, agent, contact, holder, lease_until }) => {
    return { thread, scope: { org, agent, contact }, holder: holder ?? "", until: lease_until ?? 0 };
  });
}

/** Holds the thread for longer, and with it those of its senders; false if somebody else holds one of them or nobody does. */
export async function renew(tx: Tx, claim: Claim, until: number): Promise<boolean> {
  for (const one of [claim, ...(claim.batchMembers ?? [])]) {
    if (!(await renewOne(tx, one, until))) return false;
  }
  return true;
}

async function renewOne(tx: Tx, { thread: { scope, id }, fence, holder }: Claim, until: number): Promise<boolean> {
  const wanted = { ...owner(scope), id, fence, holder };
  return (
    (await tx.run(
      query
        .updateTable("thread")
        .set({ lease_until: until })
        .where((eb) => eb.and(wanted)),
    )) === 1
  );
}
