import type { OrgId } from "../../protocol/index.ts";
import { RECORDED } from "../rows.ts";
import type { ChainHead, Finding } from "../store.ts";
import { checkTallies } from "./agent/tally.ts";
import { checkExchanges, checkRecorded } from "./agent/verify-recorded.ts";
import { head } from "./chain.ts";
import type { Connection } from "./connection.ts";
import { checkMemories, FIRST_MEMORY } from "./memory/verify-memories.ts";
import { query } from "./statement.ts";
import { checkEpochs } from "./verify-epochs.ts";
import { checkFile, damageSaid } from "./verify-file.ts";
import { checkLinks, FIRST_LINK } from "./verify-links.ts";
import { checkOwnPieces, checkSharedPieces, checkVersions } from "./verify-pieces.ts";
import { checkErasedThreads, checkUnlinkedTurns } from "./verify-turns.ts";
import { problem, type Totals, walk } from "./walk.ts";

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
