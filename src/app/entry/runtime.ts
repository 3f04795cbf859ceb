import { agentDoors } from "../../features/agents/index.ts";
import { approvalDoors } from "../../features/approvals/index.ts";
import { type DeliveryPorts, deliveryDoors } from "../../features/deliveries/index.ts";
import { type FilePorts, openFiles } from "../../features/files/index.ts";
import { inboxDoors } from "../../features/inbox/index.ts";
import { type LifePorts, openLife } from "../../features/life/index.ts";
import { logDoors } from "../../features/logs/index.ts";
import { type MemoryPorts, openMemories } from "../../features/memories/index.ts";
import { messageDoors } from "../../features/messages/index.ts";
import { scheduleDoors } from "../../features/schedules/index.ts";
import { settingDoors } from "../../features/settings/index.ts";
import { openSkills } from "../../features/skills/index.ts";
import { subagentDoors } from "../../features/subagents/index.ts";
import { textDoors } from "../../features/texts/index.ts";
import { createRuntime, type Parts, type Runtime, type TurnSteps } from "../../turn/index.ts";

/** What a runtime is made from: what turns need, and what features need of the world outside. */
export interface RuntimeParts extends Parts, LifePorts, FilePorts, MemoryPorts, DeliveryPorts {
  /** What features do in each turn that need nothing else. */
  readonly steps?: readonly TurnSteps[];
}

/** The runtime with all that features add: their steps in every turn, and what doors call of them. */
export function openRuntime(parts: RuntimeParts): Runtime {
  const life = openLife(parts);
  const files = openFiles(parts);
  const skills = openSkills(parts);
  const memories = openMemories(parts);
  const steps = [life.steps, files.steps, skills.steps, memories.steps, ...(parts.steps ?? [])];
  const { runtime, turnParts, run } = createRuntime(parts, steps);
  const lives = life.doors(turnParts, run);
  return {
    ...runtime,
    ...lives,
    ...approvalDoors(parts),
    ...logDoors(parts),
    ...deliveryDoors(parts),
    ...files.doors(parts),
    ...settingDoors(parts),
    ...inboxDoors(turnParts, run),
    ...memories.doors(parts, turnParts),
    ...messageDoors(parts, runtime, run),
    ...skills.doors(parts),
    ...scheduleDoors(turnParts, run),
    ...subagentDoors(parts),
    ...textDoors(parts, skills.complete),
    ...agentDoors(parts, lives, skills.complete),
  };
}
