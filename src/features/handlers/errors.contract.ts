import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { project, strata } from "../../../tests/cli/strata.ts";
import { type Case, chat } from "../../../tests/errors/doors.ts";

/** A chat with a companion for which this code answers. */
async function handled(code: string, handler = "./handler.ts") {
  const folder = project((yaml) => yaml.replace("  companion:\n", `  companion:\n    handler: ${handler}\n`));
  writeFileSync(join(folder, "handler.ts"), code);
  await strata(["lock"], { cwd: folder });
  return await chat(folder);
}

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "handler_failed",
    when: "the code that answers for an agent throws",
    provoke: () => handled("export default () => {\n  throw new Error('no greeting');\n};\n"),
    message: ["companion's handler failed at handler.ts:2:", "no greeting"],
  },
  {
    code: "cage_missing",
    when: "the machine lacks what the cage of an agent's code needs",
    provoke: async () => {
      const { PATH } = process.env;
      process.env.PATH = "/nowhere";
      try {
        return await handled("export default () => ({ payload: 1 });\n", "{ file: ./handler.ts, level: process }");
      } finally {
        process.env.PATH = PATH;
      }
    },
    message: ["the cage's level `process` cannot run here", "or set the level to `thread`"],
  },
];
