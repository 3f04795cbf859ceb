/** Files of the project in an agent's prompt, such as AGENTS.md. They are read outside of turns, which do not wait for them. */

import { z } from "zod";
import { number, printable, table } from "../../print/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, NO_REASON, OF_AGENT } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import type { ProjectDisk } from "../project-disk.ts";
import { FILE_API, FILES, fileApi } from "./api.ts";
import { KEYS } from "./config.ts";
import { fileSteps } from "./steps.ts";

export { FILE_API, type FileApi } from "./api.ts";
export { type FileProblem, fileProblems, lineProblems } from "./lint.ts";
export { faultsIn, type Prepared, prepare, type Split, splitHead } from "./prepare.ts";
export type { SubagentDefinition } from "./read.ts";
export { subagentsOf } from "./steps.ts";

/** What files need from outside. */
export interface FilePorts {
  /** The folders that agents are declared in; unknown if absent. */
  readonly disk?: ProjectDisk | undefined;
}

const COLUMNS = [
  { head: "file" },
  { head: "state" },
  { head: "characters", right: true },
  { head: "notes", least: 16, wraps: true },
] as const;

const files = operation({
  name: "file.list",
  does: "List the files of an agent's prompt: which were found, what was taken out of them, what is held back.",
  may: "operate",
  at: "GET /v1/agents/{agent}/files",
  takes: OF_AGENT,
  gives: FILES,
  command: { examples: ["file list workbench"], opens: "data" },
  run: ({ runtime }, { agent }, { actor }) => runtime.use(FILE_API).files(actor, agent),
  show: ({ root, files: found, subagents }, { style }) => [
    style.dim(`below ${printable(root)}`),
    ...table(
      COLUMNS,
      found.map(({ name, path = name, state, characters, notes }) => [
        printable(path),
        state,
        state === "missing" ? "" : number(characters),
        printable(notes.join("; ")),
      ]),
      style,
    ),
    ...subagents.map(({ name, description }) => `sub-agent ${printable(name)}: ${printable(description)}`),
  ],
});

const approveFile = operation({
  name: "file.approve",
  does: "Let a file that the guard holds back be sent as it is now; another text of it waits again.",
  may: "operate",
  at: "POST /v1/agents/{agent}/files/approve",
  takes: OF_AGENT.extend({
    path: z.string().min(1).max(500).describe("the file, from the project's root on"),
    reason: FIELDS.reason,
  }),
  gives: z.object({ part: z.string().optional(), n: z.number(), digest: z.string() }),
  command: { words: ["path"], examples: ["file approve AGENTS.md"], usual: NO_REASON, opens: "data" },
  run: async ({ runtime }, { agent, path, reason }, { actor }) => {
    const { part, n, digest } = await runtime.use(FILE_API).approveFile(actor, agent, { path, reason });
    return { ...(part !== undefined && { part }), n, digest };
  },
  show: (_, { given: { path } }) => [`${printable(path)} is sent as it is now, from the next turn on.`],
});

const OPERATIONS: readonly Operation[] = [files, approveFile];

export const FEATURE: Feature<FilePorts> = {
  name: "files",
  keys: KEYS,
  operations: OPERATIONS,
  open: ({ disk }) => ({
    ...(disk && { steps: fileSteps(disk) }),
    api: ({ parts }) => FILE_API.open(fileApi(parts, disk)),
  }),
};
