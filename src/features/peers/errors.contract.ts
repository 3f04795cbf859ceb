import { project } from "../../../tests/cli/strata.ts";
import { type Case, chat } from "../../../tests/errors/doors.ts";

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "not_an_entry",
    when: "a message goes to an agent that only its peers may ask",
    provoke: () => chat(project((text) => text.replace("  companion:\n", "  companion:\n    peers: []\n"))),
    says: ["companion can be asked only by its peers", "`entry` in strata.yaml"],
  },
];
