import type { Migration } from "../../migrations.ts";

/**
 * Vectors of memories. A model has a number for each scope, and its vectors are the rows from `number << 26` on, so a search reads one
 * range. Everything up to the place `done` of the scope has been examined; what comes later waits.
 */
export const vectors: Migration = {
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
