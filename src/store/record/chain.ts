import { type ContactScope, chained, type OrgId, type TurnId } from "../../protocol/index.ts";
import type { ChainHead } from "../records.ts";
import { owner } from "../scope.ts";
import { fixed, insert, ONE, query } from "../statement.ts";
import type { Tx } from "../tx.ts";

/** The newest link of an organization's record. */
export async function head(tx: Tx, org: OrgId): Promise<ChainHead> {
  return (await tx.first(newestLink({ org }))) ?? { org, seq: 0, hash: null };
}

const newestLink = fixed(({ org }: { readonly org: OrgId }) =>
  query.selectFrom("chain").select(["org", "seq", "hash"]).where("org", "=", org).orderBy("seq", "desc").limit(ONE),
);

/** Adds a link. Only inside a write transaction, because otherwise two writers could take the same place. */
export async function append(tx: Tx, org: OrgId, body: string): Promise<ChainHead> {
  const { seq, hash: prev } = await head(tx, org);
  const row = { org, seq: seq + 1, prev, hash: chained(prev, body), body };
  await tx.run(insert("chain", row));
  return { org, seq: row.seq, hash: row.hash };
}

/** Adds the link of a turn that ended, and stores its number with the turn. */
export async function appendTurn(tx: Tx, scope: ContactScope, turn: TurnId, body: string): Promise<ChainHead> {
  const link = await append(tx, scope.org, body);
  await tx.run(noteLink({ ...owner(scope), id: turn, link: link.seq }));
  return link;
}

const noteLink = fixed((at: ContactScope & { readonly id: TurnId; readonly link: number }) =>
  query
    .updateTable("turn")
    .set({ link: at.link })
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);
