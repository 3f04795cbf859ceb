import type { Migration } from "../../migrations.ts";

/** A withdrawn event may be sent again; a waiting call records which version of the tool was called. */
export const anew: Migration = {
  number: 3,
  name: "anew",
  statements: [
    `drop index event_external`,
    `create unique index event_external on event (org, agent, contact, channel, external_id) where status != 'withdrawn'`,
    // The digest of the tool's schema. Older calls have none.
    `alter table approval add column schema text`,
  ],
};
