import type { Migration } from "../../migrations.ts";

/** Which senders' threads a turn of several senders has staged, and as which of their turns. */
export const batches: Migration = {
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
