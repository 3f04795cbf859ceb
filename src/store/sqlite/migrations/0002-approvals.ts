import type { Migration } from "../../migrations.ts";

const scope = "org, agent, contact";
const ofScope = (column: string, table: string, key: string) =>
  `foreign key (${scope}, ${column}) references ${table} (${scope}, ${key})`;

/** Calls that wait for a person; an index for what was spent since a time; a request to stop a turn. */
export const approvals: Migration = {
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
    // The fence of the claim that shall stop; it does not affect later claims.
    `alter table thread add column stop_fence integer`,
  ],
};
