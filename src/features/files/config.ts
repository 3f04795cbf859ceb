import { z } from "zod";
import { agentKey, type KindsOf, type StoredKeys, sourceForm } from "../../agents/index.ts";
import type { Agent } from "../../protocol/index.ts";
import { CACHED_SECONDS, pathBelow } from "../fields.ts";

/** The usual names, from the open standard and its neighbours. */
export const USUAL = ["SOUL.md", "AGENTS.md", "TOOLS.md", "COMMANDS.md"];

const NAME = pathBelow("a file's name, or its path below the root with `/`");

const FILES = z
  .strictObject({
    root: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe(
        "The project's folder, relative to strata.yaml, as `..`: nothing outside of it is read. Default: the nearest folder with a `.git`, from that of strata.yaml upward; where there is none, that of strata.yaml.",
      ),
    read: z
      .array(NAME)
      .min(1)
      .max(50)
      .default(USUAL)
      .describe(
        "The files, in the order of the prompt. A bare name is looked for in strata.yaml's folder and upward to the root, the nearest wins; a path with a `/` begins at the root.",
      ),
    characters: z.int().min(100).max(200_000).default(20_000).describe("Characters that are read of one file."),
    total: z.int().min(100).max(1_000_000).default(60_000).describe("Characters that are read of all together."),
    ttl: CACHED_SECONDS,
    check: z
      .enum(["warn", "review", "block"])
      .default("warn")
      .describe(
        "What becomes of a file that the guard of layer texts finds fault with: `warn` says so and sends it; `review` sends it once an operator has approved it as it is, with `strata file approve`; `block` never sends it.",
      ),
  })
  .optional()
  .describe("Files of the project for the layer with `source: files`. Default: the usual four, where they are there.");

/** The files in an agent's prompt. */
export const KEYS = {
  files: agentKey(FILES, {
    check: (files, { agent, refuse }) => {
      const reads = agent.layers.some(({ source }) => source === "files" || source === "skills");
      if (files !== undefined && !reads) refuse([], "needs a layer with `source: files` or `source: skills`; add one");
    },
  }),
};

/** They are in the prefix, one after the other. */
export const SOURCES = {
  files: sourceForm({
    fills: "files of the project: AGENTS.md and its neighbours",
    isStored: true,
    kept: {},
    make: () => ({}),
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}

/** An agent's declared files, with the defaults. */
export type FileRules = NonNullable<z.output<typeof FILES>>;

export const fileRules = ({ files }: Pick<Agent, "files">): FileRules => FILES.unwrap().parse(files ?? {});
