import type { Migration } from "../../migrations.ts";

/** Who said what: proof is a part of which message an id names, and a sender's log has only what the sender wrote. */
export const senders: Migration = {
  number: 10,
  name: "senders",
  statements: [
    `drop index event_external`,
    // Those that are proven have an index of their own, on whichever channel they come.
    `create unique index event_external on event (org, agent, contact, channel, external_id)
      where status != 'withdrawn' and proof is not 'proven'`,
    // Only the entries of the logs: what was said stays on the threads.
    `delete from exchange where exists (
      select 1 from event where event.org = exchange.org and event.id = exchange.event
      and (event.kind != 'message' or event.trust != 'contact'))`,
  ],
};
