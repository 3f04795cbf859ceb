import type { Migration } from "../../migrations.ts";

const scope = "org, agent, contact";
const ofScope = (column: string, table: string, key: string) =>
  `foreign key (${scope}, ${column}) references ${table} (${scope}, ${key})`;

/** Calls that wait for a person; an index for what was spent since a time; a request to stop a turn. */
const approvals: Migration = {
  number: 2,
  name: "approvals",
  statements: [
    `create table approval (
      org text not null, agent text not null, contact text not null, id text not null, thread text not null,
      turn text not null, position integer not null, call text not null, tool text not null, input text not null,
      taint text not null, status text not null, asked_at integer not null, decided_at integer, decided_by text,
      note text, outcome text,
      primary key (org, id), ${ofScope("thread", "thread", "id")}, ${ofScope("turn", "turn", "id")},
      ${["input", "note", "outcome"].map((column) => ofScope(column, "piece", "digest")).join(", ")}) strict`,
    `create index approval_newest on approval (org, agent, asked_at)`,
    `create index approval_status on approval (org, agent, status, asked_at)`,
    `create index approval_turn on approval (${scope}, turn)`,
    `create index request_spent on request (org, agent, at, dollars)`,
    // The fence of the claim that is to stop; it does not affect later claims.
    `alter table thread add column stop_fence integer`,
  ],
};

/** A withdrawn event may be sent again; a waiting call records which version of the tool was called. */
const anew: Migration = {
  number: 3,
  name: "anew",
  statements: [
    `drop index event_external`,
    `create unique index event_external on event (org, agent, contact, channel, external_id) where status != 'withdrawn'`,
    // The digest of the tool's schema. Older calls have none.
    `alter table approval add column schema text`,
  ],
};

const NEW = ["cache_write_long", "predicted_read", "predicted_write", "predicted_write_long", "predicted_input"];

/** The predicted bill of each call, next to the real one, and how much was written with the long lifetime. Older rows have neither. */
const predictions: Migration = {
  number: 4,
  name: "predictions",
  statements: NEW.map((column) => `alter table request add column ${column} integer`),
};

/** Carries over what was remembered so far, each in its scope. The index over it is built when the file is opened: `reindex.ts`. */
const carried = [
  `insert into memory_scope (${scope}, next, units, terms, saved, characters, revision)
    select ${scope}, 0, 0, 0, 0, 0, 0 from memory_before group by ${scope}`,
  `insert into memory (scope, id, kind, content, tags, turn, trust, at, support, digest)
    select number, id, 'fact', content, iif(tags = '[]', null, tags), turn, trust, at, 1, digest
    from memory_before join memory_scope using (${scope}) order by row`,
];

/**
 * Memories of every kind, and the index by which they are found. A scope has a number, and its units are the rows from `number << 26` on: a
 * search in one scope reads one range of the index.
 */
const memory: Migration = {
  number: 5,
  name: "memory",
  statements: [
    `drop trigger memory_added`,
    `drop trigger memory_gone`,
    `drop table memory_words`,
    `drop index memory_newest`,
    `alter table memory rename to memory_before`,
    `create table memory_scope (
      number integer primary key, org text not null, agent text not null, contact text not null,
      next integer not null, units integer not null, terms integer not null, saved integer not null,
      characters integer not null, revision integer not null, unique (${scope})) strict`,
    // A turn's message has no text of its own: the slot that shows it names the only piece with the text.
    `create table memory (
      row integer primary key, scope integer not null references memory_scope (number), id text not null,
      kind text not null, trust text not null, at integer not null, turn text, slot integer, first integer,
      units integer not null default 0, support integer not null, content text, tags text, speaker text, session text,
      by text, sources text, valid_from integer, valid_until integer, supersedes text, superseded_by text, superseded_at integer,
      worth integer, folded blob, digest text, unique (scope, id)) strict`,
    `create index memory_kept on memory (scope, at) where kind != 'message' or tags is not null`,
    `create index memory_folded on memory (scope, folded) where folded is not null`,
    `create index memory_worth on memory (scope, worth) where worth is not null`,
    `create table unit (
      id integer primary key, memory integer not null references memory (row), session integer not null,
      speaker text not null, flags integer not null, terms text not null) strict`,
    // Terms contain no ASCII characters except letters and digits, so this tokenizer keeps each one unchanged, in any script.
    `create virtual table unit_words using fts5 (
      terms, content = 'unit', content_rowid = 'id', detail = none, columnsize = 0, tokenize = 'ascii')`,
    // An erased word must leave the index at once, not at the next merge of its segments.
    `insert into unit_words (unit_words, rank) values ('secure-delete', 1)`,
    `create table unit_term (
      scope integer not null, term text not null, units integer not null, primary key (scope, term)) strict, without rowid`,
    `create table unit_speaker (
      scope integer not null, speaker text not null, units integer not null,
      primary key (scope, speaker)) strict, without rowid`,
    `create table talk (
      scope integer not null, name text not null, session integer not null, at integer not null,
      primary key (scope, name)) strict, without rowid`,
    `create table memory_count (
      scope integer not null, kind text not null, memories integer not null, characters integer not null,
      newest integer not null, primary key (scope, kind)) strict, without rowid`,
    `create table memory_index (version integer not null) strict`,
    ...carried,
    `drop table memory_before`,
  ],
};

