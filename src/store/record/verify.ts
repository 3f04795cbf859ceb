import { setImmediate } from "node:timers/promises";
import { chained, type Digest, type OrgId } from "../../protocol/index.ts";
import { checkLinked, checkLinkedRow, linkedTables } from "../agent/verify-recorded.ts";
import { checkMemories, FIRST_MEMORY } from "../memory/verify-memories.ts";
import type { ChainHead, Finding } from "../records.ts";
import { type LinkSubject, toSubject } from "../rows.ts";
import { query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Database, Tx } from "../tx.ts";
import { BATCH, type Counted, head, problem, type Step } from "./chain.ts";
import { covered } from "./columns.ts";
import { checkOwnPieces, checkSharedPieces } from "./pieces.ts";
import { checkRetractions } from "./retraction-link.ts";
import { checkEvents, checkKeys, checkTurnCounts, checkVersions, FIRST_KEY } from "./verify-states.ts";
import { checkEpochs, checkErasedThreads, checkErasure, checkTurn, checkUnlinkedTurns } from "./verify-turns.ts";

/**
 * Derives everything again: the chain and each link's turn from the rows, the rows' digests from the texts, the transcripts'
 * rolling digests from their messages. Whatever was changed, swapped, added or taken away shows somewhere on this walk; only
 * an end that was cut off whole needs the anchor. First the file itself: what a broken disk does to a row shows there.
 */
export async function* verify(database: Database, org: OrgId, anchor?: ChainHead): AsyncGenerator<Finding> {
  const damage = await database.check();
  yield* damage;
  try {
    yield* derived(database, org, anchor);
  } catch (thrown) {
    // The rest of a damaged file may not even be readable: that was reported above, or is reported here.
    if (damage.length === 0) yield problem("database", database.damageSaid(thrown));
  }
}

/** Each step reads a separate snapshot. */
async function* derived({ read, parts }: Database, org: OrgId, anchor?: ChainHead): AsyncGenerator<Finding> {
  const { seq: upTo } = await read((tx) => head(tx, org));
  const totals: Totals = new Map();
  if (anchor) yield* await read((tx) => reached(tx, org, anchor));
  yield* walk(totals, FIRST_LINK, (cursor) => read((tx) => checkLinks(tx, org, { ...cursor, upTo })));
  yield* walk(totals, "", (after) => read((tx) => checkUnlinkedTurns(tx, org, after)));
  yield* walk(totals, "", (after) => read((tx) => checkErasedThreads(tx, org, after)));
  yield* walk(totals, "", (after) => read((tx) => checkEvents(tx, org, after)));
  yield* walk(totals, 0, () => read(async (tx) => ({ problems: await checkRetractions(tx, org), checked: {} })));
  yield* walk(totals, "", (after) => read((tx) => checkTurnCounts(tx, org, after)));
  for (const table of linkedTables(parts).values()) {
    yield* walk(totals, 0, (after) => read((tx) => checkLinked(tx, org, table, after)));
  }
  for (const { verify: check } of parts) {
    if (check !== undefined)
      yield* walk(totals, 0, () => read(async (tx) => ({ problems: await check(tx, org), checked: {} })));
  }
  yield* walk(totals, { agent: "", contact: "", thread: "", n: 0 }, (cursor) =>
    read((tx) => checkEpochs(tx, org, cursor)),
  );
  yield* walk(totals, "", (after) => read((tx) => checkVersions(tx, org, after)));
  yield* walk(totals, "", (after) => read((tx) => checkSharedPieces(tx, org, after)));
  yield* walk(totals, { agent: "", contact: "", digest: "" }, (cursor) =>
    read((tx) => checkOwnPieces(tx, org, cursor)),
  );
  yield* walk(totals, FIRST_KEY, (cursor) => read((tx) => checkKeys(tx, org, cursor)));
  yield* walk(totals, FIRST_MEMORY, (cursor) => read((tx) => checkMemories(tx, org, cursor)));
  yield await read((tx) => covered(tx, org));
}

