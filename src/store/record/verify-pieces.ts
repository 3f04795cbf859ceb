import { sql } from "kysely";
import { digestOf, keyedDigest, type OrgId } from "../../protocol/index.ts";
import type { Finding } from "../records.ts";
import { owner } from "../scope.ts";
import { ONE, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import { BATCH, page, problem, type Step } from "./walk.ts";

/** Checks the organization's shared texts against their digests. */
export async function checkSharedPieces(tx: Tx, org: OrgId, after: string): Promise<Step<string>> {
  const pieces = query
    .selectFrom("shared_piece")
    .selectAll()
    .where("org", "=", org)
    .where(sql<boolean>`digest > ${after}`)
    .orderBy("digest")
    .limit(BATCH);
  const rows = await tx.all(pieces);
  const problems = rows
    .filter(({ digest, text }) => digestOf(text) !== digest)
    .map(({ digest }) => problem(`piece ${digest}`, "the shared text is not what its digest says"));
  return { problems, checked: { piece: rows.length }, ...page<string>(rows.at(-1)?.digest, rows.length) };
}

/** Checks that each agent version has its text. */
export async function checkVersions(tx: Tx, org: OrgId, after: string): Promise<Step<string>> {
  const versions = query
    .selectFrom("agent_version")
    .leftJoin("shared_piece", (join) =>
      join.onRef("shared_piece.org", "=", "agent_version.org").onRef("shared_piece.digest", "=", "agent_version.piece"),
    )
    .select(["agent_version.agent", "agent_version.version", "shared_piece.digest"])
    .where("agent_version.org", "=", org)
    .where(sql<boolean>`agent_version.agent || '/' || agent_version.version > ${after}`)
    .orderBy(sql`agent_version.agent || '/' || agent_version.version`)
    .limit(BATCH);
  const rows = (await tx.all(versions)).map((row) => ({ ...row, name: `${row.agent}/${row.version}` }));
  const problems = rows
    .filter(({ digest }) => digest === null)
    .map(({ name }) => problem(`agent version ${name}`, "its declaration is gone"));
  return { problems, checked: {}, ...page(rows.at(-1)?.name, rows.length) };
}

/** The piece that was checked last. */
interface PieceCursor {
  readonly agent: string;
  readonly contact: string;
  readonly digest: string;
}

/** Checks the contacts' texts against their keyed digests, except those that were erased. */
export async function checkOwnPieces(tx: Tx, org: OrgId, after: PieceCursor): Promise<Step<PieceCursor>> {
  const pieces = query
    .selectFrom("piece")
    .leftJoin("contact_key", (join) =>
      join
        .onRef("contact_key.org", "=", "piece.org")
        .onRef("contact_key.agent", "=", "piece.agent")
        .onRef("contact_key.contact", "=", "piece.contact"),
    )
    .selectAll("piece")
    .select("contact_key.key")
    .where("piece.org", "=", org)
    .where(
      sql<boolean>`(piece.agent, piece.contact, piece.digest) > (${after.agent}, ${after.contact}, ${after.digest})`,
    )
    .orderBy("piece.agent")
    .orderBy("piece.contact")
    .orderBy("piece.digest")
    .limit(BATCH);
  const rows = await tx.all(pieces);
  const problems = (await inOrder(rows, (row) => checkOwnPiece(tx, row, row.key))).flat();
  return { problems, checked: { piece: rows.length }, ...page<PieceCursor>(rows.at(-1), rows.length) };
}

async function checkOwnPiece(tx: Tx, row: Row<"piece">, key: Uint8Array | null): Promise<readonly Finding[]> {
  const where = `piece ${row.digest}`;
  if (row.text === null) {
    return (await wasErased(tx, row))
      ? []
      : [problem(where, "its text is gone, but no erasure of its contact is recorded")];
  }
  if (key === null) return [problem(where, "its contact's key is gone, but its text is still there")];
  return keyedDigest(key, row.text) === row.digest ? [] : [problem(where, "the text is not what its digest says")];
}

async function wasErased(tx: Tx, row: Row<"piece">): Promise<boolean> {
  const closed = query
    .selectFrom("thread")
    .select("id")
    .where((eb) => eb.and(owner(row)))
    .where("erased_link", "is not", null)
    .limit(ONE);
  return (await tx.first(closed)) !== undefined;
}
