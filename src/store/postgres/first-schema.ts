/**
 * The tables in PostgreSQL: the result of SQLite's first sixteen migrations. A test compares columns, keys and indexes of both. It is kept
 * forever and never edited, because existing databases were made by it.
 */

import { type NewTable, tableIn } from "../migrations.ts";

const owned = "org text!, agent text!, contact text!";
const ofAgent = "org text!, agent text!";
const linked = "at int!, link int!";

/** Every key of a contact's rows begins with its scope (law 5), so that a query in a scope reads only that scope's rows. */
const scope = "org, agent, contact";
const ofThread = `${scope}, thread -> thread (${scope}, id)`;
const ofTurn = `${scope}, turn -> turn (${scope}, id)`;
const ofEpoch = `${scope}, thread, epoch -> epoch (${scope}, thread, n)`;
/** A row can name only texts of its own contact: here the database itself keeps law 5. */
const ownPiece = (column: string) => `${scope}, ${column} -> piece (${scope}, digest)`;
const sharedPiece = (column: string) => `org, ${column} -> shared_piece (org, digest)`;

const TABLES: Readonly<Record<string, NewTable>> = {
  shared_piece: { columns: "org text!, digest text!, text text!", key: "org, digest" },
  agent_version: {
    columns: `${ofAgent}, version text!, piece text!, at int!`,
    key: "org, agent, version",
    references: [sharedPiece("piece")],
  },
  contact_key: { columns: `${owned}, key bytes!`, key: scope },
  piece: { columns: `${owned}, digest text!, text text`, key: `${scope}, digest` },
  thread: {
    columns: `${owned}, id text!, channel text!, key text!, version text!, forked_thread text, forked_turn text,
      created_at int!, last_activity int!, turns int!, fence int!, holder text, lease_until int, erased_link int, stop_fence int`,
    key: "org, id",
    unique: [`${scope}, id`],
  },
  event: {
    columns: `${owned}, id text!, thread text!, seq int!, kind text!, trust text!, channel text!, external_id text, piece text!,
      at int!, status text!, turn text, proof text`,
    key: "org, id",
    unique: [`${scope}, thread, seq`],
    references: [ofThread, ownPiece("piece")],
  },
  epoch: {
    columns: `${owned}, thread text!, n int!, reason text!, cut int!, mode text!, prefix text!, entries text!, turn text!, start int!`,
    key: `${scope}, thread, n`,
    references: [ofThread, sharedPiece("prefix"), sharedPiece("entries")],
  },
  message: {
    columns: `${owned}, thread text!, epoch int!, position int!, piece text!, trust text!, tokens int!, came_with text, rolling text!`,
    key: `${scope}, thread, epoch, position`,
    references: [ofEpoch, ownPiece("piece")],
  },
  turn: {
    columns: `${owned}, id text!, thread text!, seq int!, status text!, attempt int!, version text!, started_at int!, ended_at int,
      stop text, code text, words text, model text, wire text, mode text, totals text, epoch int, length int, link int`,
    key: "org, id",
    unique: [`${scope}, id`, `${scope}, thread, seq`],
    references: [ofThread, ownPiece("words")],
  },
  turn_event: {
    columns: `${owned}, turn text!, position int!, event text!`,
    key: `${scope}, turn, position`,
    references: [ofTurn, "org, event -> event (org, id)"],
  },
  turn_message: {
    columns: `${owned}, turn text!, position int!, piece text!, trust text!, tokens int!, came_with text`,
    key: `${scope}, turn, position`,
    references: [ofTurn, ownPiece("piece")],
  },
  request: {
    columns: `${owned}, thread text!, turn text!, n int!, epoch int!, base int!, own int!, tail text!, marks text!, parameters text!,
      ledger text!, taint text!, reply text, finish text, input int!, cache_read int!, cache_write int!, output int!, dollars real!,
      at int!, milliseconds real!, cache_write_long int, predicted_read int, predicted_write int, predicted_write_long int,
      predicted_input int`,
    key: `${scope}, turn, n`,
    references: [
      ofTurn,
      ofEpoch,
      ...["tail", "reply"].map(ownPiece),
      ...["marks", "parameters", "ledger"].map(sharedPiece),
    ],
  },
  slot: {
    columns: `${owned}, thread text!, position int!, turn text!, kind text!, speaker text!, piece text!, at int!`,
    key: `${scope}, thread, position`,
    references: [ofThread, ofTurn, ownPiece("piece")],
  },
  outbox: {
    columns: `${owned}, id text!, thread text!, turn text!, channel text!, piece text!, status text!, at int!, delivered_at int,
      holder text, lease_until int, tries int! default 0, due int, failed text`,
    key: "org, id",
    references: [ofThread, ofTurn, ownPiece("piece")],
  },
  journal: {
    columns: `${owned}, thread text!, turn text!, ordinal int!, tool text!, input text!, begun_at int!, outcome text, ended_at int`,
    key: `${scope}, turn, ordinal, tool, input`,
    references: [ofThread, ofTurn, ownPiece("outcome")],
  },
  chain: { columns: "org text!, seq int!, prev text, hash text!, body text!", key: "org, seq" },
  approval: {
    columns: `${owned}, id text!, thread text!, turn text!, position int!, call text!, tool text!, input text!, taint text!,
      status text!, asked_at int!, decided_at int, decided_by text, note text, outcome text, schema text`,
    key: "org, id",
    references: [ofThread, ofTurn, ...["input", "note", "outcome"].map(ownPiece)],
  },
  memory_scope: {
    columns: `number serial, ${owned}, next int!, units int!, terms int!, saved int!, characters int!, revision int!`,
    key: "number",
    unique: [scope],
  },
  // A turn's message has no text of its own: the slot that shows it names the only piece with the text.
  memory: {
    columns: `row serial, scope int!, id text!, kind text!, trust text!, at int!, turn text, slot int, first int,
      units int! default 0, support int!, content text, tags text, speaker text, session text, by text, sources text,
      valid_from int, valid_until int, supersedes text, superseded_by text, superseded_at int, worth int, folded bytes, digest text`,
    key: "row",
    unique: ["scope, id"],
    references: ["scope -> memory_scope (number)"],
  },
  unit: {
    columns: "id int!, memory int!, session int!, speaker text!, flags int!, terms text!",
    key: "id",
    references: ["memory -> memory (row)"],
  },
  // Which units have a word: in SQLite, this is a full-text index. The ids of a scope are one range, so a search reads nothing of another
  // scope.
  unit_word: { columns: "term text!, unit int!", key: "term, unit" },
  unit_term: { columns: "scope int!, term text!, units int!", key: "scope, term" },
  unit_speaker: { columns: "scope int!, speaker text!, units int!", key: "scope, speaker" },
  talk: { columns: "scope int!, name text!, session int!, at int!", key: "scope, name" },
  memory_count: { columns: "scope int!, kind text!, memories int!, characters int!, newest int!", key: "scope, kind" },
  memory_index: { columns: "version int!", key: "version" },
  vector_model: {
    columns: "number serial, scope int!, model text!, dimensions int!, done int!, next int!, serving int!",
    key: "number",
    unique: ["scope, model"],
    references: ["scope -> memory_scope (number) on delete cascade"],
  },
  vector: {
    columns: "id int!, memory int!, part int!, value bytes!, crc int",
    key: "id",
    references: ["memory -> memory (row) on delete cascade"],
  },
  text_move: {
    columns: `${ofAgent}, layer text!, part text!, seq int!, kind text!, n int!, was int, stands int, by text!, turn text,
      contact text, reason text!, text text, line text, findings text, verdict text, trust text, inputs text, parent int, rank int,
      source text, declared text, ${linked}, waits int`,
    key: "org, agent, layer, part, seq",
    unique: ["org, link"],
    references: ["org, turn -> turn (org, id)", ...["reason", "text", "line", "findings"].map(ownPiece)],
  },
  exchange: {
    columns: `number serial, ${owned}, event text!, turn text!, at int!`,
    key: "number",
    unique: [`${scope}, event`],
    references: ["org, event -> event (org, id)", "org, turn -> turn (org, id)"],
  },
  life: {
    columns: `${ofAgent}, state text!, since int!, because text, turn text, code text, ticked_at int`,
    key: "org, agent",
  },
  top_up: {
    columns: `${ofAgent}, id int!, dollars real!, by text!, note text!, ${linked}`,
    key: "org, agent, id",
    unique: ["org, link"],
    references: [sharedPiece("note")],
  },
  tally: { columns: `${ofAgent}, turns int!, since int, dollars real!`, key: "org, agent" },
  act: {
    columns: `${ofAgent}, id int!, role text!, what text!, about text!, ${linked}`,
    key: "org, agent, id",
    unique: ["org, link"],
  },
  staged: {
    columns: `number serial, ${owned}, thread text!, turn text, batch text!, batch_contact text!`,
    key: "number",
    references: ["thread", "batch"]
      .map((column) => `org, ${column} -> thread (org, id)`)
      .concat("org, turn -> turn (org, id)"),
  },
  erasure: { columns: `number serial, ${ofAgent}, contact text, at int!`, key: "number" },
  spent_signature: { columns: `${ofAgent}, digest text!`, key: "org, agent, digest" },
};

