import { sql } from "kysely";
import {
  type Actor,
  type AgentName,
  type ContactId,
  type ContactScope,
  canonicalJson,
  doneBy,
  erasedContact,
  isBatch,
  isReserved,
  type ThreadId,
} from "../../protocol/index.ts";
import { closeProposals } from "../agent/proposals.ts";
import { countChange, memoryScope } from "../memory/memory-scope.ts";
import { unindexScope } from "../memory/units.ts";
import { toThread } from "../rows.ts";
import { insert, ONE, owner, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { answerCaller, platformAnswer } from "../threads/answers.ts";
import { batchesWith, freeMembers } from "../threads/batch-members.ts";
import { forgetIds } from "../threads/erased-ids.ts";
import { UNTAKEN } from "../threads/open-calls.ts";
import { stopTurn } from "../turns/settle.ts";
import { inOrder, type Tx } from "../tx.ts";
import { ERASED } from "../wording.ts";
import { append } from "./chain.ts";
import { knownKey } from "./pieces.ts";
import { retractDerived } from "./retract.ts";

/** The body of an erasure's link. It names threads and who asked for it, and no contact. */
interface ErasureLink {
  readonly erased: {
    readonly threads: readonly ThreadId[];
    readonly by: Actor["role"];
    readonly by_id?: Actor["id"];
    readonly at: number;
  };
}

/**
 * Blanks a contact's texts, forgets its key and its memories and closes its threads: later messages open new ones. The record keeps the
 * digests, so it stays whole; the digest of a text reveals nothing without its key. Running turns are stopped, because they would write
 * erased text again. Rows that stay name a pseudonym instead of the contact. Files are not the store's: until they are reported deleted,
 * the erasure is noted as unfinished.
 */
export async function eraseContact(
  tx: Tx,
  scope: ContactScope,
  actor: Actor,
  at: number,
): Promise<ContactScope | undefined> {
  // A turn of several has the words of all of them in each text: its record goes with any of them.
  const called = await calledFrom(tx, scope);
  const scopes = [scope, ...called, ...(await inOrder([scope, ...called], (one) => batchesWith(tx, one))).flat()];
  const threads = (await inOrder(scopes, (one) => openThreads(tx, one))).flat();
  if (threads.length === 0 && !(await hasRows(tx, scope))) return undefined;
  for (const thread of threads) {
    if (isBatch(thread)) await freeMembers(tx, thread);
    await stopTurn(tx, thread, { at });
  }
  const erasing = { ...doneBy(actor), at };
  const { by, byId } = erasing;
  const who = { by, ...(byId !== undefined && { by_id: byId }) };
  const link: ErasureLink = { erased: { threads: threads.map(({ id }) => id), ...who, at } };
  const { seq } = await append(tx, scope.org, canonicalJson(link));
  await retractDerived(tx, scopes, erasing);
  for (const one of scopes) {
    await closeThreads(tx, one, seq);
    await closeProposals(tx, one, erasing);
    for (const part of tx.parts) await part.erase(tx, one, erasing);
    await forget(tx, one);
  }
  for (const thread of threads) await tellCaller(tx, thread, scopes, at);
  for (const one of [scope, ...called]) await tx.run(insert("erasure", { ...owner(one), at }));
  if (isReserved(scope.contact)) return scope;
  const contact = erasedContact(Buffer.from(tx.random(8)).toString("hex"));
  for (const one of called) await renameContact(tx, one, contact);
  return renameContact(tx, scope, contact);
}

/**
 * The same contact under other agents, because a thread of the contact called them: the questions they were asked are the contact's words.
 */
export async function calledFrom(tx: Tx, scope: ContactScope): Promise<readonly ContactScope[]> {
  const agents = new Set([scope.agent]);
  // Whoever was called may have called others; the set grows while it is walked.
  for (const agent of agents) {
    const called = `select distinct agent from thread where org = ? and contact = ? and caller_agent = ?`;
    for (const name of await tx.column(plain<AgentName>(called, scope.org, scope.contact, agent))) agents.add(name);
  }
  agents.delete(scope.agent);
  return [...agents].map((agent) => ({ ...owner(scope), agent }));
}

/** A call to an erased thread gets no other answer any more. */
async function tellCaller(tx: Tx, row: Row<"thread">, erased: readonly ContactScope[], at: number): Promise<void> {
  const { caller } = toThread(row);
  if (caller === undefined || erased.some(({ agent, contact }) => agent === caller.agent && contact === row.contact))
    return;
  const answer = platformAnswer(tx, { now: at, at }, caller.call, ERASED);
  await answerCaller(tx, row, caller, answer);
}

/** Contacts whose files may still be there. */
export async function unfinishedErasures(tx: Tx): Promise<readonly ContactScope[]> {
  const waiting = query.selectFrom("erasure").select(["org", "agent", "contact"]).where("contact", "is not", null);
  return (await tx.all(waiting.orderBy("number"))).flatMap(({ contact, ...agent }) =>
    contact ? [{ ...agent, contact }] : [],
  );
}

/** The files are gone, and now the name that led to them. */
export async function finishErasure(tx: Tx, scope: ContactScope): Promise<void> {
  await tx.run(
    query
      .updateTable("erasure")
      .set({ contact: null })
      .where((eb) => eb.and(owner(scope))),
  );
}

/** Whether there are erasures of which nothing is left but what the database's log may hold. */
export async function isLogToClear(tx: Tx): Promise<boolean> {
  const finished = query.selectFrom("erasure").select("number").where("contact", "is", null).limit(ONE);
  return (await tx.first(finished)) !== undefined;
}

export async function noteLogCleared(tx: Tx): Promise<void> {
  await tx.run(query.deleteFrom("erasure").where("contact", "is", null));
}

/** Also where its threads were closed by a Strata that left the contact's name on them. */
async function hasRows(tx: Tx, scope: ContactScope): Promise<boolean> {
  if (await knownKey(tx, scope)) return true;
  const closed = query
    .selectFrom("thread")
    .select("id")
    .where((eb) => eb.and(owner(scope)))
    .limit(ONE);
  return !isReserved(scope.contact) && (await tx.first(closed)) !== undefined;
}

/** Asked of the schema, so that no table is ever forgotten. */
const NAMING = {
  sqlite: `select distinct sqlite_schema.name from sqlite_schema, pragma_table_info(sqlite_schema.name) as col
    where sqlite_schema.type = 'table' and col.name = 'contact' and sqlite_schema.name != 'erasure'`,
  postgres: `select table_name::text from information_schema.columns
    where table_schema = current_schema and column_name = 'contact' and table_name != 'erasure'`,
};

/** Lets rows refer to others that come only later in the same transaction. */
export const REFERENCES_LATER = { sqlite: "pragma defer_foreign_keys = on", postgres: "set constraints all deferred" };

/** Gives all that is left of a contact to a pseudonym. */
async function renameContact(tx: Tx, scope: ContactScope, contact: ContactId): Promise<ContactScope> {
  // Rows refer to each other with the contact in it: all of them are right again when the last one is renamed.
  await tx.run(plain(REFERENCES_LATER));
  for (const table of await tx.column(plain<string>(NAMING))) {
    const whose = [scope.org, scope.agent, scope.contact];
    await tx.run(
      plain(`update "${table}" set contact = ? where org = ? and agent = ? and contact = ?`, contact, ...whose),
    );
  }
  return { ...scope, contact };
}

async function openThreads(tx: Tx, scope: ContactScope): Promise<readonly Row<"thread">[]> {
  const all = query
    .selectFrom("thread")
    .selectAll()
    .where((eb) => eb.and(owner(scope)));
  return tx.all(all.where("erased_link", "is", null).orderBy("id"));
}

/** The conversation's key may name a person too. */
async function closeThreads(tx: Tx, scope: ContactScope, link: number): Promise<void> {
  // Without a holder no claim is the newest any more: whoever still works on one of them cannot commit.
  const closed = query
    .updateTable("thread")
    .set({ erased_link: link, key: "", holder: null, lease_until: null })
    .where((eb) => eb.and(owner(scope)))
    .where("erased_link", "is", null);
  await tx.run(closed);
  await tx.run(
    query
      .updateTable("event")
      .set({ status: "consumed" })
      .where((eb) => eb.and(owner(scope)))
      .where(sql<boolean>`${sql.raw(UNTAKEN)}`),
  );
  await tx.run(
    query
      .updateTable("open_call")
      .set({ state: "closed" })
      .where((eb) => eb.and(owner(scope))),
  );
}

async function forget(tx: Tx, scope: ContactScope): Promise<void> {
  const whose = owner(scope);
  await tx.run(
    query
      .updateTable("piece")
      .set({ text: null })
      .where((eb) => eb.and(whose)),
  );
  await forgetIds(tx, scope);
  await forgetMemories(tx, scope);
  await tx.run(query.deleteFrom("contact_key").where((eb) => eb.and(whose)));
}

/** All that was remembered, and all that was made of it. */
async function forgetMemories(tx: Tx, scope: ContactScope): Promise<void> {
  const own = await memoryScope(tx, scope);
  if (!own) return;
  await unindexScope(tx, own);
  await tx.run(plain(`delete from memory where scope = ?`, own.number));
  await tx.run(query.deleteFrom("memory_save").where((eb) => eb.and(owner(scope))));
  await countChange(tx, own, { saved: -own.saved, characters: -own.characters });
}
