import { z } from "zod";
import { agentKey, type StoredKeys } from "../../agents/index.ts";
import type { Agent } from "../../protocol/index.ts";
import { CACHED_SECONDS, pathBelow } from "../fields.ts";

const FOLDER = pathBelow("a folder below the project's root, with `/`");

const SKILL_FOLDERS = z
  .strictObject({
    read: z
      .array(FOLDER)
      .min(1)
      .max(20)
      .default(["skills"])
      .describe(
        "Folders that hold skills, from the project's root on (`files.root`), each skill a folder with a `SKILL.md`. Of two skills with one name, the first folder's counts.",
      ),
    shown: z
      .int()
      .min(1)
      .max(500)
      .default(40)
      .describe("How many skills the prompt shows; it says how many more there are."),
    characters: z
      .int()
      .min(100)
      .max(200_000)
      .default(20_000)
      .describe("Characters of one skill's instructions, and of one of its files."),
    ttl: CACHED_SECONDS,
    check: z
      .enum(["warn", "review", "block"])
      .default("warn")
      .describe(
        "What becomes of a skill that the guard of layer texts finds fault with: `warn` says so; `review` leaves it out until an operator has approved it as it is, with `strata skill approve`; `block` leaves it out.",
      ),
  })
  .optional()
  .describe(
    "Folders with skills of the open standard (agentskills.io), for the layer with `source: skills`. Agents with the tool `load_skill` see their names and descriptions and load what they need, others see all of it. Default: none.",
  );

/** Where skills are found that are folders. */
export const KEYS = {
  skillFolders: agentKey(SKILL_FOLDERS, {
    check: (value, { agent, refuse }) => {
      if (value !== undefined && !agent.layers.some(({ source }) => source === "skills"))
        refuse([], "needs a layer with `source: skills`; add one");
    },
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

/** The declaration of skills' folders, with the defaults. */
export type SkillRules = NonNullable<z.output<typeof SKILL_FOLDERS>>;

export const skillRules = ({ skillFolders }: Pick<Agent, "skillFolders">): SkillRules =>
  SKILL_FOLDERS.unwrap().parse(skillFolders ?? {});
