import { type ContactScope, chained, type OrgId, StrataError, type TurnId } from "../../protocol/index.ts";
import type { ChainHead, Finding } from "../records.ts";
import { fixed, insert, ONE, owner, query } from "../statement.ts";
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
  return appendTo(tx, await head(tx, org), body);
}

async function appendTo(tx: Tx, { org, seq, hash: prev }: ChainHead, body: string): Promise<ChainHead> {
  const row = { org, seq: seq + 1, prev, hash: chained(prev, body), body };
  await tx.run(insert("chain", row));
  return { org, seq: row.seq, hash: row.hash };
}

/** Adds the link of a turn that ended, behind the last one, and stores its number with the turn. */
export async function appendTurn(
  tx: Tx,
  scope: ContactScope,
  turn: TurnId,
  { body, last }: { readonly body: string; readonly last: ChainHead },
): Promise<ChainHead> {
  const link = await appendTo(tx, last, body);
  await tx.run(noteLink({ ...owner(scope), id: turn, link: link.seq }));
  return link;
}

const noteLink = fixed((at: ContactScope & { readonly id: TurnId; readonly link: number }) =>
  query
    .updateTable("turn")
    .set({ link: at.link })
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

/** The counts of a check of the record. */
export type Counted = Extract<Finding, { type: "checked" }>["what"];

/** One step of a check: some rows, read in one snapshot. `next` says where to continue; without it, this was the end. */
export interface Step<Cursor> {
  readonly problems: readonly Finding[];
  readonly checked: Partial<Record<Counted, number>>;
  readonly next?: Cursor;
}

/** How many rows are read at once, so that checking a record of any size needs the same memory. */
export const BATCH = 100;

/** A finding about something that does not match. */
export function problem(where: string, message: string): Finding {
  return { type: "problem", where, message };
}

/** Where the next step begins, if this one was full. */
export function page<Cursor>(last: Cursor | undefined, rows: number): { readonly next?: Cursor } {
  return last !== undefined && rows === BATCH ? { next: last } : {};
}

/** The message of whatever a check threw. */
export function sentence(thrown: unknown): string {
  if (thrown instanceof StrataError && thrown.code !== "record_broken") throw thrown;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
