import { sql } from "kysely";
import type { Digest, OrgId } from "../../protocol/index.ts";
import { toJson } from "../rows.ts";
import { query } from "../statement.ts";
import type { Finding } from "../store.ts";
import type { Row } from "../tables.ts";
import { approvalsOfTurn } from "./approvals.ts";
import type { Connection } from "./connection.ts";
import { eventsOfTurn } from "./events.ts";
import { ownText, sharedText } from "./pieces.ts";
import { ownMessages, requestRows } from "./requests.ts";
import { owner } from "./scope.ts";
import { findThread } from "./threads.ts";
import { turnLink } from "./turn-link.ts";
import { BATCH, page, problem, type Step, sentence } from "./walk.ts";

/** A link's turn: there, of this link, and with rows that give the link's body again. */
export function checkTurn(db: Connection, link: Row<"chain">, id: string): readonly Finding[] {
  const where = `turn ${id}`;
  const found = query.selectFrom("turn").selectAll().where("org", "=", link.org).where("link", "=", link.seq);
  const turn = db.first(found);
  if (turn?.id !== id) return [problem(where, `link ${link.seq} records it, but no such turn is linked there`)];
  try {
    const rows = turnLink(db, turn);
    const differs = rows === link.body ? [] : differences(link.body, rows);
    return [...differs, ...missing(db, turn), ...blanked(db, turn)].map((says) => problem(where, says));
  } catch (thrown) {
    return [problem(where, sentence(thrown))];
  }
}

/** What the rows say otherwise than the link does. */
function differences(linked: string, rows: string): readonly string[] {
  const [was, is] = [flat(toJson(linked)), flat(toJson(rows))];
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((key) => was.get(key) !== is.get(key));
  return changed.map((key) =>
    key === "record"
      ? "its row, its events, slots, messages, epochs, approvals or outbox are not those that were recorded"
      : `its ${key} is not the recorded one`,
  );
}

/** A nested value as paths: `requests 1 prompt`. */
function flat(value: unknown, path = ""): Map<string, string> {
  if (typeof value !== "object" || value === null) return new Map([[path, JSON.stringify(value)]]);
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((item, i) => [String(i + 1), item])
    : Object.entries(value);
  return new Map(entries.flatMap(([key, member]) => [...flat(member, path === "" ? key : `${path} ${key}`)]));
}

/** The contact's texts that the turn's requests, calls and end name. */
function ownDigests(db: Connection, turn: Row<"turn">): readonly Digest[] {
  const wanted = { ...owner(turn), turn: turn.id };
  const journal = query
    .selectFrom("journal")
    .select("outcome")
    .where((eb) => eb.and(wanted));
  const requests = requestRows(db, turn, turn.id).flatMap(({ tail, reply }) => [tail, reply]);
  const calls = db.all(journal).map(({ outcome }) => outcome);
  const asked = approvalsOfTurn(db, turn, turn.id).flatMap(({ input, note, outcome }) => [input, note, outcome]);
  return [...requests, ...calls, ...asked, turn.words].filter((digest) => digest !== null);
}

/** Texts that are named and not there. */
function missing(db: Connection, turn: Row<"turn">): readonly string[] {
  const requests = requestRows(db, turn, turn.id);
  const shared = requests.flatMap(({ marks, parameters, ledger }) => [marks, parameters, ledger]);
  return [
    ...ownDigests(db, turn).flatMap((digest) => absent(() => ownText(db, turn, digest))),
    ...shared.flatMap((digest) => absent(() => sharedText(db, turn.org, digest))),
  ];
}

/** Texts that are gone though the thread's contact was not erased since. */
function blanked(db: Connection, turn: Row<"turn">): readonly string[] {
  if (findThread(db, turn, turn.thread)?.erased_link !== null) return [];
  const rows = [...eventsOfTurn(db, turn, turn.id), ...ownMessages(db, turn, turn.id)];
  const gone =
    rows.some(({ text }) => text === null) || ownDigests(db, turn).some((digest) => ownText(db, turn, digest) === null);
  return gone ? ["some of its texts are gone, but its contact was not erased since"] : [];
}

function absent(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (thrown) {
    return [sentence(thrown)];
  }
}

/** An erasure's link: each thread it names is closed by it. */
export function checkErasure(db: Connection, link: Row<"chain">, threads: readonly string[]): readonly Finding[] {
  const closed = query
    .selectFrom("thread")
    .select("id")
    .where("org", "=", link.org)
    .where("erased_link", "=", link.seq);
  const found = new Set<string>(db.all(closed).map(({ id }) => id));
  return threads
    .filter((id) => !found.has(id))
    .map((id) => problem(`thread ${id}`, `link ${link.seq} records that it was erased, but it is not closed by it`));
}

/** Turns that ended and that no link records: added by somebody else, or left behind when the chain was cut. */
export function checkUnlinkedTurns(db: Connection, org: OrgId, after: string): Step<string> {
  const loose = query
    .selectFrom("turn")
    .leftJoin("chain", (join) => join.onRef("chain.org", "=", "turn.org").onRef("chain.seq", "=", "turn.link"))
    .select(["turn.id", "turn.link"])
    .where("turn.org", "=", org)
    .where("turn.status", "!=", "running")
    .where("chain.seq", "is", null)
    .where(sql<boolean>`turn.id > ${after}`)
    .orderBy("turn.id")
    .limit(BATCH);
  const rows = db.all(loose);
  const problems = rows.map(({ id, link }) => problem(`turn ${id}`, `the record has no link ${link ?? "for it"}`));
  return { problems, checked: {}, ...page(rows.at(-1)?.id, rows.length) };
}

/** Threads that say they were erased: an erasure must have closed them, else somebody only blanked their texts. */
export function checkErasedThreads(db: Connection, org: OrgId, after: string): Step<string> {
  const closed = query
    .selectFrom("thread")
    .leftJoin("chain", (join) =>
      join.onRef("chain.org", "=", "thread.org").onRef("chain.seq", "=", "thread.erased_link"),
    )
    .select(["thread.id", "chain.body"])
    .where("thread.org", "=", org)
    .where("thread.erased_link", "is not", null)
    .where(sql<boolean>`thread.id > ${after}`)
    .orderBy("thread.id")
    .limit(BATCH);
  const rows = db.all(closed);
  const problems = rows
    .filter(({ id, body }) => !body?.includes(JSON.stringify(id)) || !body.startsWith('{"erased"'))
    .map(({ id }) => problem(`thread ${id}`, "it is closed as erased, but no erasure is recorded for it"));
  return { problems, checked: {}, ...page(rows.at(-1)?.id, rows.length) };
}
