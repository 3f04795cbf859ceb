import type { Migration } from "../../migrations.ts";

const own = "org text not null, agent text not null";
const linked = "at integer not null, link integer not null, unique (org, link)";
const shared = (column: string) => `foreign key (org, ${column}) references shared_piece (org, digest)`;
/** The reference is checked only if a contact is named: all other texts are shared pieces. */
const contacts = (column: string) =>
  `foreign key (org, agent, contact, ${column}) references piece (org, agent, contact, digest)`;

/**
 * What an agent that lives by itself has: texts with versions, logs of its senders, credits, a state, mail that is delivered with retries,
 * and a record of what operators did.
 */
export const agents: Migration = {
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
    // What was said and answered is in the thread's record; this table only says which part belongs to the log.
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
    // Sums of other rows, so that nobody has to add up the whole life of an agent to show them.
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
