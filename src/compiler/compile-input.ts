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
  TranscriptMessage,
  TurnId,
} from "../protocol/index.ts";
import type { Summary } from "./cut.ts";
import type { CacheRates, EarlyCut } from "./cut-plan.ts";

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
  /** Never empty, unless there are results. */
  readonly events: readonly StoredEvent[];
  /** The results of calls that an earlier turn of the run left open: they come before all other messages of this turn. */
  readonly results?: readonly TranscriptMessage[];
  /** The results of the live layers' sources. */
  readonly contents: ReadonlyMap<LayerId, LayerContent>;
  readonly count: CountTokens;
  /** How the live layers are sent. Default: at the end of this request only. */
  readonly tail?: TailPlan;
  /** The memories that are frozen at the start of an epoch which this turn opens. Default: those of the running epoch. */
  readonly memory?: FrozenMemory;
  /** True: a memory that the running epoch shows was forgotten, so the epoch ends here. */
  readonly forgotten?: boolean;
  /** Why the running epoch ends here, and a new one begins with the prefix as the agent declares it. */
  readonly renewal?: Renewal;
  /** The summary of the messages that a cut in this turn removes. If it does not fit, only their mark is sent. */
  readonly summary?: Summary;
  /** The decision on a cut that may be cheaper now than later. */
  readonly early?: EarlyCut;
  /** Prices of the provider's cache. They decide when a transcript is cut, and how an edit reaches a running epoch. Default: Anthropic's. */
  readonly rates?: CacheRates;
  /** True: the model's provider binds reasoning to everything sent before it, and rejects it after anything else. */
  readonly binds?: boolean;
}