const INDEXES = [
  `create unique index thread_open on thread (${scope}, channel, key) where erased_link is null`,
  `create index thread_erased on thread (org, erased_link)`,
  `create index thread_recent on thread (org, agent, last_activity)`,
  `create index thread_unended on thread (org, agent, id)
    where turns = 0 and erased_link is null and contact >= '~inbox:' and contact < '~inbox;'`,
  // Events without an external id never conflict: null equals nothing in an index.
  `create unique index event_external on event (${scope}, channel, external_id)
    where status != 'withdrawn' and proof is distinct from 'proven'`,
  `create unique index event_proven on event (${scope}, external_id) where proof = 'proven'`,
  `create index event_pending on event (${scope}, thread, status, seq)`,
  `create index event_waiting on event (org, agent, at) where status = 'pending'`,
  `create index epoch_turn on epoch (${scope}, turn)`,
  `create unique index turn_running on turn (${scope}, thread) where status = 'running'`,
  `create unique index turn_link on turn (org, link)`,
  `create index turn_wordless on turn (org, agent, ended_at) where status = 'done' and words is null`,
  `create index slot_turn on slot (${scope}, turn)`,
  `create index outbox_turn on outbox (${scope}, turn)`,
  `create index outbox_oldest on outbox (${scope}, at)`,
  `create index outbox_waiting on outbox (org, agent, at) where status = 'waiting'`,
  `create index approval_newest on approval (org, agent, asked_at)`,
  `create index approval_status on approval (org, agent, status, asked_at)`,
  `create index approval_turn on approval (${scope}, turn)`,
  `create index request_spent on request (org, agent, at, dollars)`,
  `create index memory_kept on memory (scope, at) where kind != 'message' or tags is not null`,
  `create index memory_folded on memory (scope, folded) where folded is not null`,
  `create index memory_worth on memory (scope, worth) where worth is not null`,
  `create index unit_memory on unit (memory)`,
  `create index vector_memory on vector (memory, part)`,
  `create index text_key on text_move (org, agent) where seq = 1`,
  `create index text_version on text_move (org, agent, layer, part, n)`,
  `create index text_newest on text_move (org, agent, link)`,
  `create index text_waiting on text_move (org, agent, contact, layer, part, n) where waits = 1`,
  `create index text_of_turn on text_move (org, turn) where turn is not null`,
  `create index exchange_last on exchange (${scope}, at)`,
  `create index staged_sender on staged (${scope})`,
  `create index staged_turn on staged (org, turn) where turn is not null`,
  `create index staged_batch on staged (org, batch)`,
];

const TRIGGERS = [
  `create function vector_superseded() returns trigger language plpgsql as
    $$ begin delete from vector where memory = new.row; return null; end $$`,
  `create trigger vector_superseded after update of superseded_by on memory for each row
    when (new.superseded_by is not null) execute function vector_superseded()`,
  // If places are assigned again, they are examined again; a text that has its vector keeps it.
  `create function vector_rewound() returns trigger language plpgsql as
    $$ begin update vector_model set done = 0 where scope = new.number; return null; end $$`,
  `create trigger vector_rewound after update of next on memory_scope for each row
    when (new.next < old.next) execute function vector_rewound()`,
];

/** The tables of this schema, in an order in which referenced tables come first. */
export const FIRST_TABLES: readonly string[] = Object.keys(TABLES);

/** The statements that create them. */
export const FIRST_SCHEMA: readonly string[] = [
  ...Object.entries(TABLES).map(([name, table]) => tableIn("postgres", name, table)),
  ...INDEXES,
  ...TRIGGERS,
];
