/** Skills of the open standard: folders with a SKILL.md, listed in the prompt, and read by the agent when it needs them. */
import type { Agent } from "../../protocol/index.ts";
import type { TurnSteps } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import type { ProjectDisk } from "../project-disk.ts";
import { KEYS } from "./config.ts";
import { skillsOn, withFolders } from "./read.ts";
import { skillSteps } from "./steps.ts";
import { skillTools } from "./tools.ts";

export { skillRules } from "./config.ts";
export { isStandard, readSkill, type SkillProblem } from "./standard.ts";

export const FEATURE: Feature = { name: "skills", needs: ["files"], keys: KEYS, tools: skillTools, operations: [] };

interface SkillParts {
  readonly steps: TurnSteps;
  /** The agent with the skills of its folders, for operators. */
  readonly complete: (agent: Agent) => Promise<Agent>;
}

export function openSkills({ disk }: { readonly disk?: ProjectDisk | undefined }): SkillParts {
  if (disk === undefined) return { steps: {}, complete: async (agent) => agent };
  const skillsOf = skillsOn(disk);
  return { steps: skillSteps(disk), complete: async (agent) => withFolders(agent, (await skillsOf(agent)).value) };
}
