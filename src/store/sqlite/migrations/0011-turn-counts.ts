import type { Migration } from "../../migrations.ts";

/** Each sender's part of a turn of several senders was counted as a turn of the agent, but is none. */
export const turnCounts: Migration = {
  number: 11,
  name: "turn-counts",
  statements: [
    `update tally set turns = turns - (
      select count(*) from turn
      where turn.org = tally.org and turn.agent = tally.agent and turn.status != 'running'
      and exists (select 1 from staged where staged.org = turn.org and staged.turn = turn.id)
      and not exists (
        select 1 from request
        where request.org = turn.org and request.agent = turn.agent and request.contact = turn.contact and request.turn = turn.id))`,
  ],
};
