import type {
  Agent,
  AgentName,
  Clock,
  ContactScope,
  CountTokens,
  Digest,
  Model,
  ModelRef,
  OwnChannel,
  OwnSource,
  Request,
  Scheduling,
  Vault,
} from "../protocol/index.ts";
import type { AgentOwner, Store } from "../store/index.ts";
import type { ModelCard } from "../wire/index.ts";
import type { Toolset } from "./tools/index.ts";

/** The declared agents, and how a frozen declaration of an earlier version becomes an agent again. */
export interface AgentBook {
  readonly all: readonly Agent[];
  /** Agents of the record that are no longer declared, in their last version: their data can be read, but no one can write to them. */
  readonly former?: readonly Agent[];
  /** The canonical JSON that is kept for an agent version. */
  readonly spec: (agent: Agent) => string;
  /** @throws StrataError `record_broken` when the text is not what its digest says */
  readonly revive: (spec: string, version: Digest, name: AgentName) => Agent;
}

/** Everything a runtime is made from. Time, chance and identity come from here and from nowhere else. */
export interface Parts {
  readonly agents: AgentBook;
  readonly store: Store;
  readonly tools: Toolset;
  /** Deletes the files that agents keep for a contact. @throws StrataError `file_not_found` where one cannot be deleted */
  readonly removeFiles: (scope: ContactScope) => Promise<void>;
  /** The paths of the files that agents keep for a contact. */
  readonly filesOf: (scope: ContactScope) => Promise<readonly string[]>;
  /** Gives the files that an agent keeps to another name. @throws StrataError `file_not_found` where that cannot be done */
  readonly renameFiles: (owner: AgentOwner, to: AgentName) => Promise<void>;
  /** The channels that features open threads on. Required, so that no runtime takes messages there by mistake. */
  readonly channels: readonly OwnChannel[];
  /** The operator's own sources, by name. */
  readonly sources: ReadonlyMap<string, OwnSource>;
  readonly vault: Vault;
  readonly modelOf: (agent: Agent) => Promise<Model>;
  /** A model's known properties: windows, prices. */
  readonly cardOf: (model: ModelRef) => ModelCard;
  readonly counterOf: (wire: ModelRef) => Promise<CountTokens>;
  /** Counts a long text with pauses, before it is counted at once; if omitted, a long count may block. */
  readonly countAhead?: (text: string) => Promise<void>;
  /** Tells how many tokens the provider reported for the prompt of a request: the next are counted better. */
  readonly observe: (wire: ModelRef, request: Request, reported: number) => void;
  readonly clock: Clock;
  /** How the turns of this program share its time; if omitted, the default. */
  readonly scheduling?: Scheduling;
  /** `n` bytes of chance. */
  readonly random: (n: number) => Uint8Array;
  /** Where it runs, for layers that show it; if omitted, they do not. */
  readonly machine?: { readonly system: string; readonly host: string; readonly folder: string };
  /** This worker's name, which its leases begin with. */
  readonly holder: string;
  /** False when the worker behind a lease is surely gone. */
  readonly alive: (holder: string) => boolean;
}
