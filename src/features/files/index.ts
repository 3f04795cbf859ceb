/** Files of the project in an agent's prompt: AGENTS.md and its neighbours, read behind its turns and never waited for. */
import type { Parts, TurnSteps } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import type { ProjectDisk } from "../project-disk.ts";
import { KEYS } from "./config.ts";
import { type FileDoors, fileDoors } from "./doors.ts";
import { OPERATIONS } from "./operations.ts";
import { fileSteps } from "./steps.ts";

export type { FileDoors } from "./doors.ts";
export { type FileProblem, fileProblems, lineProblems } from "./lint.ts";
export { faultsIn, type Prepared, prepare, type Split, splitHead } from "./prepare.ts";
export type { SubagentDefinition } from "./read.ts";
export { subagentsOf } from "./steps.ts";

export const FEATURE: Feature = { name: "files", keys: KEYS, operations: OPERATIONS };

/** What files need of the world outside. */
export interface FilePorts {
  /** The folders that agents are declared in; left out, none is known. */
  readonly disk?: ProjectDisk | undefined;
}

interface FileParts {
  readonly steps: TurnSteps;
  readonly doors: (parts: Parts) => FileDoors;
}

export const openFiles = ({ disk }: FilePorts): FileParts => ({
  steps: disk === undefined ? {} : fileSteps(disk),
  doors: (parts) => fileDoors(parts, disk),
});
