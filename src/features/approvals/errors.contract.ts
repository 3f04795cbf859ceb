import { project, strata } from "../../../tests/cli/strata.ts";
import { type Case, cli } from "../../../tests/errors/doors.ts";

const ASKING = (yaml: string): string => yaml.replace("read, write]", "read, {name: write, approval: true}]");

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "call_failed",
    when: "an approved call runs and fails",
    provoke: async () => {
      const cwd = project(ASKING);
      const approve = async (wish: string) => {
        const asked = await strata(["chat", "companion"], { cwd, input: `${wish}\n` });
        return ["approval", "approve", /apr_\w{26}/.exec(asked.err)?.[0] ?? ""];
      };
      await strata(await approve("Write plans.txt/monday.txt: buy bread"), { cwd });
      // A folder has that name by now.
      return cli(await approve("Write plans.txt: buy bread"), { cwd });
    },
    message: ["write was approved and has failed", /apr_\w{26} is decided and will not run again/, "a new call"],
  },
];
