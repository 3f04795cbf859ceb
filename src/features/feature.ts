import type { AgentKeys } from "../agents/index.ts";
import type { Job } from "../work/index.ts";
import type { Operation } from "./operation.ts";

/** One thing that agents can have, or people can do with them. `app.ts` holds the one list of features. */
export interface Feature {
  readonly name: string;
  /** The features whose words it uses. Few: each is entered through its `index.ts`, and never in a circle. */
  readonly needs?: readonly string[];
  /** Its keys of an agent in strata.yaml, from its `config.ts`. They stand in the list of `app/doors/agents.ts`, too. */
  readonly keys?: AgentKeys;
  /** What people and programs do with it. */
  readonly operations: readonly Operation[];
  /** What it does without being asked, where it does anything. The dispatcher in `work/` does it. */
  readonly jobs?: readonly Job[];
}

/** A feature in the list, loaded when something needs it. */
export interface Listed {
  readonly name: string;
  /** The nouns of its commands, each with the line that the help shows. */
  readonly nouns: Readonly<Record<string, string>>;
  readonly load: () => Promise<Feature>;
}