/**
 * Vectors of memories. A model has a number for each scope, and its vectors are the rows from `number << 26` on, so a search reads one
 * range. Everything up to the place `done` of the scope has been examined; what comes later waits.
 */
const vectors: Migration = {
  number: 6,
  name: "vectors",
  statements: [
    `create table vector_model (
      number integer primary key, scope integer not null references memory_scope (number) on delete cascade,
      model text not null, dimensions integer not null, done integer not null, next integer not null,
      serving integer not null, unique (scope, model)) strict`,
    `create table vector (
      id integer primary key, memory integer not null references memory (row) on delete cascade,
      part integer not null, value blob not null) strict`,
    `create index vector_memory on vector (memory)`,
    `create trigger vector_superseded after update of superseded_by on memory when new.superseded_by is not null
      begin delete from vector where memory = new.row; end`,
    // If places are assigned again, they are examined again; a text that has its vector keeps it.
    `create trigger vector_rewound after update of next on memory_scope when new.next < old.next
      begin update vector_model set done = 0 where scope = new.number; end`,
  ],
};

const own = "org text not null, agent text not null";
const linked = "at integer not null, link integer not null, unique (org, link)";
const shared = (column: string) => `foreign key (org, ${column}) references shared_piece (org, digest)`;
/** The reference is checked only if a contact is named: all other texts are shared pieces. */
const contacts = (column: string) =>
  `foreign key (org, agent, contact, ${column}) references piece (org, agent, contact, digest)`;

/**
 * The data of an agent that lives by itself: texts with versions, logs of its senders, credits, a state, mail that is delivered with
 * retries, and a record of what operators did.
 */
const agents: Migration = {
  number: 7,
  name: "agents",
  statements: [
    // One row for each thing done with a text. A version is the row that created it, and nothing of it ever changes.
    `create table text_move (
      ${own}, layer text not null, part text not null, seq integer not null, kind text not null, n integer not null,
      was integer, stands integer, by text not null, turn text, contact text, reason text not null, text text, line text,
      findings text, verdict text, trust text, inputs text, parent integer, rank integer, source text,
      declared text, ${linked},
      primary key (org, agent, layer, part, seq), foreign key (org, turn) references turn (org, id),
      ${["reason", "text", "line", "findings"].map(contacts).join(", ")}) strict`,
    `create index text_key on text_move (org, agent) where seq = 1`,
    `create index text_version on text_move (org, agent, layer, part, n)`,
    `create index text_newest on text_move (org, agent, link)`,
    // Messages and answers are in the thread's record; this table only says which part belongs to the log.
    `create table exchange (
      number integer primary key, ${own}, contact text not null, event text not null, turn text not null,
      at integer not null, unique (org, agent, contact, event), foreign key (org, event) references event (org, id),
      foreign key (org, turn) references turn (org, id)) strict`,
    `create index exchange_last on exchange (org, agent, contact, at)`,
    `create table life (
      ${own}, state text not null, since integer not null, because text, turn text, code text,
      ticked_at integer,
      primary key (org, agent)) strict`,
    `create table top_up (
      ${own}, id integer not null, dollars real not null, by text not null, note text not null, ${linked},
      primary key (org, agent, id), ${shared("note")}) strict`,
    // Sums of other rows, so that the whole life of an agent need not be added up to show them.
    `create table tally (
      ${own}, turns integer not null, since integer, dollars real not null, primary key (org, agent)) strict`,
    `insert into tally select org, agent, count(*), null, 0.0 from turn where status != 'running' group by org, agent`,
    `create table act (
      ${own}, id integer not null, role text not null, what text not null, about text not null, ${linked},
      primary key (org, agent, id)) strict`,
    // Whether a signature proves that a message is its sender's. Older messages do not say.
    `alter table event add column proof text`,
    // A signature counts once, on whichever channel it arrives, and still counts if its message was withdrawn.
    `create unique index event_proven on event (org, agent, contact, external_id) where proof = 'proven'`,
    `create index event_waiting on event (org, agent, at) where status = 'pending'`,
    ...["holder text", "lease_until integer", "tries integer not null default 0", "due integer", "failed text"].map(
      (column) => `alter table outbox add column ${column}`,
    ),
    `create index outbox_waiting on outbox (org, agent, at) where status = 'waiting'`,
  ],
};

/** Which senders' threads are part of a turn of several senders, and as which of their turns. */
const batches: Migration = {
  number: 8,
  name: "batches",
  statements: [
    `create table staged (
      number integer primary key, org text not null, agent text not null, contact text not null, thread text not null,
      turn text, batch text not null, batch_contact text not null,
      foreign key (org, thread) references thread (org, id), foreign key (org, batch) references thread (org, id),
      foreign key (org, turn) references turn (org, id)) strict`,
    `create index staged_sender on staged (org, agent, contact)`,
    `create index staged_turn on staged (org, turn) where turn is not null`,
    `create index staged_batch on staged (org, batch)`,
  ],
};

