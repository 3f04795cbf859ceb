import type { Migration } from "../../migrations.ts";

/** An index of turns without a reply: they are few, and are counted at each start. */
export const wordless: Migration = {
  number: 16,
  name: "wordless",
  statements: [`create index turn_wordless on turn (org, agent, ended_at) where status = 'done' and words is null`],
};
