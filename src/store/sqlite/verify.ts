import { chained, type Digest, type OrgId } from "../../protocol/index.ts";
import { type LinkSubject, RECORDED, toSubject } from "../rows.ts";
import { query } from "../statement.ts";
import type { ChainHead, Finding } from "../store.ts";
import type { Row } from "../tables.ts";
import { checkTallies } from "./agent/tally.ts";
import { checkExchanges, checkRecorded, checkRecordedLink } from "./agent/verify-recorded.ts";
import { head } from "./chain.ts";
import type { Connection } from "./connection.ts";
import { checkMemories, FIRST_MEMORY } from "./memory/verify-memories.ts";
import { checkEpochs } from "./verify-epochs.ts";
import { checkFile, damageSaid } from "./verify-file.ts";
import { checkOwnPieces, checkSharedPieces, checkVersions } from "./verify-pieces.ts";
import { checkErasedThreads, checkErasure, checkTurn, checkUnlinkedTurns } from "./verify-turns.ts";
import { BATCH, problem, type Step, type Totals, walk } from "./walk.ts";

/**
 * Derives everything again: the chain and each link's turn from the rows, the rows' digests from the texts, the transcripts'
 * rolling digests from their messages. Whatever was changed, swapped, added or taken away shows somewhere on this walk; only
 * an end that was cut off whole needs the anchor. First the file itself: what a broken disk does to a row shows there.
 */
export async function* verify(db: Connection, org: OrgId, anchor?: ChainHead): AsyncGenerator<Finding> {
  const damage = checkFile(db);
  yield* damage;
  try {
    yield* derived(db, org, anchor);
  } catch (thrown) {
    // What is left of a damaged file may not even be readable: that was told above, or is told here.
    if (damage.length === 0) yield problem("database", damageSaid(db, thrown));
  }
}

async function* derived(db: Connection, org: OrgId, anchor?: ChainHead): AsyncGenerator<Finding> {
  const { seq: upTo } = head(db, org);
  const totals: Totals = new Map();
  if (anchor) yield* reached(db, org, anchor);
  yield* walk(totals, FIRST_LINK, (cursor) => db.read(() => checkLinks(db, org, { ...cursor, upTo })));
  yield* walk(totals, "", (after) => db.read(() => checkUnlinkedTurns(db, org, after)));
  yield* walk(totals, "", (after) => db.read(() => checkErasedThreads(db, org, after)));
  for (const what of RECORDED) {
    yield* walk(totals, 0, (after) => db.read(() => checkRecorded(db, org, what, after)));
  }
  yield* walk(totals, 0, () => db.read(() => checkExchanges(db, org)));
  yield* walk(totals, 0, () => db.read(() => checkTallies(db, org)));
  yield* walk(totals, { agent: "", contact: "", thread: "", n: 0 }, (cursor) =>
    db.read(() => checkEpochs(db, org, cursor)),
  );
  yield* walk(totals, "", (after) => db.read(() => checkVersions(db, org, after)));
  yield* walk(totals, "", (after) => db.read(() => checkSharedPieces(db, org, after)));
  yield* walk(totals, { agent: "", contact: "", digest: "" }, (cursor) =>
    db.read(() => checkOwnPieces(db, org, cursor)),
  );
  yield* walk(totals, FIRST_MEMORY, (cursor) => db.read(() => checkMemories(db, org, cursor)));
}

function* reached(db: Connection, org: OrgId, anchor: ChainHead): Generator<Finding> {
  if (anchor.org !== org) {
    yield problem("anchor", `it is of the organization ${anchor.org}, not of ${org}: name the anchor of ${org}`);
    return;
  }
  if (anchor.seq === 0) return;
  const wanted = { org, seq: anchor.seq };
  const link = db.first(
    query
      .selectFrom("chain")
      .select("hash")
      .where((eb) => eb.and(wanted)),
  );
  const { seq } = head(db, org);
  if (!link) {
    yield problem("anchor", `the record ends at link ${seq}, but it once reached link ${anchor.seq}: its end is gone`);
  } else if (link.hash !== anchor.hash) {
    yield problem("anchor", `link ${anchor.seq} is not the one the anchor knows: the record was written anew`);
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
function checkLinks(db: Connection, org: OrgId, at: LinkCursor & { readonly upTo: number }): Step<LinkCursor> {
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
  const rows = db.all(links);
  for (const link of rows) {
    problems.push(...checkLink(link, before));
    const said = subjectOf(link);
    if (said?.turn !== undefined) turns++;
    problems.push(...checkSaid(db, link, said));
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

function subjectOf(link: Row<"chain">): LinkSubject | undefined {
  try {
    return toSubject(link.body);
  } catch {
    return undefined;
  }
}

function checkSaid(db: Connection, link: Row<"chain">, said: LinkSubject | undefined): readonly Finding[] {
  if (said?.turn !== undefined) return checkTurn(db, link, said.turn);
  if (said?.row !== undefined) return checkRecordedLink(db, link, said.row);
  if (said?.threads !== undefined) return checkErasure(db, link, said.threads);
  return [problem(`link ${link.seq}`, "what it says cannot be read")];
}
