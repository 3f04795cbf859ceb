import type { Migration } from "../../migrations.ts";

/** Proof becomes part of a message's identity, and a sender's log contains only what the sender wrote. */
export const senders: Migration = {
  number: 10,
  name: "senders",
  statements: [
    `drop index event_external`,
    // Proven messages have an index of their own, whichever channel they arrive on.
    `create unique index event_external on event (org, agent, contact, channel, external_id)
      where status != 'withdrawn' and proof is not 'proven'`,
    // Only entries of the logs are deleted: what was said stays on the threads.
    `delete from exchange where exists (
      select 1 from event where event.org = exchange.org and event.id = exchange.event
      and (event.kind != 'message' or event.trust != 'contact'))`,
  ],
};
