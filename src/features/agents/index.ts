/** The declared agents: a list, the details of each, what needs an operator, and who viewed it. */
import type { Feature } from "../feature.ts";
import { OPERATIONS } from "./operations.ts";

export { type AgentDoors, agentDoors } from "./doors.ts";
export { attentionLines, unansweredLines } from "./lines.ts";
export { answeringOf, problemsOf } from "./operations.ts";

/** It shows what other features keep of an agent, so their words and sentences stand here, too. */
export const FEATURE: Feature = {
  name: "agents",
  needs: ["conversations", "deliveries", "life", "texts"],
  operations: OPERATIONS,
};
