import type {
  ContactScope,
  CountTokens,
  Epoch,
  Memory,
  MemoryId,
  OwnSource,
  StoredEvent,
  TurnId,
  Vault,
} from "../protocol/index.ts";
import type { Store } from "../stores/index.ts";

/** Calls `fire` once after so many milliseconds, unless the function it gives is called before. */
export type Timer = (milliseconds: number, fire: () => void) => () => void;

/** What sources may know of the turn. */
export interface GatherContext {
  readonly scope: ContactScope;
  /** What the turn is about, and nothing else: recall never reads what the platform itself wrote (law 12). */
  readonly events: readonly StoredEvent[];
  /** What the model sees of the thread anyway; nothing before its first turn. */
  readonly epoch?: Epoch | undefined;
  readonly turn?: TurnId;
  /** What stands framed at the start of the request; left out, what stands there in the running epoch. */
  readonly frozen?: readonly MemoryId[];
  /** What was saved, the newest first, where any of it stands there. */
  readonly saved?: readonly Memory[];
  readonly count: CountTokens;
  /** The thread's time, milliseconds since 1970. */
  readonly at: number;
  readonly store: Pick<Store, "searchMemories" | "memoryRevision">;
  /** The operator's own sources, by name. */
  readonly sources?: ReadonlyMap<string, OwnSource>;
  readonly vault?: Vault;
  readonly signal?: AbortSignal;
  /** Real time by default. */
  readonly timer?: Timer;
}
