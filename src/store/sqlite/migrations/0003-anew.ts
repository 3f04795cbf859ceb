import type { Migration } from "../../migrations.ts";

/** An event that was taken back may be sent again; a call that waits keeps which tool it was asked of. */
export const anew: Migration = {
  number: 3,
  name: "anew",
  statements: [
    `drop index event_external`,
    `create unique index event_external on event (org, agent, contact, channel, external_id) where status != 'withdrawn'`,
    // The digest of the tool's schema. Calls that were asked for before have none.
    `alter table approval add column schema text`,
  ],
};
