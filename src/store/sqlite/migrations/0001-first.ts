import type { Migration } from "../../migrations.ts";

const owned = "org text not null, agent text not null, contact text not null";
/**
 * Every key of a contact's rows begins with its scope, so that a query in a scope reads only that scope's rows: law 5 and the fastest
 * access are the same. Where ids are looked up, there is also a key without the scope.
 */
const scope = "org, agent, contact";
const ofThread = `foreign key (${scope}, thread) references thread (${scope}, id)`;
const ofTurn = `foreign key (${scope}, turn) references turn (${scope}, id)`;
const ofEpoch = `foreign key (${scope}, thread, epoch) references epoch (${scope}, thread, n)`;
/** A row can name only texts of its own contact: here the database itself keeps law 5. */
const ownPiece = (column: string) => `foreign key (${scope}, ${column}) references piece (${scope}, digest)`;
const sharedPiece = (column: string) => `foreign key (org, ${column}) references shared_piece (org, digest)`;

const texts = [
  `create table shared_piece (
    org text not null, digest text not null, text text not null,
    primary key (org, digest)) strict`,
  `create table agent_version (
    org text not null, agent text not null, version text not null, piece text not null, at integer not null,
    primary key (org, agent, version), ${sharedPiece("piece")}) strict`,
  `create table contact_key (${owned}, key blob not null, primary key (${scope})) strict`,
  `create table piece (${owned}, digest text not null, text text, primary key (${scope}, digest)) strict`,
];

const threads = [
  `create table thread (
    ${owned}, id text not null, channel text not null, key text not null, version text not null,
    forked_thread text, forked_turn text, created_at integer not null, last_activity integer not null,
    turns integer not null, fence integer not null, holder text, lease_until integer, erased_link integer,
    primary key (org, id), unique (${scope}, id)) strict`,
  `create unique index thread_open on thread (${scope}, channel, key) where erased_link is null`,
  `create index thread_erased on thread (org, erased_link)`,
  `create index thread_recent on thread (org, agent, last_activity)`,
  `create table event (
    ${owned}, id text not null, thread text not null, seq integer not null, kind text not null, trust text not null,
    channel text not null, external_id text, piece text not null, at integer not null, status text not null, turn text,
    primary key (org, id), unique (${scope}, thread, seq), ${ofThread}, ${ownPiece("piece")}) strict`,
  // Events without an external id never conflict: null equals nothing in an index.
  `create unique index event_external on event (${scope}, channel, external_id)`,
  `create index event_pending on event (${scope}, thread, status, seq)`,
  `create table epoch (
    ${owned}, thread text not null, n integer not null, reason text not null, cut integer not null, mode text not null,
    prefix text not null, entries text not null, turn text not null, start integer not null,
    primary key (${scope}, thread, n), ${ofThread}, ${sharedPiece("prefix")}, ${sharedPiece("entries")}) strict`,
  `create index epoch_turn on epoch (${scope}, turn)`,
  `create table message (
    ${owned}, thread text not null, epoch integer not null, position integer not null, piece text not null,
    trust text not null, tokens integer not null, came_with text, rolling text not null,
    primary key (${scope}, thread, epoch, position), ${ofEpoch}, ${ownPiece("piece")}) strict`,
];

const turns = [
  `create table turn (
    ${owned}, id text not null, thread text not null, seq integer not null, status text not null, attempt integer not null,
    version text not null, started_at integer not null, ended_at integer, stop text, code text, words text, model text,
    wire text, mode text, totals text, epoch integer, length integer, link integer,
    primary key (org, id), unique (${scope}, id), unique (${scope}, thread, seq), ${ofThread}, ${ownPiece("words")}) strict`,
  `create unique index turn_running on turn (${scope}, thread) where status = 'running'`,
  `create unique index turn_link on turn (org, link)`,
  `create table turn_event (
    ${owned}, turn text not null, position integer not null, event text not null,
    primary key (${scope}, turn, position), ${ofTurn}, foreign key (org, event) references event (org, id)) strict`,
  `create table turn_message (
    ${owned}, turn text not null, position integer not null, piece text not null, trust text not null,
    tokens integer not null, came_with text,
    primary key (${scope}, turn, position), ${ofTurn}, ${ownPiece("piece")}) strict`,
  `create table request (
    ${owned}, thread text not null, turn text not null, n integer not null, epoch integer not null, base integer not null,
    own integer not null, tail text not null, marks text not null, parameters text not null, ledger text not null,
    taint text not null, reply text, finish text, input integer not null, cache_read integer not null,
    cache_write integer not null, output integer not null, dollars real not null, at integer not null,
    milliseconds real not null,
    primary key (${scope}, turn, n), ${ofTurn}, ${ofEpoch}, ${ownPiece("tail")}, ${ownPiece("reply")},
    ${sharedPiece("marks")}, ${sharedPiece("parameters")}, ${sharedPiece("ledger")}) strict`,
  `create table slot (
    ${owned}, thread text not null, position integer not null, turn text not null, kind text not null,
    speaker text not null, piece text not null, at integer not null,
    primary key (${scope}, thread, position), ${ofThread}, ${ofTurn}, ${ownPiece("piece")}) strict`,
  `create index slot_turn on slot (${scope}, turn)`,
  `create table outbox (
    ${owned}, id text not null, thread text not null, turn text not null, channel text not null, piece text not null,
    status text not null, at integer not null, delivered_at integer,
    primary key (org, id), ${ofThread}, ${ofTurn}, ${ownPiece("piece")}) strict`,
  `create index outbox_turn on outbox (${scope}, turn)`,
  `create index outbox_oldest on outbox (${scope}, at)`,
  `create table journal (
    ${owned}, thread text not null, turn text not null, ordinal integer not null, tool text not null, input text not null,
    begun_at integer not null, outcome text, ended_at integer,
    primary key (${scope}, turn, ordinal, tool, input), ${ofThread}, ${ofTurn}, ${ownPiece("outcome")}) strict`,
];

/** `categories` keeps the vowel signs of Hindi, Thai, Hebrew and other scripts inside their words; without it, they would split them. */
const memories = [
  `create table memory (
    row integer primary key, ${owned}, id text not null, content text not null, tags text not null,
    fragments text not null, owner text not null, trust text not null, turn text, at integer not null,
    digest text not null, unique (org, id)) strict`,
  `create index memory_newest on memory (${scope}, at)`,
  `create virtual table memory_words using fts5 (
    owner, content, tags, fragments, content = 'memory', content_rowid = 'row',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'")`,
  // An erased word must leave the index at once, not at the next merge of its segments.
  `insert into memory_words (memory_words, rank) values ('secure-delete', 1)`,
  `create trigger memory_added after insert on memory begin
    insert into memory_words (rowid, owner, content, tags, fragments)
    values (new.row, new.owner, new.content, new.tags, new.fragments);
  end`,
  `create trigger memory_gone after delete on memory begin
    insert into memory_words (memory_words, rowid, owner, content, tags, fragments)
    values ('delete', old.row, old.owner, old.content, old.tags, old.fragments);
  end`,
];

const record = [
  `create table chain (
    org text not null, seq integer not null, prev text, hash text not null, body text not null,
    primary key (org, seq)) strict`,
];

/** The first schema: everything that the contract needed. */
export const first: Migration = {
  number: 1,
  name: "first",
  statements: [...texts, ...threads, ...turns, ...memories, ...record],
};
