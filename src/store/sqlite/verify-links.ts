import { chained, type Digest, type OrgId } from "../../protocol/index.ts";
import { type LinkSubject, toSubject } from "../rows.ts";
import type { Finding } from "../store.ts";
import type { Row } from "../tables.ts";
import { checkRecordedLink } from "./agent/verify-recorded.ts";
import type { Connection } from "./connection.ts";
import { query } from "./statement.ts";
import { checkErasure, checkTurn } from "./verify-turns.ts";
import { BATCH, problem, type Step } from "./walk.ts";

/** The link that was checked last. */
export interface LinkCursor {
  readonly seq: number;
  readonly hash: Digest | null;
}

/** Where a check of the chain begins. */
export const FIRST_LINK: LinkCursor = { seq: 0, hash: null };

/** The next links: unbroken, each hash right, and what each says true of the tables. */
export function checkLinks(db: Connection, org: OrgId, at: LinkCursor & { readonly upTo: number }): Step<LinkCursor> {
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
