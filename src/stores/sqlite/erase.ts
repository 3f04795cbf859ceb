import { type Actor, type ContactScope, canonicalJson, isBatch, type ThreadId } from "../../protocol/index.ts";
import type { Row } from "../tables.ts";
import { dropLog } from "./agent/conversations.ts";
import { closeProposals } from "./agent/proposals.ts";
import { closeApprovals } from "./approvals.ts";
import { append } from "./chain.ts";
import type { Connection } from "./connection.ts";
import { freeErasedIds } from "./events.ts";
import { countChange, memoryScope } from "./memory/memory-scope.ts";
import { unindexScope } from "./memory/units.ts";
import { knownKey } from "./pieces.ts";
import { owner } from "./scope.ts";
import { batchesWith, freeMembers } from "./staged.ts";
import { plain, query } from "./statement.ts";
import { stopTurn } from "./stop-turn.ts";

/** What an erasure's link says. It names threads and the role of who asked, and no person. */
export interface ErasureLink {
  readonly erased: { readonly threads: readonly ThreadId[]; readonly by: Actor["role"]; readonly at: number };
}

/**
 * Blanks a contact's texts, forgets its key and its memories and closes its threads: what comes next opens new ones. The
 * record keeps the digests, so it stays whole; that of a text without its key tells nothing. What runs is stopped, for it
 * would write again what was erased.
 */
export function eraseContact(db: Connection, scope: ContactScope, actor: Actor, at: number): boolean {
  const erased = db.write(() => {
    // A turn of several has the words of all of them in each text: its record goes with any of them.
    const scopes = [scope, ...batchesWith(db, scope)];
    const threads = scopes.flatMap((one) => openThreads(db, one));
    if (threads.length === 0 && !knownKey(db, scope)) return false;
    for (const thread of threads) {
      if (isBatch(thread)) freeMembers(db, thread);
      stopTurn(db, thread, { at });
    }
    const link: ErasureLink = { erased: { threads: threads.map(({ id }) => id), by: actor.role, at } };
    const { seq } = append(db, scope.org, canonicalJson(link));
    for (const one of scopes) {
      closeThreads(db, one, seq);
      closeApprovals(db, one, actor.role, at);
      closeProposals(db, one, actor.role, at);
      forget(db, one);
    }
    return true;
  });
  if (erased) flushed(db);
  return erased;
}

function openThreads(db: Connection, scope: ContactScope): readonly Row<"thread">[] {
  const all = query
    .selectFrom("thread")
    .selectAll()
    .where((eb) => eb.and(owner(scope)));
  return db.all(all.where("erased_link", "is", null).orderBy("id"));
}

/** The conversation's key may name a person too. */
function closeThreads(db: Connection, scope: ContactScope, link: number): void {
  // Without a holder no claim is the newest any more: whoever still works on one of them cannot commit.
  const closed = query
    .updateTable("thread")
    .set({ erased_link: link, key: "", holder: null, lease_until: null })
    .where((eb) => eb.and(owner(scope)))
    .where("erased_link", "is", null);
  db.run(closed);
  const waiting = { ...owner(scope), status: "pending" } as const;
  db.run(
    query
      .updateTable("event")
      .set({ status: "consumed" })
      .where((eb) => eb.and(waiting)),
  );
}

function forget(db: Connection, scope: ContactScope): void {
  const whose = owner(scope);
  db.run(
    query
      .updateTable("piece")
      .set({ text: null })
      .where((eb) => eb.and(whose)),
  );
  freeErasedIds(db, scope);
  dropLog(db, scope);
  // Who would have been given a message may have quoted it.
  db.run(
    query
      .updateTable("outbox")
      .set({ failed: null })
      .where((eb) => eb.and(whose)),
  );
  forgetMemories(db, scope);
  db.run(query.deleteFrom("contact_key").where((eb) => eb.and(whose)));
}

/** All that was remembered, and all that was made of it. The scope's counters stay: no revision comes twice. */
function forgetMemories(db: Connection, scope: ContactScope): void {
  const own = memoryScope(db, scope);
  if (!own) return;
  unindexScope(db, own);
  db.run(plain(`delete from memory where scope = ?`, own.number));
  countChange(db, own, { saved: -own.saved, characters: -own.characters });
}

/** The log still holds the old pages. Where another program reads just now it is emptied later, by the next one who can. */
function flushed(db: Connection): void {
  try {
    db.flush();
  } catch {
    // The erasure itself is committed; only its log waits.
  }
}
