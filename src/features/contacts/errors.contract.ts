import { project, strata } from "../../../tests/cli/strata.ts";
import { type Case, cli } from "../../../tests/errors/doors.ts";

/** How people meet the error of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "contact_not_found",
    when: "somebody's data is to be written, and nothing is kept of them",
    provoke: async () => {
      const cwd = project();
      await strata(["memory", "save", "Tea."], { cwd });
      return cli(["contact", "export", "nobody"], { cwd });
    },
    message: ["nobody", "`strata thread list`"],
  },
];
