import { project, strata } from "../../../tests/cli/strata.ts";
import { type Case, cli } from "../../../tests/errors/doors.ts";

const ID = "evt_01jd8k3v5x9m2q7r4t6w8y0zab";

/** How people meet the error of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "event_not_found",
    when: "an event is to be retracted, and there is none of that id",
    provoke: async () => {
      const cwd = project();
      await strata(["memory", "save", "Tea."], { cwd });
      return cli(["event", "retract", ID, "--reason", "a mistake", "--yes"], { cwd });
    },
    message: [ID, "strata turn show"],
  },
];
