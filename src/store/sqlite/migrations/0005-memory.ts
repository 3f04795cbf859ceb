import type { Migration } from "../../migrations.ts";

const all = "org, agent, contact";

/** Carries over what was remembered so far, each in its scope. The index over it is built when the file is opened: `reindex.ts`. */
const carried = [
  `insert into memory_scope (${all}, next, units, terms, saved, characters, revision)
    select ${all}, 0, 0, 0, 0, 0, 0 from memory_before group by ${all}`,
  `insert into memory (scope, id, kind, content, tags, turn, trust, at, support, digest)
    select number, id, 'fact', content, iif(tags = '[]', null, tags), turn, trust, at, 1, digest
    from memory_before join memory_scope using (${all}) order by row`,
];

/**
 * Memories of every kind, and the index by which they are found. A scope has a number, and its units are the rows from `number << 26` on: a
 * search in one scope reads one range of the index.
 */
export const memory: Migration = {
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
      characters integer not null, revision integer not null, unique (${all})) strict`,
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
    // Terms contain no ASCII characters but letters and digits, so this tokenizer keeps each as it is, in any script.
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
