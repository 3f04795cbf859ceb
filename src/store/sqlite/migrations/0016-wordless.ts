import type { Migration } from "../../migrations.ts";

/** Turns that said nothing: few, and asked for at each start. */
export const wordless: Migration = {
  number: 16,
  name: "wordless",
  statements: [`create index turn_wordless on turn (org, agent, ended_at) where status = 'done' and words is null`],
};
