import {
  canonicalJson,
  type Digest,
  digestOf,
  lowestTrust,
  type OrgId,
  type TextKey,
  type TextMove,
  type TextPointer,
  type TextStatus,
  type TextVersion,
  type Trust,
  type TurnEdit,
  type TurnId,
} from "../../protocol/index.ts";
import type { AgentOwner, MovesWish, VersionsWish } from "../agent-store.ts";
import { append } from "../record/chain.ts";
import { ownText, sharedText } from "../record/pieces.ts";
import { toTextKey, toTextMove, toTextVersion } from "../rows.ts";
import { atMost, fixed, insert, ONE, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";

/** A row of what was done with a text. */
export type MoveRow = Row<"text_move">;

/** A text's key as columns. */
export type TextColumns = Pick<MoveRow, "org" | "agent" | "layer" | "part">;

/** The columns that say which text: the part is empty for a whole layer. */
export function columnsOf({ org, agent }: AgentOwner, { layer, part = "" }: TextKey): TextColumns {
  return { org, agent, layer, part };
}

/** Versions that are active. Read at the start of each turn. */
export async function activeTexts(tx: Tx, owner: AgentOwner): Promise<readonly TextVersion[]> {
  return (
    await inOrder(await pointersOf(tx, owner), async ({ stands, ...key }) => {
      const version =
        stands === null || stands === 0 ? undefined : await findVersion(tx, columnsOf(owner, key), stands);
      return version ? [version] : [];
    })
  ).flat();
}

/** The current target of each pointer that was ever moved. */
export async function textPointers(tx: Tx, owner: AgentOwner): Promise<readonly TextPointer[]> {
  return pointersOf(tx, owner);
}

export async function pointersOf(tx: Tx, { org, agent }: AgentOwner): Promise<readonly TextPointer[]> {
  const keys = await tx.all(plain<Pick<MoveRow, "layer" | "part">>(KEYS, org, agent));
  const pointers = await inOrder(keys, async (key) => {
    return { ...toTextKey(key), stands: (await newestMove(tx, { org, agent, ...key }))?.stands ?? null };
  });
  return pointers.sort((a, b) => (columnKey(a) < columnKey(b) ? -1 : 1));
}

/** Its key in one word. */
export const columnKey = ({ layer, part = "" }: TextKey): string => `${layer}/${part}`;

/** Uses its index, which has a row for each text: any other would be read to its end, including all edits. */
const KEYS = `select layer, part from text_move indexed by text_key where org = ? and agent = ? and seq = 1`;

/** The last change to a text. */
export async function newestMove(tx: Tx, key: TextColumns): Promise<MoveRow | undefined> {
  return tx.first(lastOf(key));
}

const lastOf = fixed((of: TextColumns) =>
  query
    .selectFrom("text_move")
    .selectAll()
    .where("org", "=", of.org)
    .where("agent", "=", of.agent)
    .where("layer", "=", of.layer)
    .where("part", "=", of.part)
    .orderBy("seq", "desc")
    .limit(ONE),
);

/** All that was done with one version: how it was made comes first. */
export async function movesOfVersion(tx: Tx, key: TextColumns, n: number): Promise<readonly MoveRow[]> {
  return (await tx.all(ofVersion({ ...key, n }))).sort((a, b) => a.seq - b.seq);
}

const ofVersion = fixed((of: TextColumns & { readonly n: number }) =>
  query
    .selectFrom("text_move")
    .selectAll()
    .where("org", "=", of.org)
    .where("agent", "=", of.agent)
    .where("layer", "=", of.layer)
    .where("part", "=", of.part)
    .where("n", "=", of.n),
);

/** A version in its current state. */
export async function findVersion(tx: Tx, key: TextColumns, n: number): Promise<TextVersion | undefined> {
  const rows = await movesOfVersion(tx, key, n);
  const made = rows.find(makesVersion);
  return (
    made &&
    (await readVersion(tx, made, { decided: rows.find(decides), stands: (await newestMove(tx, key))?.stands ?? null }))
  );
}

/** Whether the row made a version: then it has all of it. */
export const makesVersion = ({ kind }: MoveRow): boolean => kind === "edited" || kind === "proposed";
/** Whether the row says what happened to a proposal. */
export const decides = ({ kind }: MoveRow): boolean =>
  kind === "approved" || kind === "superseded" || kind === "rejected";

/** What happened to a version that was proposed, if anything yet. */
export function statusOf(made: MoveRow, decided: MoveRow | undefined): TextStatus {
  if (made.kind === "edited" || decided?.kind === "approved") return "kept";
  if (decided?.kind === "superseded") return "superseded";
  return decided ? "rejected" : "proposed";
}

interface Since {
  readonly decided: MoveRow | undefined;
  readonly stands: number | null;
}

async function readVersion(tx: Tx, made: MoveRow, { decided, stands }: Since): Promise<TextVersion> {
  // A contact's text is stored again when it is approved: as the agent's, whatever happens to the contact.
  const worded = decided?.text ? decided : made;
  const texts = {
    reason: await textAt(tx, made, made.reason),
    findings: await textAt(tx, made, made.findings),
    text: await textAt(tx, worded, worded.text),
    line: await textAt(tx, worded, worded.line),
  };
  // Not its piece's digest: a contact's piece is digested under a key, so the digest could not be checked.
  const digest = digestOf(texts.text ?? "");
  return toTextVersion(made, texts, { status: statusOf(made, decided), active: stands === made.n, digest });
}

/** A text that the row names; null if it names none or its contact was erased. @throws StrataError `record_broken` */
export async function textAt(tx: Tx, row: MoveRow, digest: Digest | null): Promise<string | null> {
  if (digest === null) return null;
  const { org, agent, contact } = row;
  return contact === null ? await sharedText(tx, org, digest) : await ownText(tx, { org, agent, contact }, digest);
}

/** A turn's writes, in their order. */
export async function editsOfTurn(tx: Tx, org: OrgId, turn: TurnId): Promise<readonly TurnEdit[]> {
  const rows = await tx.all(plain<MoveRow>(MADE_IN, org, turn));
  return rows.map((row) => ({ ...toTextKey(row), n: row.n, became: becameOf(row) }));
}

const MADE_IN = `select * from text_move indexed by text_of_turn where org = ? and turn = ? order by link`;

function becameOf(row: MoveRow): TurnEdit["became"] {
  if (row.kind === "edited") return "kept";
  return isWish(row) ? "proposed" : "overtaken";
}

/**
 * An agent's edit waits because of what its turn had seen or of what the guard said; where neither says so, it was ordered or is the
 * agent's own, was to be kept, and was overtaken.
 */
export const isWish = ({ inputs, verdict }: Pick<MoveRow, "inputs" | "verdict">): boolean =>
  isTainted(inputs ?? "contact") || verdict !== "pass";

/** Whether the text was influenced from outside. */
export const isTainted = (inputs: Trust): boolean => lowestTrust([inputs, "agent"]) !== "agent";

/** Newest first. */
export async function textVersions(
  tx: Tx,
  owner: AgentOwner,
  { key, before, limit }: VersionsWish,
): Promise<readonly TextVersion[]> {
  const made = movesOf(owner, key)
    .where("kind", "in", ["edited", "proposed"])
    .orderBy(key ? "n" : "link", "desc");
  const rows = await tx.all((before === undefined ? made : made.where("n", "<", before)).limit(atMost(limit)));
  return (await inOrder(rows, async (row) => (await findVersion(tx, row, row.n)) ?? [])).flat();
}

/** Newest first. */
export async function textMoves(
  tx: Tx,
  owner: AgentOwner,
  { key, before, below, limit }: MovesWish,
): Promise<readonly TextMove[]> {
  let moves = movesOf(owner, key).orderBy(key ? "seq" : "link", "desc");
  if (before !== undefined) moves = moves.where("seq", "<", before);
  if (below !== undefined) moves = moves.where("n", "<", below);
  const rows = await tx.all(moves.limit(atMost(limit)));
  return inOrder(rows, async (row) => toTextMove(row, await textAt(tx, row, row.reason)));
}

/** Those of all texts are in the order of the chain; a single text has its own order, which its index has. */
function movesOf({ org, agent }: AgentOwner, key?: TextKey) {
  const wanted = key ? columnsOf({ org, agent }, key) : { org, agent };
  return query
    .selectFrom("text_move")
    .selectAll()
    .where((eb) => eb.and(wanted));
}

/** A change to a text, as far as its author describes it. */
export type NewMove = Omit<MoveRow, keyof TextColumns | "seq" | "link" | "waits">;

/** The columns of a row that makes no version. */
export const NO_VERSION = {
  ...{ contact: null, turn: null, text: null, line: null, findings: null },
  ...{ verdict: null, trust: null, inputs: null, parent: null, rank: null, source: null, declared: null },
} as const;

/** Where a text's pointer is; on the declared text if it was never moved, unless specified otherwise. */
export async function pointerOf(tx: Tx, key: TextColumns, atFirst: number | null = 0): Promise<number | null> {
  const last = await newestMove(tx, key);
  return last ? last.stands : atFirst;
}

/** Writes a row and its link. A proposal waits until a row decides on it. */
export async function recordMove(tx: Tx, key: TextColumns, done: NewMove): Promise<MoveRow> {
  const seq = ((await newestMove(tx, key))?.seq ?? 0) + 1;
  const facts = { ...key, seq, ...done };
  const waits = done.kind === "proposed" ? 1 : null;
  const row: MoveRow = { ...facts, waits, link: (await append(tx, key.org, textLink(facts))).seq };
  await tx.run(insert("text_move", row));
  if (decides(row)) await tx.run(decidedVersion({ ...key, n: row.n }));
  return row;
}

const decidedVersion = fixed((of: TextColumns & { readonly n: number }) =>
  query
    .updateTable("text_move")
    .set({ waits: null })
    .where("org", "=", of.org)
    .where("agent", "=", of.agent)
    .where("layer", "=", of.layer)
    .where("part", "=", of.part)
    .where("n", "=", of.n),
);

/** The body of a row's link: everything except the contact; texts only as digests. */
export function textLink(row: Omit<MoveRow, "link" | "waits">): string {
  const { agent, layer, part, seq, kind, n, was, stands, by, by_id, turn, at } = row;
  const { reason, text, line, findings, verdict, trust, inputs, parent, rank, source, declared } = row;
  const made = { text, line, findings, verdict, trust, inputs, parent, rank, source, declared };
  // Links of rows from before ids were kept do not have one.
  const who = { by, ...(by_id !== null && { by_id }) };
  return canonicalJson({ text: { agent, layer, part, seq, kind, n, was, stands, ...who, turn, at, reason, ...made } });
}
