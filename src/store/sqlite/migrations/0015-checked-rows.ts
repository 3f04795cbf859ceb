import type { Migration } from "../../migrations.ts";

/**
 * Columns that no digest covers, because they change after their turn was linked, or no link contains them. They are stored a second time,
 * in an index, so that SQLite's own check finds a flipped bit in either.
 */
const UNCOVERED: Readonly<Record<string, string>> = {
  agent_version: "piece, at",
  contact_key: "key",
  thread:
    "channel, key, version, forked_thread, forked_turn, created_at, last_activity, turns, fence, holder, lease_until, erased_link, stop_fence",
  event: "status, turn, external_id",
  outbox: "status, delivered_at, holder, lease_until, tries, due, failed",
  journal: "thread, begun_at, outcome, ended_at",
  approval: "status, decided_at, decided_by, note, outcome",
  memory_scope: "next, units, terms, saved, characters, revision",
  unit: "session",
  talk: "session, at",
  memory_index: "version",
  vector_model: "dimensions, done, next, serving",
  staged: "thread, turn, batch_contact",
  life: "state, since, because, turn, code, ticked_at",
  tally: "turns, since, dollars",
  erasure: "org, agent, contact, at",
  migration: "name",
};

/** The first column is an expression that no query contains, so no query ever uses this index. */
const checked = ([table, columns]: readonly [string, string]): string =>
  `create index ${table}_checked on ${table} (+${columns})`;

/** Makes every row checkable: by its digest, or against an index. */
export const checkedRows: Migration = {
  number: 15,
  name: "checked-rows",
  statements: [
    ...Object.entries(UNCOVERED).map(checked),
    // Events that no turn has taken yet; below, turns that are running.
    `create index event_untaken on event (+kind, trust, channel, piece, at, proof) where turn is null`,
    `create index turn_unended on turn (+attempt, version, started_at, ended_at, stop, code, words, model, wire, mode,
      totals, epoch, length) where status = 'running'`,
    // An index would store each vector twice.
    `alter table vector add column crc integer`,
    `update vector set crc = crc32(value)`,
    `drop index vector_memory`,
    `create index vector_memory on vector (memory, part)`,
  ],
};
