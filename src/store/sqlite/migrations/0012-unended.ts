import type { Migration } from "../../migrations.ts";

/** Who looks for the next turn of an inbox asks which turns of several have not ended, and read all that there ever were. */
export const unended: Migration = {
  number: 12,
  name: "unended",
  statements: [
    `create index thread_unended on thread (org, agent, id)
      where turns = 0 and erased_link is null and contact >= '~inbox:' and contact < '~inbox;'`,
  ],
};
