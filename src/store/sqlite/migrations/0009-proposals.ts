import type { Migration } from "../../migrations.ts";

/** Which versions wait for an operator, so that they are found and counted without reading earlier decisions. */
export const proposals: Migration = {
  number: 9,
  name: "proposals",
  statements: [
    `alter table text_move add column waits integer`,
    `update text_move set waits = 1 where kind = 'proposed' and not exists (
      select 1 from text_move word
      where word.org = text_move.org and word.agent = text_move.agent and word.layer = text_move.layer
      and word.part = text_move.part and word.n = text_move.n and word.kind in ('approved', 'rejected'))`,
    `create index text_waiting on text_move (org, agent, contact, layer, part, n) where waits = 1`,
    `create index text_of_turn on text_move (org, turn) where turn is not null`,
  ],
};
