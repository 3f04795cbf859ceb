import { project, strata } from "../../../tests/cli/strata.ts";
import { type Case, cli } from "../../../tests/errors/doors.ts";

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "lesson_not_found",
    when: "the agent has no lesson of that id",
    provoke: async () => {
      const cwd = project();
      await strata(["memory", "save", "Tea."], { cwd });
      return cli(["lesson", "show", "lsn_0123456789ab"], { cwd });
    },
    message: ["lsn_0123456789ab", "strata lesson list"],
  },
];
