import { type ContactScope, chained, type OrgId, type TurnId } from "../../protocol/index.ts";
import { fixed, insert, ONE, query } from "../statement.ts";
import type { ChainHead } from "../store.ts";
import type { Connection } from "./connection.ts";
import { owner } from "./scope.ts";

/** The newest link of an organization's record. */
export function head(db: Connection, org: OrgId): ChainHead {
  return db.first(newestLink({ org })) ?? { org, seq: 0, hash: null };
}

const newestLink = fixed(({ org }: { readonly org: OrgId }) =>
  query.selectFrom("chain").select(["org", "seq", "hash"]).where("org", "=", org).orderBy("seq", "desc").limit(ONE),
);

/** Adds a link. Only inside a write transaction: two writers would else take the same place. */
export function append(db: Connection, org: OrgId, body: string): ChainHead {
  const { seq, hash: prev } = head(db, org);
  const row = { org, seq: seq + 1, prev, hash: chained(prev, body), body };
  db.run(insert("chain", row));
  return { org, seq: row.seq, hash: row.hash };
}

/** Adds the link of a turn that ended and notes it on the turn. */
export function appendTurn(db: Connection, scope: ContactScope, turn: TurnId, body: string): ChainHead {
  const link = append(db, scope.org, body);
  db.run(noteLink({ ...owner(scope), id: turn, link: link.seq }));
  return link;
}

const noteLink = fixed((at: ContactScope & { readonly id: TurnId; readonly link: number }) =>
  query
    .updateTable("turn")
    .set({ link: at.link })
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);
