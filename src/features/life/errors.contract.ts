import { project } from "../../../tests/cli/strata.ts";
import { type Case, chat } from "../../../tests/errors/doors.ts";

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "out_of_credits",
    when: "an agent that lives on credits was never paid for",
    provoke: () => chat(project((text) => text.replace("  companion:\n", "  companion:\n    life: { credits: {} }\n"))),
    message: ["companion has no credits yet", "sleeps", "strata credits add"],
  },
];
