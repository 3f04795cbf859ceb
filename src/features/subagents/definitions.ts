import {
  type Agent,
  type Mode,
  REPLY_TOOL,
  type ToolName,
  type Trusted,
  toolName,
  trusted,
} from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { Toolset } from "../../turn/tools/index.ts";
import { type FileProblem, subagentsOf } from "../files/index.ts";
import type { ProjectDisk } from "../project-disk.ts";
import { CALL_SUBAGENT, ENQUEUE_PARENT } from "./config.ts";

/** A sub-agent as it is declared, or as an AGENTS.md defines it. */
export interface Definition {
  readonly name: string;
  readonly description: string;
  readonly text: Trusted;
  readonly tools?: readonly string[];
  /** It is the agent itself, on a fork of its conversation. */
  readonly share?: "fork";
  readonly mode: Mode;
  /** `strata.yaml`, or the path of the AGENTS.md from the project's root on. */
  readonly from: string;
}

/** One of an AGENTS.md that cannot be called, and why not. */
export interface LeftOut {
  readonly name: string;
  readonly from: string;
  readonly because: string;
}

/** Whom an agent may call. */
export interface Definitions {
  readonly callable: readonly Definition[];
  readonly leftOut: readonly LeftOut[];
}

/** Where definitions are found. */
export interface Places {
  readonly store: Pick<Store, "activeTexts" | "textPointers">;
  /** Without it, the projects' folders are unknown. */
  readonly disk?: ProjectDisk | undefined;
}

/** The origin of those from strata.yaml. */
export const DECLARED = "strata.yaml";

/** The definitions from the declaration and from AGENTS.md: of the same name, the project's declaration counts, otherwise the first one. */
export async function definitionsOf(agent: Agent, { store, disk }: Places): Promise<Definitions> {
  const { subagents: rules } = agent;
  if (rules === undefined) return { callable: [], leftOut: [] };
  const callable: Definition[] = rules.defined.map((one) => ({ ...one, from: DECLARED }));
  if (!rules.fromFiles || disk === undefined) return { callable, leftOut: [] };
  const owner = { org: agent.org, agent: agent.name };
  const [versions, pointers] = await Promise.all([store.activeTexts(owner), store.textPointers(owner)]);
  return withFiles(callable, await subagentsOf(disk, agent, { versions, pointers }));
}

function withFiles(declared: readonly Definition[], found: Awaited<ReturnType<typeof subagentsOf>>): Definitions {
  const callable = [...declared];
  const leftOut: LeftOut[] = [];
  for (const { name, description, instructions, path: from } of found) {
    const before = callable.find((one) => isNamed(one, name));
    if (before !== undefined)
      leftOut.push({ name, from, because: `${before.from} defines a sub-agent ${before.name}, and that one counts` });
    else if (instructions === "") leftOut.push({ name, from, because: "it has no instructions" });
    // Words of a file of the operator's own project, cleaned as those of its layer.
    else callable.push({ name, description, text: trusted(instructions), mode: "minimal", from });
  }
  return { callable, leftOut };
}

/** Capitals make no difference. */
export const isNamed = ({ name }: Definition, wanted: string): boolean =>
  name.toLowerCase() === wanted.trim().toLowerCase();

/** A sub-agent's tools: those of its caller's that are named for it; if none are named, those that change nothing. */
export function toolsOf(agent: Agent, definition: Definition, tools: Toolset): readonly ToolName[] {
  const { subagents: rules } = agent;
  if (definition.share === "fork") return agent.tools;
  const named = definition.tools ?? rules?.tools;
  const may = (tool: ToolName): boolean =>
    named === undefined ? tools.get(tool)?.effect === "none" : named.includes(tool);
  const platforms: readonly string[] = [CALL_SUBAGENT, ENQUEUE_PARENT, REPLY_TOOL];
  const own = agent.tools.filter((tool) => !platforms.includes(tool) && may(tool));
  const added = [...((rules?.depth ?? 1) > 1 ? [CALL_SUBAGENT] : []), ...(rules?.updates ? [ENQUEUE_PARENT] : [])];
  return added.length === 0 ? own : [...own, ...added.map(toolName)].sort();
}

/** The sub-agents of an AGENTS.md that cannot be called, for lint. Files are read as declared, without looking up approvals. */
export async function subagentProblems(disk: ProjectDisk, agent: Agent): Promise<readonly FileProblem[]> {
  const store = { activeTexts: async () => [], textPointers: async () => [] };
  const { leftOut } = await definitionsOf(agent, { store, disk });
  return leftOut.map(({ name, from, because }) => ({
    path: from,
    message: `the sub-agent ${name} is left out: ${because}`,
  }));
}
