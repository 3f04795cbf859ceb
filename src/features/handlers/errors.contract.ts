import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { project } from "../../../tests/cli/strata.ts";
import { type Case, chat } from "../../../tests/errors/doors.ts";

/** A companion for which this code answers. */
function handled(code: string, handler = "./handler.ts"): string {
  const folder = project((yaml) => yaml.replace("  companion:\n", `  companion:\n    handler: ${handler}\n`));
  writeFileSync(join(folder, "handler.ts"), code);
  return folder;
}

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "handler_failed",
    when: "the code that answers for an agent throws",
    provoke: () => chat(handled("export default () => {\n  throw new Error('no greeting');\n};\n")),
    says: ["companion's handler failed at handler.ts:2:", "no greeting"],
  },
];
