import { project } from "../../../tests/cli/strata.ts";
import { type Case, chat } from "../../../tests/errors/doors.ts";

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "limit_reached",
    when: "a second message comes within a minute, and the agent may call its model once",
    provoke: async () => {
      const folder = project((text) => text.replace("agents:\n", "limits: { agent: { calls: 1 } }\nagents:\n"));
      await chat(folder);
      return chat(folder);
    },
    message: ["the agent companion has used up its 1 model call a minute", "try again at"],
  },
];
