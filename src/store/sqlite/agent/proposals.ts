import { type ContactScope, isBatch, type Role, type TextKey, type TextVersion } from "../../../protocol/index.ts";
import type { AgentOwner } from "../../agent-store.ts";
import { toTextKey } from "../../rows.ts";
import { plain } from "../../statement.ts";
import type { Connection } from "../connection.ts";
import { keepShared } from "../pieces.ts";
import { atMost } from "../scope.ts";
import { NO_VERSION, pointerOf, recordMove } from "./record-move.ts";
import { findVersion, isWish, type MoveRow, type TextColumns } from "./texts.ts";

/** The oldest first. */
export function proposals(
  db: Connection,
  owner: AgentOwner,
  { own, limit }: { readonly own?: true; readonly limit: number },
): readonly TextVersion[] {
  const where = own ? `and contact is null and "by" = 'agent'` : "";
  return db.read(() => {
    const rows = db.all(waiting(`${where} order by link limit ?`, owner, atMost(limit)));
    return rows.flatMap((row) => findVersion(db, row, row.n) ?? []);
  });
}

/** How many wait, of each text of which any does. */
export function proposalCounts(
  db: Connection,
  { org, agent }: AgentOwner,
): readonly (TextKey & { readonly proposals: number })[] {
  const rows = db.read(() => db.all(plain<Counted>(COUNTS, org, agent)));
  return rows.map((row) => ({ ...toTextKey(row), proposals: row.proposals }));
}

type Counted = Pick<MoveRow, "layer" | "part"> & { readonly proposals: number };

/** By the index of what waits: another would be read to its end, however much was decided before. */
const WAITING = "text_move indexed by text_waiting where org = ? and agent = ? and waits = 1";
const COUNTS = `select layer, part, count(*) as proposals from ${WAITING} group by layer, part order by layer, part`;

const waiting = (where: string, { org, agent }: AgentOwner, ...values: readonly unknown[]) =>
  plain<MoveRow>(`select * from ${WAITING} ${where}`, org, agent, ...values);

/**
 * Which of an agent's proposals for a text take each other's place: those out of its own turns, of one contact's, or of those of
 * several senders, whoever they were. What was overtaken is no wish, and keeps its place beside them.
 */
export function waitingBeside(db: Connection, key: TextColumns, contact: MoveRow["contact"]): readonly MoveRow[] {
  const { layer, part } = key;
  const whole = (whose: string, ...values: readonly unknown[]) =>
    db
      .all(waiting(`${whose} and layer = ? and part = ? and "by" = 'agent' order by link`, key, ...values, layer, part))
      .filter(isWish);
  if (contact === null) return whole("and contact is null");
  if (isBatch({ ...key, contact })) return whole("and contact >= '~inbox:' and contact < '~inbox;'");
  return whole("and contact = ?", contact);
}

/** A newer version takes the place of those that nobody has decided about. */
export function supersede(
  db: Connection,
  rows: readonly MoveRow[],
  { n, at }: { readonly n: number; readonly at: number },
): void {
  close(db, rows, { kind: "superseded", by: "agent", at, why: `version ${n}, out of a later turn, takes its place` });
}

/** What a contact's turns proposed and nobody decided goes with the contact. Part of an erasure, before its texts go. */
export function closeProposals(db: Connection, scope: ContactScope, by: Role, at: number): void {
  const rows = db.all(waiting("and contact = ? order by link", scope, scope.contact));
  close(db, rows, { kind: "rejected", by, at, why: "the contact in whose turn it was written was erased" });
}

interface Closing {
  readonly kind: "superseded" | "rejected";
  readonly by: Role;
  readonly at: number;
  readonly why: string;
}

function close(db: Connection, rows: readonly MoveRow[], { kind, by, at, why }: Closing): void {
  for (const { org, agent, layer, part, n } of rows) {
    const key = { org, agent, layer, part };
    const stands = pointerOf(db, key);
    recordMove(db, key, { ...NO_VERSION, kind, n, was: stands, stands, by, at, reason: keepShared(db, org, why) });
  }
}
