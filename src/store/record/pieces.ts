import { type RawBuilder, sql } from "kysely";
import {
  type ContactScope,
  type Digest,
  digestOf,
  keyedDigest,
  type OrgId,
  type Scope,
  StrataError,
} from "../../protocol/index.ts";
import type { Finding } from "../records.ts";
import { fixed, insert, insertAll, ONE, owner, ownerOrAgent, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import { BATCH, page, problem, type Step } from "./chain.ts";

/** Stores text without personal data: once per organization, however often it is used. */
export async function keepShared(tx: Tx, org: OrgId, text: string): Promise<Digest> {
  const digest = digestOf(text);
  await tx.run(insert("shared_piece", { org, digest, text }, "if new"));
  return digest;
}

/** Keeps several of them in few statements. */
export async function keepAllShared(tx: Tx, org: OrgId, texts: readonly string[]): Promise<void> {
  const rows = texts.map((text) => ({ org, digest: digestOf(text), text }));
  await insertAll(tx, "shared_piece", rows, "if new");
}

/** Keeps a contact's text: once per contact, under a digest that only this contact's key can make. */
export async function keepOwn(tx: Tx, scope: ContactScope, key: Uint8Array, text: string): Promise<Digest> {
  const digest = keyedDigest(key, text);
  await tx.run(insert("piece", { ...owner(scope), digest, text }, "if new"));
  return digest;
}

/** Whose a text is, and the key that digests it. */
interface Keeping {
  readonly scope: ContactScope;
  readonly key: Uint8Array;
}

/** Keeps several of a contact's texts at once, and gives the digest of each. */
export async function keepTexts(
  tx: Tx,
  { scope, key }: Keeping,
  texts: readonly string[],
): Promise<ReadonlyMap<string, Digest>> {
  const digests = new Map(texts.map((text) => [text, keyedDigest(key, text)]));
  const rows = [...digests].map(([text, digest]) => ({ ...owner(scope), digest, text }));
  await insertAll(tx, "piece", rows, "if new");
  return digests;
}

/** The same for one, unless it is kept already. */
export async function keepText(
  tx: Tx,
  { scope, key, kept }: Keeping & { readonly kept: ReadonlyMap<string, Digest> },
  text: string,
): Promise<Digest> {
  return kept.get(text) ?? keepOwn(tx, scope, key, text);
}

/** The key of a scope, made when it is first needed. */
export async function scopeKey(tx: Tx, scope: Scope): Promise<Uint8Array> {
  const known = await knownKey(tx, scope);
  if (known) return known;
  const key = tx.random(32);
  await tx.run(insert("contact_key", { ...ownerOrAgent(scope), key }));
  return key;
}

/** The key of a scope, if it has one: none before its first text and after its erasure. */
export async function knownKey(tx: Tx, scope: Scope): Promise<Uint8Array | undefined> {
  return (await tx.first(selectContactKey(ownerOrAgent(scope))))?.key;
}

const selectContactKey = fixed(({ org, agent, contact }: Pick<Row<"contact_key">, "org" | "agent" | "contact">) =>
  query
    .selectFrom("contact_key")
    .select("key")
    .where((eb) => eb.and({ org, agent, contact })),
);

/** A shared text; empty if it was retracted. @throws StrataError `record_broken` if it is missing or does not match its digest */
export async function sharedText(tx: Tx, org: OrgId, digest: Digest): Promise<string> {
  return checkSharedText(digest, await tx.first(sharedPiece({ org, digest })));
}

const sharedPiece = fixed(({ org, digest }: Pick<Row<"shared_piece">, "org" | "digest">) =>
  query
    .selectFrom("shared_piece")
    .select(["text", "retracted"])
    .where((eb) => eb.and({ org, digest })),
);

/** Several shared texts in one statement. The returned function throws like `sharedText`. */
export async function sharedTexts(tx: Tx, org: OrgId, digests: readonly Digest[]): Promise<(digest: Digest) => string> {
  const wanted = JSON.stringify([...new Set(digests)]);
  const rows = await tx.all(plain<Omit<Row<"shared_piece">, "org">>(SHARED_PIECES, org, wanted));
  const texts = new Map(rows.map((row) => [row.digest, row]));
  return (digest) => checkSharedText(digest, texts.get(digest));
}

const SHARED_PIECES = `select digest, text, retracted from shared_piece where org = ? and digest in (select value from json_each(?))`;

type SharedPiece = Pick<Row<"shared_piece">, "text" | "retracted">;

/** Of one that was retracted, nothing: that this is so is checked by `verify`. */
function checkSharedText(digest: Digest, row: SharedPiece | undefined): string {
  if (row === undefined) throw broken(`the shared text ${digest} is not in the record`, digest);
  const { text, retracted } = row;
  if (retracted !== null) return "";
  // Shared texts are what a prompt trusts, and few: each is checked whenever it is read.
  if (digestOf(text) !== digest) throw broken(`the shared text ${digest} was changed after it was recorded`, digest);
  return text;
}

/** A contact's text, null if it was erased or retracted. @throws StrataError `record_broken` if it is missing */
export async function ownText(tx: Tx, scope: ContactScope, digest: Digest): Promise<string | null> {
  const found = await tx.first(ownPiece({ ...owner(scope), digest }));
  if (!found) throw broken(`the text ${digest} is not in the record`, digest);
  return found.text;
}

const ownPiece = fixed((at: ContactScope & Pick<Row<"piece">, "digest">) =>
  query
    .selectFrom("piece")
    .select("text")
    .where((eb) => eb.and({ ...owner(at), digest: at.digest })),
);

/**
 * The text of its contact that a row of the table names as its `piece`, as a column. Looked up by its whole key for each row and no join: of
 * a contact who came after the server last counted its rows, PostgreSQL takes all texts to be few and would read every one of them.
 */
export const textOf = (table: string): RawBuilder<string | null> => sql.raw(TEXT_OF(table));

/** The same for handwritten SQL. */
export const TEXT_OF = (table: string): string =>
  `(select text from piece where piece.org = ${table}.org and piece.agent = ${table}.agent and piece.contact = ${table}.contact and piece.digest = ${table}.piece)`;

/** The text unless it was erased. @throws StrataError `record_broken` */
export function present(text: string | null, what: string): string {
  if (text !== null) return text;
  throw new StrataError(
    "record_broken",
    `${what} was erased with its contact's data or retracted, so it cannot be read any more; its digest is still in the record`,
    { what },
  );
}

/** A promise of the record that does not hold. */
export function broken(message: string, digest: Digest): StrataError {
  return new StrataError("record_broken", `${message}: run \`strata verify\` where the data is, and restore a backup`, {
    digest,
  });
}

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
  const went = await retractedTexts(tx, org, rows);
  const problems = rows
    .filter(({ digest, text, retracted }) =>
      retracted === null ? digestOf(text) !== digest : text !== "" || !went(retracted, digest),
    )
    .map(({ digest }) => problem(`piece ${digest}`, "the shared text is not what its digest says"));
  return { problems, checked: { piece: rows.length }, ...page<string>(rows.at(-1)?.digest, rows.length) };
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
  const went = await retractedTexts(tx, org, rows);
  const problems = (await inOrder(rows, (row) => checkOwnPiece(tx, row, { key: row.key, went }))).flat();
  return { problems, checked: { piece: rows.length }, ...page<PieceCursor>(rows.at(-1), rows.length) };
}

