import type { AgentKeys } from "../agents/index.ts";
import type { Agent, OwnChannel, OwnError, Tool } from "../protocol/index.ts";
import type { AgentOwner, Store, StorePart } from "../store/index.ts";
import type { TurnSteps } from "../turn/index.ts";
import type { Job } from "../work/index.ts";
import type { Operation } from "./operation.ts";
import type { ProjectDisk } from "./project-disk.ts";

/** One thing that agents can have, or people can do with them. `app.ts` holds the one list of features. */
export interface Feature {
  readonly name: string;
  /** The features whose words it uses. Few: each is entered through its `index.ts`, and never in a circle. */
  readonly needs?: readonly string[];
  /** Its keys of an agent in strata.yaml, from its `config.ts`. They stand in the list of `app/entry/agents.ts`, too. */
  readonly keys?: AgentKeys;
  /** The tools that it brings: an agent has those that its declaration names. */
  readonly tools?: (world: ToolDeps) => readonly Tool[];
  /** What it does in every turn. */
  readonly steps?: TurnSteps;
  /** What it keeps: its tables, how they are erased and verified. */
  readonly store?: StorePart;
  /** The channels that it opens threads on. */
  readonly channels?: readonly OwnChannel[];
  /** Its kinds of errors, for the pages that list them. */
  readonly errors?: readonly OwnError[];
  /** What people and programs do with it. */
  readonly operations: readonly Operation[];
  /** What it does without being asked, where it does anything. The dispatcher in `work/` does it. */
  readonly jobs?: readonly Job[];
}

/** What tools are made with. A call of one gets its scope from the turn, and reaches nothing outside of it. */
export interface ToolDeps {
  readonly store: Store;
  /** The agent as it is declared now. */
  readonly agentOf: (owner: AgentOwner) => Agent | undefined;
  /** The folder for what contacts' files are kept in. */
  readonly files: string;
  /** The folders of the projects; left out, none is known. */
  readonly disk?: ProjectDisk | undefined;
}

/** A feature in the list, loaded when something needs it. */
export interface Listed {
  readonly name: string;
  /** The nouns of its commands, each with the line that the help shows. */
  readonly nouns: Readonly<Record<string, string>>;
  readonly load: () => Promise<Feature>;
}