async function reached(tx: Tx, org: OrgId, anchor: ChainHead): Promise<readonly Finding[]> {
  if (anchor.org !== org) {
    return [problem("anchor", `it is of the organization ${anchor.org}, not of ${org}: name the anchor of ${org}`)];
  }
  if (anchor.seq === 0) return [];
  const wanted = { org, seq: anchor.seq };
  const link = await tx.first(
    query
      .selectFrom("chain")
      .select("hash")
      .where((eb) => eb.and(wanted)),
  );
  const { seq } = await head(tx, org);
  if (!link) {
    const message = `the record ends at link ${seq}, but it once reached link ${anchor.seq}: its end is gone`;
    return [problem("anchor", message)];
  }
  if (link.hash === anchor.hash) return [];
  return [problem("anchor", `link ${anchor.seq} is not the one the anchor knows: the record was rewritten`)];
}

const KINDS: readonly Counted[] = ["piece", "epoch", "turn", "link"];

/** How much was checked so far, of each kind. */
type Totals = Map<Counted, number>;

/** Walks a check from its start to its end. Between two steps others get their turn: a check may run beside live work. */
async function* walk<Cursor>(
  totals: Totals,
  start: Cursor,
  step: (cursor: Cursor) => Promise<Step<Cursor>>,
): AsyncGenerator<Finding> {
  for (let cursor: Cursor | undefined = start; cursor !== undefined; ) {
    const done: Step<Cursor> = await step(cursor);
    yield* done.problems;
    for (const what of KINDS) {
      const count = (totals.get(what) ?? 0) + (done.checked[what] ?? 0);
      totals.set(what, count);
      if (done.checked[what] !== undefined) yield { type: "checked", what, count };
    }
    cursor = done.next;
    await setImmediate();
  }
}

/** The link that was checked last. */
interface LinkCursor {
  readonly seq: number;
  readonly hash: Digest | null;
}

/** Where a check of the chain begins. */
const FIRST_LINK: LinkCursor = { seq: 0, hash: null };

/** The next links: unbroken, each hash right, and what each says true of the tables. */
async function checkLinks(tx: Tx, org: OrgId, at: LinkCursor & { readonly upTo: number }): Promise<Step<LinkCursor>> {
  const links = query
    .selectFrom("chain")
    .selectAll()
    .where("org", "=", org)
    .where("seq", ">", at.seq)
    .where("seq", "<=", at.upTo)
    .orderBy("seq")
    .limit(BATCH);
  const problems: Finding[] = [];
  let before: LinkCursor = at;
  let turns = 0;
  const rows = await tx.all(links);
  for (const link of rows) {
    problems.push(...checkLink(link, before));
    const said = subjectOf(link, [...linkedTables(tx.parts).keys()]);
    if (said?.turn !== undefined) turns++;
    problems.push(...(await checkSaid(tx, link, said)));
    before = { seq: link.seq, hash: link.hash };
  }
  const next = rows.length === BATCH ? { next: { seq: before.seq, hash: before.hash } } : {};
  return { problems, checked: { link: rows.length, turn: turns }, ...next };
}

function checkLink(link: Row<"chain">, before: LinkCursor): readonly Finding[] {
  const where = `link ${link.seq}`;
  if (link.seq !== before.seq + 1)
    return [problem(where, `the link before it is ${before.seq}: links between are gone`)];
  if (link.prev !== before.hash) return [problem(where, "it does not follow from the link before it")];
  if (link.hash !== chained(link.prev, link.body)) return [problem(where, "its hash is not that of what it says")];
  return [];
}

function subjectOf(link: Row<"chain">, kinds: readonly string[]): LinkSubject | undefined {
  try {
    return toSubject(link.body, kinds);
  } catch {
    return undefined;
  }
}

async function checkSaid(tx: Tx, link: Row<"chain">, said: LinkSubject | undefined): Promise<readonly Finding[]> {
  if (said?.turn !== undefined) return checkTurn(tx, link, said.turn);
  if (said?.row !== undefined) return checkLinkedRow(tx, link, said.row);
  if (said?.threads !== undefined) return checkErasure(tx, link, said.threads);
  return [problem(`link ${link.seq}`, "what it says cannot be read")];
}
