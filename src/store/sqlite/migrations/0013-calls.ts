import type { Migration } from "../../migrations.ts";

/**
 * The number of completed turns before this one on its thread. What failed since the last of them was tried again. A running turn has no
 * row yet.
 */
const DONE_BEFORE = `(select count(*) from turn as done where done.org = journal.org and done.agent = journal.agent
  and done.contact = journal.contact and done.thread = journal.thread and done.status = 'done'
  and (turn.seq is null or done.seq < turn.seq))`;

const SAME = "journal.org, journal.agent, journal.contact, journal.thread, journal.tool, journal.input";

/**
 * A call was identified by its place among all calls of its turn and of that turn's failed attempts; now by its place among those that ask
 * for the same.
 */
export const calls: Migration = {
  number: 13,
  name: "calls",
  statements: [
    // In two steps, so that no row gets a number that another one still has.
    `update journal set ordinal = -same.nth from (
        select journal.rowid as row, dense_rank() over (partition by ${SAME}, ${DONE_BEFORE} order by journal.ordinal) as nth
          from journal left join turn on turn.org = journal.org and turn.agent = journal.agent and turn.contact = journal.contact
            and turn.id = journal.turn) as same
      where same.row = journal.rowid`,
    `update journal set ordinal = -ordinal`,
  ],
};
