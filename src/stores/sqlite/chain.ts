import { type ContactScope, chained, type OrgId, type TurnId } from "../../protocol/index.ts";
import type { ChainHead } from "../store.ts";
import { type Connection, query } from "./connection.ts";
import { owner } from "./scope.ts";

/** The newest link of an organization's record. */
export function head(db: Connection, org: OrgId): ChainHead {
  const newest = query
    .selectFrom("chain")
    .select(["org", "seq", "hash"])
    .where("org", "=", org)
    .orderBy("seq", "desc")
    .limit(1);
  return db.first(newest) ?? { org, seq: 0, hash: null };
}

/** Adds a link. Only inside a write transaction: two writers would else take the same place. */
export function append(db: Connection, org: OrgId, body: string): ChainHead {
  const { seq, hash: prev } = head(db, org);
  const row = { org, seq: seq + 1, prev, hash: chained(prev, body), body };
  db.run(query.insertInto("chain").values(row));
  return { org, seq: row.seq, hash: row.hash };
}

/** Adds the link of a turn that ended and notes it on the turn. */
export function appendTurn(db: Connection, scope: ContactScope, turn: TurnId, body: string): ChainHead {
  const link = append(db, scope.org, body);
  const wanted = { ...owner(scope), id: turn };
  db.run(
    query
      .updateTable("turn")
      .set({ link: link.seq })
      .where((eb) => eb.and(wanted)),
  );
  return link;
}
