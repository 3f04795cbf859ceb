import type {
  Agent,
  CountTokens,
  Epoch,
  FrozenMemory,
  LayerContent,
  LayerId,
  Mode,
  Renewal,
  StoredEvent,
  TailPlan,
  ToolSchema,
  TurnId,
} from "../protocol/index.ts";
import type { Summary } from "./cut.ts";
import type { EarlyCut, Keep } from "./cut-plan.ts";

/** Everything a turn's first request is made from. */
export interface CompileInput {
  readonly agent: Agent;
  readonly turn: TurnId;
  readonly mode: Mode;
  /** Tokens that may be sent: the budget less the reserve for the reply. */
  readonly limit: number;
  readonly tools: readonly ToolSchema[];
  /** The thread's running epoch; none for a thread's first turn. */
  readonly epoch: Epoch | undefined;
  /** Never empty. */
  readonly events: readonly StoredEvent[];
  /** What the live layers' sources gave. */
  readonly contents: ReadonlyMap<LayerId, LayerContent>;
  readonly count: CountTokens;
  /** How the live layers are carried; left out, they stand at the end and are gone in the next request. */
  readonly tail?: TailPlan;
  /** What stands frozen at the start of an epoch that the turn opens; left out, what stands there now stays. */
  readonly memory?: FrozenMemory;
  /** True: something that the running epoch shows of memories was forgotten, so it ends here. */
  readonly forgotten?: boolean;
  /** Why the running epoch ends here, and one begins with the prefix as the agent declares it. */
  readonly renewal?: Renewal;
  /** What stands for the messages that a cut of this turn takes away; where it does not fit, their mark stands alone. */
  readonly summary?: Summary;
  /** What must stay of the transcript when it is cut; left out, it is cut only where it must be. */
  readonly keep?: Keep;
  /** What was chosen where a cut is cheaper now than later. */
  readonly early?: EarlyCut;
  /** What a token costs at the provider's cache, and whether it has surely forgotten the thread: for edits of a running epoch. */
  readonly rates?: EditRates;
  /** True: the model's provider binds reasoning to all that was sent before it, and refuses it behind anything else. */
  readonly binds?: boolean;
}

/** What a token costs that a provider reads from its cache, and that it writes there. `cold`: it has surely forgotten the thread. */
export interface EditRates {
  readonly read: number;
  readonly write: number;
  readonly cold?: boolean;
}
