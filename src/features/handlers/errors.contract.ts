import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { project, strata } from "../../../tests/cli/strata.ts";
import { apart, type Case, chat } from "../../../tests/errors/doors.ts";

/** A folder with a companion for which this code answers. */
async function handledBy(code: string, handler = "./handler.ts"): Promise<string> {
  const folder = project((yaml) => yaml.replace("  companion:\n", `  companion:\n    handler: ${handler}\n`));
  writeFileSync(join(folder, "handler.ts"), code);
  await strata(["lock"], { cwd: folder });
  return folder;
}

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "handler_failed",
    when: "the code that answers for an agent throws",
    provoke: async () => chat(await handledBy("export default () => {\n  throw new Error('no greeting');\n};\n")),
    message: ["companion's handler failed at handler.ts:2:", "no greeting"],
  },
  {
    code: "cage_missing",
    when: "the machine lacks what the cage of an agent's code needs",
    provoke: async () => {
      const handler = "{ file: ./handler.ts, level: process }";
      const folder = await handledBy("export default () => ({ payload: 1 });\n", handler);
      return await chat(folder, { env: { PATH: "/nowhere" } }, apart);
    },
    message: ["the cage's level `process` cannot run here", "or set the level to `thread`"],
  },
];
