import {
  type AgentName,
  type ContactScope,
  type Digest,
  isErased,
  type OrgId,
  type Scope,
  StrataError,
  type ThreadId,
} from "../../protocol/index.ts";
import { toSlot, toThread } from "../rows.ts";
import type { Slot } from "../slot.ts";
import { fixed, insert, query } from "../statement.ts";
import type { ClaimRequest, Thread, ThreadMove, ThreadOpening } from "../store.ts";
import type { Row } from "../tables.ts";
import type { Connection } from "./connection.ts";
import { keepShared, sharedText } from "./pieces.ts";
import { atMost, owner, within } from "./scope.ts";

/** Keeps a version's declaration; the first one stays. */
export function saveAgentVersion(
  db: Connection,
  org: OrgId,
  agent: AgentName,
  version: Digest,
  spec: string,
  at: number,
): void {
  db.write(() => {
    const row = { org, agent, version, piece: keepShared(db, org, spec), at };
    db.run(
      query
        .insertInto("agent_version")
        .values(row)
        .onConflict((on) => on.columns(["org", "agent", "version"]).doNothing()),
    );
  });
}

/** A version's declaration as it was kept. */
export function agentVersion(db: Connection, org: OrgId, agent: AgentName, version: Digest): string | undefined {
  return db.read(() => {
    const wanted = { org, agent, version };
    const found = query
      .selectFrom("agent_version")
      .select("piece")
      .where((eb) => eb.and(wanted));
    const row = db.first(found);
    return row && sharedText(db, org, row.piece);
  });
}

/** Looks and makes in one write transaction, so of two openers one waits and then finds the other's thread. */
export function openThread(db: Connection, scope: ContactScope, opening: ThreadOpening): Thread {
  return db.write(() => {
    const { channel, key } = opening;
    const wanted = { ...owner(scope), channel, key };
    const open = query
      .selectFrom("thread")
      .selectAll()
      .where((eb) => eb.and(wanted))
      .where("erased_link", "is", null);
    const known = db.first(open);
    if (known) return toThread(repinned(db, known, opening));
    const row = newThread(scope, opening);
    db.run(insert("thread", row));
    return toThread(row);
  });
}

/** A thread that has no epoch yet has sent nothing: it takes the newest version, like a new one. A fork has its parent's. */
function repinned(db: Connection, known: Row<"thread">, { version }: ThreadOpening): Row<"thread"> {
  const begun = known.holder !== null || known.turns > 0 || known.forked_thread !== null;
  return begun ? known : pinned(db, known, version);
}

/** The thread, pinned to that version from now on; to its own where none is named. */
export function pinned(db: Connection, known: Row<"thread">, version = known.version): Row<"thread"> {
  if (known.version === version) return known;
  const wanted = { ...owner(known), id: known.id };
  db.run(
    query
      .updateTable("thread")
      .set({ version })
      .where((eb) => eb.and(wanted)),
  );
  return { ...known, version };
}

/** The same, unless a turn runs on it. */
export function moveThread(db: Connection, scope: ContactScope, id: ThreadId, move: ThreadMove): Thread {
  return db.write(() => {
    const row = openRow(db, scope, id);
    if (lease(row, move) === undefined) return toThread(pinned(db, row, move.version));
    const message = `a turn runs on ${id} just now; try again when it has ended, or stop it with \`strata thread cancel ${id}\``;
    throw new StrataError("thread_busy", message, { thread: id });
  });
}

/** The row of a thread that is opened. */
export function newThread(scope: ContactScope, opening: ThreadOpening): Row<"thread"> {
  const { id, channel, key, version, at, forkedFrom } = opening;
  return {
    ...owner(scope),
    id,
    channel,
    key,
    version,
    forked_thread: forkedFrom?.thread ?? null,
    forked_turn: forkedFrom?.turn ?? null,
    created_at: at,
    last_activity: at,
    turns: 0,
    fence: 0,
    holder: null,
    lease_until: null,
    erased_link: null,
    stop_fence: null,
  };
}

/** A thread in scope. */
export function thread(db: Connection, scope: Scope, id: ThreadId): Thread | undefined {
  const row = findThread(db, scope, id);
  return row && toThread(row);
}

/** Threads in scope, the newest activity first. */
export function threads(db: Connection, scope: Scope, limit: number): readonly Thread[] {
  const wanted = within(scope);
  const recent = query
    .selectFrom("thread")
    .selectAll()
    .where((eb) => eb.and(wanted))
    .orderBy("last_activity", "desc")
    .orderBy("id", "desc")
    .limit(atMost(limit));
  return db.all(recent).map(toThread);
}

/** The row of a thread in scope. */
export function findThread(db: Connection, scope: Scope, id: ThreadId): Row<"thread"> | undefined {
  const { contact } = scope;
  if (contact !== null) return db.first(threadOf({ ...scope, contact, id }));
  const wanted = { ...within(scope), id };
  return db.first(
    query
      .selectFrom("thread")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
}

const threadOf = fixed((at: ContactScope & { readonly id: ThreadId }) =>
  query
    .selectFrom("thread")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

/** The row of a thread in scope that can still take events. @throws StrataError `thread_not_found` */
export function openRow(db: Connection, scope: ContactScope, id: ThreadId): Row<"thread"> {
  const row = findThread(db, scope, id) ?? erasedThread(db, scope, id);
  if (row && row.erased_link === null) return row;
  const why = row ? "was closed when its contact's data was erased" : "is not in reach";
  throw new StrataError("thread_not_found", `thread ${id} ${why}: open a thread for this contact and use its id`, {
    thread: id,
  });
}

/** A thread of a contact who was erased: its id is all that still leads there. */
function erasedThread(db: Connection, { org, agent }: ContactScope, id: ThreadId): Row<"thread"> | undefined {
  const row = findThread(db, { org, agent, contact: null }, id);
  return row && isErased(row.contact) ? row : undefined;
}

/** A thread's pure history, in order. */
export function slots(db: Connection, scope: ContactScope, id: ThreadId): readonly Slot[] {
  const ordered = query
    .selectFrom("slot")
    .innerJoin("piece", (join) =>
      join
        .onRef("piece.org", "=", "slot.org")
        .onRef("piece.agent", "=", "slot.agent")
        .onRef("piece.contact", "=", "slot.contact")
        .onRef("piece.digest", "=", "slot.piece"),
    )
    .selectAll("slot")
    .select("piece.text")
    .where("slot.org", "=", scope.org)
    .where("slot.agent", "=", scope.agent)
    .where("slot.contact", "=", scope.contact)
    .where("slot.thread", "=", id)
    .orderBy("slot.position");
  return db.all(ordered).map(toSlot);
}

/** Who holds the thread, if the lease still counts. The asker's own counts too: one holder may run two tasks at once. */
export function lease(
  row: Row<"thread">,
  request: Pick<ClaimRequest, "now" | "alive">,
): { holder: string; until: number } | undefined {
  const { holder, lease_until: until } = row;
  if (holder === null || until === null || until <= request.now) return undefined;
  return request.alive(holder) ? { holder, until } : undefined;
}