/** Which versions wait for an operator, so that they are found and counted without reading earlier decisions. */
const proposals: Migration = {
  number: 9,
  name: "proposals",
  statements: [
    `alter table text_move add column waits integer`,
    `update text_move set waits = 1 where kind = 'proposed' and not exists (
      select 1 from text_move word
      where word.org = text_move.org and word.agent = text_move.agent and word.layer = text_move.layer
      and word.part = text_move.part and word.n = text_move.n and word.kind in ('approved', 'rejected'))`,
    `create index text_waiting on text_move (org, agent, contact, layer, part, n) where waits = 1`,
    `create index text_of_turn on text_move (org, turn) where turn is not null`,
  ],
};

/** Proof becomes part of a message's identity, and a sender's log contains only what the sender wrote. */
export const senders: Migration = {
  number: 10,
  name: "senders",
  statements: [
    `drop index event_external`,
    // Proven messages have their own index, whichever channel they arrive on.
    `create unique index event_external on event (org, agent, contact, channel, external_id)
      where status != 'withdrawn' and proof is not 'proven'`,
    // Only entries of the logs are deleted: what was said stays on the threads.
    `delete from exchange where exists (
      select 1 from event where event.org = exchange.org and event.id = exchange.event
      and (event.kind != 'message' or event.trust != 'contact'))`,
  ],
};

/** Each sender's part of a turn of several senders was counted as a turn of the agent, which is wrong. */
export const turnCounts: Migration = {
  number: 11,
  name: "turn-counts",
  statements: [
    `update tally set turns = turns - (
      select count(*) from turn
      where turn.org = tally.org and turn.agent = tally.agent and turn.status != 'running'
      and exists (select 1 from staged where staged.org = turn.org and staged.turn = turn.id)
      and not exists (
        select 1 from request
        where request.org = turn.org and request.agent = turn.agent and request.contact = turn.contact and request.turn = turn.id))`,
  ],
};

/** An index of the turns of several senders that have not ended: looking for the next turn of an inbox read all that ever existed. */
const unended: Migration = {
  number: 12,
  name: "unended",
  statements: [
    `create index thread_unended on thread (org, agent, id)
      where turns = 0 and erased_link is null and contact >= '~inbox:' and contact < '~inbox;'`,
  ],
};

/**
 * The number of completed turns before this one on its thread. What failed since the last of them was tried again. A running turn has no
 * row yet.
 */
const DONE_BEFORE = `(select count(*) from turn as done where done.org = journal.org and done.agent = journal.agent
  and done.contact = journal.contact and done.thread = journal.thread and done.status = 'done'
  and (turn.seq is null or done.seq < turn.seq))`;

const SAME = "journal.org, journal.agent, journal.contact, journal.thread, journal.tool, journal.input";

/**
 * A call was identified by its place among all calls of its turn and of that turn's failed attempts; now by its place among those that ask
 * for the same.
 */
export const calls: Migration = {
  number: 13,
  name: "calls",
  statements: [
    // In two steps, so that no row gets a number that another one still has.
    `update journal set ordinal = -same.nth from (
        select journal.rowid as row, dense_rank() over (partition by ${SAME}, ${DONE_BEFORE} order by journal.ordinal) as nth
          from journal left join turn on turn.org = journal.org and turn.agent = journal.agent and turn.contact = journal.contact
            and turn.id = journal.turn) as same
      where same.row = journal.rowid`,
    `update journal set ordinal = -ordinal`,
  ],
};

/** What an erasure still has to do after its rows are blanked, and the signatures of erased contacts, which must not count again. */
const erasures: Migration = {
  number: 14,
  name: "erasures",
  statements: [
    // The contact stays until its files are deleted, the row until no old page of it is left in the write-ahead log.
    `create table erasure (
      number integer primary key, org text not null, agent text not null, contact text, at integer not null) strict`,
    // Under the agent's key: neither the contact nor the id can be read from it.
    `create table spent_signature (
      org text not null, agent text not null, digest text not null, primary key (org, agent, digest)) strict`,
  ],
};

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
const checkedRows: Migration = {
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

/** An index of turns without a reply: they are few, and are counted at each start. */
const wordless: Migration = {
  number: 16,
  name: "wordless",
  statements: [`create index turn_wordless on turn (org, agent, ended_at) where status = 'done' and words is null`],
};

/** Steps 2 to 16, in order. The later ones are declared once for both databases. */
export const SINCE_FIRST: readonly Migration[] = [
  approvals,
  anew,
  predictions,
  memory,
  vectors,
  agents,
  batches,
  proposals,
  senders,
  turnCounts,
  unended,
  calls,
  erasures,
  checkedRows,
  wordless,
];
