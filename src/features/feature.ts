import type { AgentKeys } from "../agents/index.ts";
import type { Agent, OwnChannel, OwnError, Tool } from "../protocol/index.ts";
import type { AgentOwner, Store, StorePart } from "../store/index.ts";
import type { Core, OpenedApi, Parts, Runtime, TurnSteps, Use } from "../turn/index.ts";
import type { ToolFamily, Toolset } from "../turn/tools/index.ts";
import type { Job } from "../work/index.ts";
import type { Columns } from "./column.ts";
import type { OperationAccess } from "./mcp.ts";
import type { Operation } from "./operation.ts";
import type { ProjectDisk } from "./project-disk.ts";

/** One thing that agents can have, or people can do with them. `app.ts` holds the one list of features. */
export interface Feature<World extends object = object> {
  readonly name: string;
  /** The features whose words it uses. Few: each is entered through its `index.ts`, and never in a circle. */
  readonly needs?: readonly string[];
  /** Its keys of an agent in strata.yaml, from its `config.ts`. They are also in the list of `app/entry/agents.ts`. */
  readonly keys?: AgentKeys;
  /** The tools that it brings: an agent has those that its declaration names. */
  readonly tools?: (world: ToolDeps) => readonly Tool[];
  /** Tools that are made for each name. */
  readonly toolFamilies?: readonly ToolFamily[];
  /** Tools that call operations as an actor. */
  readonly operationTools?: (access: OperationAccess) => ToolFamily;
  /** Its steps in every turn. */
  readonly steps?: TurnSteps;
  /** What it opens for each runtime. `World` names what it needs from outside. */
  readonly open?: (world: World) => OpenedFeature;
  /** Its stored data: tables, and how they are erased and verified. */
  readonly store?: StorePart;
  /** The channels that it opens threads on. */
  readonly channels?: readonly OwnChannel[];
  /** Its kinds of errors, for the pages that list them. */
  readonly errors?: readonly OwnError[];
  /** Its operations for people and programs. */
  readonly operations: readonly Operation[];
  /** What it adds to each thread of `thread list`, and to `turn show`. */
  readonly columns?: Partial<Columns>;
  /** Its background work, if any, which the dispatcher in `work/` runs. */
  readonly jobs?: readonly Job[];
}

/** What a feature adds to one runtime. */
export interface OpenedFeature {
  readonly steps?: TurnSteps;
  /** Its functions under its token. Those of the features that it needs are there already. */
  readonly api?: (deps: ApiDeps) => OpenedApi;
}

/** How a runtime over a shadow differs from this one. */
export interface ShadowParts extends Pick<Parts, "store" | "clock"> {
  /** The tools under their names in the runtime; `made` are those of the features, over its store. */
  readonly toolsOf: (made: Toolset) => Toolset;
}

/** What a feature's functions are built from. */
export interface ApiDeps extends Core {
  /** The same runtime over a store in memory: what is done there leaves no trace here. */
  readonly shadow: (over: ShadowParts) => Promise<Runtime>;
  /** Its members are others after a reload: keep it, and no copy of it. */
  readonly parts: Parts;
  readonly use: Use;
}

/** What tools are made with. A call gets its scope from the turn, and reaches nothing outside it. */
export interface ToolDeps {
  readonly store: Store;
  /** The agent as declared now. */
  readonly agentOf: (owner: AgentOwner) => Agent | undefined;
  /** The folder for contacts' files. */
  readonly files: string;
  /** The folders of the projects; unknown if absent. */
  readonly disk?: ProjectDisk | undefined;
}

/** A feature in the list, loaded when something needs it. */
export interface Listed<World extends object = object> {
  readonly name: string;
  /** The nouns of its commands, each with the line that the help shows. */
  readonly nouns: Readonly<Record<string, string>>;
  readonly load: () => Promise<Feature<World>>;
}
