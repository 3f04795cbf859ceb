import {
  type Actor,
  type ContactScope,
  canonicalJson,
  erasedContact,
  isBatch,
  isReserved,
  type ThreadId,
} from "../../protocol/index.ts";
import { insert, ONE, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { dropLog } from "./agent/conversations.ts";
import { closeProposals } from "./agent/proposals.ts";
import { closeApprovals } from "./approvals.ts";
import { append } from "./chain.ts";
import type { Connection } from "./connection.ts";
import { forgetIds } from "./events.ts";
import { countChange, memoryScope } from "./memory/memory-scope.ts";
import { unindexScope } from "./memory/units.ts";
import { knownKey } from "./pieces.ts";
import { owner } from "./scope.ts";
import { batchesWith, freeMembers } from "./staged.ts";
import { stopTurn } from "./stop-turn.ts";

/** What an erasure's link says. It names threads and the role of who asked, and no person. */
export interface ErasureLink {
  readonly erased: { readonly threads: readonly ThreadId[]; readonly by: Actor["role"]; readonly at: number };
}

/**
 * Blanks a contact's texts, forgets its key and its memories and closes its threads: what comes next opens new ones. The
 * record keeps the digests, so it stays whole; that of a text without its key tells nothing. What runs is stopped, for it
 * would write again what was erased. Rows that stay name a pseudonym instead of the contact. Files are not the store's: until
 * somebody says that they are gone, the erasure is noted as unfinished.
 */
export function eraseContact(db: Connection, scope: ContactScope, actor: Actor, at: number): ContactScope | undefined {
  const erased = db.write(() => {
    // A turn of several has the words of all of them in each text: its record goes with any of them.
    const scopes = [scope, ...batchesWith(db, scope)];
    const threads = scopes.flatMap((one) => openThreads(db, one));
    if (threads.length === 0 && !isKept(db, scope)) return undefined;
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
    db.run(insert("erasure", { ...owner(scope), at }));
    return isReserved(scope.contact) ? scope : renamed(db, scope);
  });
  if (erased) emptyLog(db);
  return erased;
}

/** Contacts whose files may still be there. */
export function unfinishedErasures(db: Connection): readonly ContactScope[] {
  const waiting = query.selectFrom("erasure").select(["org", "agent", "contact"]).where("contact", "is not", null);
  return db.all(waiting.orderBy("number")).flatMap(({ contact, ...agent }) => (contact ? [{ ...agent, contact }] : []));
}

/** The files are gone, and now the name that led to them. */
export function finishErasure(db: Connection, scope: ContactScope): void {
  db.run(
    query
      .updateTable("erasure")
      .set({ contact: null })
      .where((eb) => eb.and(owner(scope))),
  );
  clearLog(db);
}

/**
 * Takes what was erased out of the write-ahead log, which holds old pages until it is emptied. Where another program reads just now,
 * that waits for the next erasure or the next start.
 */
export function clearLog(db: Connection): void {
  const cleared = query.deleteFrom("erasure").where("contact", "is", null);
  const waits = query.selectFrom("erasure").select("number").where("contact", "is", null).limit(ONE);
  if (db.first(waits) !== undefined && emptyLog(db)) db.run(cleared);
}

function emptyLog(db: Connection): boolean {
  try {
    return db.flush();
  } catch {
    // The erasure itself is committed; only its log waits.
    return false;
  }
}

/** Also where its threads were closed by a Strata that left the contact's name on them. */
function isKept(db: Connection, scope: ContactScope): boolean {
  if (knownKey(db, scope)) return true;
  const closed = query
    .selectFrom("thread")
    .select("id")
    .where((eb) => eb.and(owner(scope)))
    .limit(ONE);
  return !isReserved(scope.contact) && db.first(closed) !== undefined;
}

/** Asked of the schema, so that no table is ever forgotten. */
const NAMING = `select distinct sqlite_schema.name from sqlite_schema, pragma_table_info(sqlite_schema.name) as col
  where sqlite_schema.type = 'table' and col.name = 'contact' and sqlite_schema.name != 'erasure'`;

/** Gives all that is left of a contact to a pseudonym. */
function renamed(db: Connection, scope: ContactScope): ContactScope {
  const contact = erasedContact(Buffer.from(db.random(8)).toString("hex"));
  // Rows refer to each other with the contact in it: all of them are right again when the last one is renamed.
  db.run(plain(`pragma defer_foreign_keys = on`));
  for (const table of db.column(plain<string>(NAMING))) {
    const whose = [scope.org, scope.agent, scope.contact];
    db.run(plain(`update "${table}" set contact = ? where org = ? and agent = ? and contact = ?`, contact, ...whose));
  }
  return { ...scope, contact };
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
  forgetIds(db, scope);
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

/** All that was remembered, and all that was made of it. */
function forgetMemories(db: Connection, scope: ContactScope): void {
  const own = memoryScope(db, scope);
  if (!own) return;
  unindexScope(db, own);
  db.run(plain(`delete from memory where scope = ?`, own.number));
  countChange(db, own, { saved: -own.saved, characters: -own.characters });
}
