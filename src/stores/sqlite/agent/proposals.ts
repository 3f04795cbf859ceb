import { sql } from "kysely";
import { type ContactScope, isBatch, type Role, type TextKey, type TextVersion } from "../../../protocol/index.ts";
import type { AgentOwner } from "../../agent-store.ts";
import { toTextKey } from "../../rows.ts";
import type { Connection } from "../connection.ts";
import { keepShared } from "../pieces.ts";
import { atMost } from "../scope.ts";
import { query } from "../statement.ts";
import { NO_VERSION, pointerOf, recordMove } from "./record-move.ts";
import { findVersion, type MoveRow, type TextColumns } from "./texts.ts";

/** The oldest first. */
export function proposals(
  db: Connection,
  owner: AgentOwner,
  { own, limit }: { readonly own?: true; readonly limit: number },
): readonly TextVersion[] {
  return db.read(() => {
    const all = waiting(owner).orderBy("link").limit(atMost(limit));
    const rows = db.all(own ? all.where("contact", "is", null).where("by", "=", "agent") : all);
    return rows.flatMap((row) => findVersion(db, row, row.n) ?? []);
  });
}

/** How many wait, of each text of which any does. */
export function proposalCounts(
  db: Connection,
  { org, agent }: AgentOwner,
): readonly (TextKey & { readonly proposals: number })[] {
  const counts = query
    .selectFrom("text_move")
    .select((eb) => ["layer", "part", eb.fn.countAll<number>().as("proposals")])
    .where((eb) => eb.and({ org, agent }))
    .where(WAITS)
    .groupBy(["layer", "part"])
    .orderBy("layer")
    .orderBy("part");
  return db.read(() => db.all(counts).map((row) => ({ ...toTextKey(row), proposals: row.proposals })));
}

/** Written into the query: as a value SQLite could not see that the index of what waits serves it. */
const WAITS = sql<boolean>`waits = 1`;

const waiting = ({ org, agent }: AgentOwner) =>
  query
    .selectFrom("text_move")
    .selectAll()
    .where((eb) => eb.and({ org, agent }))
    .where(WAITS);

/** Which of an agent's proposals for a text take each other's place: those out of its own turns, of a contact's, or of several senders'. */
export function waitingBeside(db: Connection, key: TextColumns, contact: MoveRow["contact"]): readonly MoveRow[] {
  const all = waiting(key)
    .where((eb) => eb.and({ layer: key.layer, part: key.part, by: "agent" }))
    .orderBy("link");
  if (contact === null) return db.all(all.where("contact", "is", null));
  if (!isBatch({ ...key, contact })) return db.all(all.where("contact", "=", contact));
  return db.all(all.where(sql<boolean>`contact >= '~inbox:' and contact < '~inbox;'`));
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
  const rows = db.all(waiting(scope).where("contact", "=", scope.contact).orderBy("link"));
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