interface CheckingPiece {
  readonly key: Uint8Array | null;
  readonly went: (retraction: number, digest: Digest) => boolean;
}

async function checkOwnPiece(tx: Tx, row: Row<"piece">, { key, went }: CheckingPiece): Promise<readonly Finding[]> {
  const where = `piece ${row.digest}`;
  const { text, retracted, digest } = row;
  if (text === null) {
    if (retracted === null ? await wasErased(tx, row) : went(retracted, digest)) return [];
    return [problem(where, "its text is gone, but no erasure of its contact and no retraction of it is recorded")];
  }
  if (retracted !== null) return [problem(where, "it is marked as retracted, but its text is still there")];
  if (key === null) return [problem(where, "its contact's key is gone, but its text is still there")];
  return keyedDigest(key, text) === digest ? [] : [problem(where, "the text is not what its digest says")];
}

/** Which texts went by which retraction, of those that these rows name. */
async function retractedTexts(
  tx: Tx,
  org: OrgId,
  rows: readonly { readonly retracted: number | null }[],
): Promise<CheckingPiece["went"]> {
  const texts = new Map<number, ReadonlySet<string>>();
  for (const n of new Set(rows.flatMap(({ retracted }) => retracted ?? []))) {
    const [digest] = await tx.column(plain<Digest>(TEXTS_OF, org, n));
    if (digest !== undefined) texts.set(n, new Set<string>(JSON.parse(await sharedText(tx, org, digest))));
  }
  return (n, digest) => texts.get(n)?.has(digest) === true;
}

const TEXTS_OF = `select texts from retraction where org = ? and n = ?`;

async function wasErased(tx: Tx, row: Row<"piece">): Promise<boolean> {
  const closed = query
    .selectFrom("thread")
    .select("id")
    .where((eb) => eb.and(owner(row)))
    .where("erased_link", "is not", null)
    .limit(ONE);
  return (await tx.first(closed)) !== undefined;
}
