import type { Migration } from "../../migrations.ts";

/** An index of the turns of several senders that have not ended: looking for the next turn of an inbox read all that ever existed. */
export const unended: Migration = {
  number: 12,
  name: "unended",
  statements: [
    `create index thread_unended on thread (org, agent, id)
      where turns = 0 and erased_link is null and contact >= '~inbox:' and contact < '~inbox;'`,
  ],
};
