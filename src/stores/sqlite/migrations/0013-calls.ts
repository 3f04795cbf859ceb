import type { Migration } from "../migration.ts";

const SAME = "org, agent, contact, turn, tool, input";

/** A call was known by its place among all calls of its turn; now it is by which of those it is that ask for the same. */
export const calls: Migration = {
  number: 13,
  name: "calls",
  statements: [
    // In two steps, so that no row takes a number that another still has.
    `update journal set ordinal = -same.nth from (
        select rowid as row, row_number() over (partition by ${SAME} order by ordinal) as nth from journal) as same
      where same.row = journal.rowid`,
    `update journal set ordinal = -ordinal`,
  ],
};
