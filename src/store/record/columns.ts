import type { OrgId } from "../../protocol/index.ts";
import type { ColumnCover, Finding } from "../records.ts";
import { plain } from "../statement.ts";
import type { StorePart, TableCover, Tx } from "../tx.ts";

/**
 * How `verify` covers each column of the core's tables. A feature declares the same for its tables in its `StorePart`, and
 * `tests/house/store.test.ts` finds an undeclared column.
 */
export const CORE_COVER: Readonly<Record<string, TableCover>> = {
  agent_version: { derived: "org agent version piece", volatile: "at" },
  shared_piece: { derived: "org digest text retracted" },
  contact_key: { derived: "org agent contact key" },
  piece: { derived: "org agent contact digest text retracted" },
  thread: {
    linked:
      "org agent contact id forked_thread forked_turn created_at channel caller_thread caller_agent caller_call initiator target",
    derived: "turns erased_link",
    volatile: "key version last_activity fence holder lease_until stop_fence",
  },
  event: {
    linked: "org agent contact id thread seq kind trust channel piece at proof answers",
    derived: "turn retracted",
    volatile: "external_id status",
    since: "proof answers",
  },
  epoch: { linked: "org agent contact thread n reason cut mode prefix entries turn start" },
  message: { derived: "org agent contact thread epoch position piece trust tokens came_with rolling" },
  turn: {
    linked:
      "org agent contact id thread seq status attempt version started_at ended_at stop code words model wire mode totals epoch length own steps run upto",
    derived: "link retracted",
    since: "own upto steps",
  },
  turn_event: { linked: "org agent contact turn position event" },
  turn_message: { linked: "org agent contact turn position piece trust tokens came_with" },
  request: {
    linked:
      "org agent contact thread turn n epoch base own tail marks parameters ledger taint reply finish input cache_read cache_write output dollars at milliseconds cache_write_long predicted_read predicted_write predicted_write_long predicted_input",
    since: "cache_write_long predicted_read",
  },
  slot: {
    linked: "org agent contact thread position turn kind speaker piece at act",
    derived: "retracted",
    since: "act",
  },
  journal: {
    derived: "outcome",
    volatile: "org agent contact thread turn ordinal tool input begun_at ended_at",
  },
  open_call: {
    linked: "org agent contact id thread turn position call tool waits_for keeps due reserved",
    volatile: "state closed_by used",
  },
  memory_scope: { derived: "org agent contact units terms saved characters", volatile: "number next revision" },
  memory: {
    derived:
      "scope id kind trust at turn slot first units support content tags speaker session by by_id sources valid_from valid_until supersedes superseded_by superseded_at folded digest",
    volatile: "row worth",
  },
  memory_count: { derived: "scope kind memories characters newest" },
  memory_save: { volatile: "org agent contact n id memory turn said" },
  retraction: { linked: "agent n event turns texts undone by by_id reason at", derived: "org contact link" },
  unit: { derived: "memory speaker flags terms", volatile: "id session" },
  unit_term: { derived: "scope term units" },
  unit_speaker: { derived: "scope speaker units" },
  talk: { volatile: "scope name session at" },
  vector_model: { volatile: "number scope model dimensions done next serving" },
  vector: { derived: "crc value", volatile: "id memory part" },
  staged: { linked: "org agent contact thread turn batch batch_contact", volatile: "number" },
  text_move: {
    linked:
      "org agent layer part seq kind n was stands by turn contact reason text line findings verdict trust inputs parent rank source declared at by_id",
    derived: "link waits",
    since: "by_id",
  },
  agent_rename: { linked: "agent was role by_id at", derived: "org link" },
  act: { linked: "org agent id role what about at by_id", derived: "link", since: "by_id" },
  erasure: { volatile: "number org agent contact at" },
  spent_signature: { volatile: "org agent digest" },
  store_move: { volatile: "id way other at" },
  chain: { derived: "org seq prev hash body" },
};

/** Every table that is declared, and how each of its columns is covered. */
export const coverOf = (parts: readonly StorePart[]): ReadonlyMap<string, TableCover> =>
  new Map([...Object.entries(CORE_COVER), ...parts.flatMap(({ tables }) => Object.entries(tables))]);

export const columnsIn = (words: string | undefined): readonly string[] =>
  words === undefined ? [] : words.split(" ");

/** The scope of a check's answer: which columns may change unnoticed, and from which link on others are there. */
export async function covered(tx: Tx, org: OrgId): Promise<Finding> {
  const columns: ColumnCover[] = [];
  for (const [table, { derived, volatile, since }] of coverOf(tx.parts)) {
    const free = columnsIn(volatile);
    if (free.length > 0) columns.push({ table, columns: free, by: "nothing" });
    const isOfTurn = !columnsIn(derived).includes("link");
    for (const column of columnsIn(since)) {
      const first = await tx.column(plain<number | null>(firstLink(table, column, isOfTurn), org));
      columns.push({ table, columns: [column], by: "links", from: first[0] ?? null });
    }
  }
  return { type: "covered", columns };
}

/** The first link whose row has the column; a row without its own link is in that of its turn. */
function firstLink(table: string, column: string, isOfTurn: boolean): string {
  if (!isOfTurn) return `select min(link) from "${table}" where org = ? and "${column}" is not null`;
  return `select min(turn.link) from "${table}" as one join turn on turn.org = one.org and turn.agent = one.agent
    and turn.contact = one.contact and turn.id = one.turn where one.org = ? and one."${column}" is not null`;
}
