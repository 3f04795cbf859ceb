/** Skills of the open standard: folders with a SKILL.md, listed in the prompt, and read by the agent when it needs them. */

import { printable } from "../../print/index.ts";
import type { Actor, Agent, AgentName } from "../../protocol/index.ts";
import { deskOf, type Parts, type TurnSteps } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import type { ProjectDisk } from "../project-disk.ts";
import { KEYS } from "./config.ts";
import {
  type BadSkill,
  NO_SKILLS,
  type SkillsOf,
  skillsOn,
  type WaitingSkill,
  waitingIn,
  withFolders,
} from "./read.ts";
import { skillSteps } from "./steps.ts";
import { skillTools } from "./tools.ts";

/** What operators see of skills in folders. @throws StrataError `not_allowed`, `agent_not_found` */
export interface SkillDoors {
  /** What of its skills' folders could not be taken, and why. */
  badSkills(actor: Actor, agent: AgentName): Promise<readonly (BadSkill | WaitingSkill)[]>;
}

declare module "../../turn/runtime.ts" {
  interface Runtime extends SkillDoors {}
}

export { skillRules } from "./config.ts";
export { isStandard, readSkill, type SkillProblem } from "./standard.ts";

export const FEATURE: Feature = { name: "skills", needs: ["files"], keys: KEYS, tools: skillTools, operations: [] };

interface SkillParts {
  readonly steps: TurnSteps;
  /** The agent with the skills of its folders, for operators. */
  readonly complete: (agent: Agent) => Promise<Agent>;
  readonly doors: (parts: Parts) => SkillDoors;
}

/** A skill that was left out, in a sentence. */
export const badSkillLine = ({ path, says }: BadSkill): string => printable(`${path} is left out: ${says}`);

export function openSkills({ disk }: { readonly disk?: ProjectDisk | undefined }): SkillParts {
  const skillsOf: SkillsOf = disk === undefined ? async () => NO_SKILLS : skillsOn(disk);
  return {
    steps: disk === undefined ? {} : skillSteps(disk),
    complete: async (agent) => withFolders(agent, (await skillsOf(agent)).value),
    doors: (parts) => ({
      badSkills: async (actor, name) => {
        const { agent, owner } = deskOf(parts, actor, name);
        const { value: found } = await skillsOf(agent);
        if (!found.skills.some(({ waits }) => waits !== undefined)) return found.bad;
        return [...found.bad, ...waitingIn(found, { versions: await parts.store.activeTexts(owner) })];
      },
    }),
  };
}
