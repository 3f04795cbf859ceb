import type { Actor, AgentName } from "../../protocol/index.ts";
import type { BadSkill, WaitingSkill } from "./read.ts";

/** What operators see of skills in folders. @throws StrataError `not_allowed`, `agent_not_found` */
export interface SkillDoors {
  /** What of its skills' folders could not be taken, and why. */
  badSkills(actor: Actor, agent: AgentName): Promise<readonly (BadSkill | WaitingSkill)[]>;
}

declare module "../../turn/runtime.ts" {
  interface Runtime extends SkillDoors {}
}
